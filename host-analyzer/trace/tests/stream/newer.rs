//! A stream of a newer agent, with unknown kinds of records between known ones.

use profinfer_trace::model::{DamageKind, MAX_SKIPPED, Skipped};

use crate::read;
use crate::received::Received;
use profinfer_trace::test_support::session::{SMALL, Sent, session};

/// A session with `extra` in its middle: kind and number of records.
fn newer(extra: &[(u16, u64)]) -> (Sent, Vec<u8>) {
    let plain = session(3, SMALL);
    let mut sent = plain.clone();
    let (_, end) = sent.records.split_last().unwrap();
    let middle = end.len() / 2;
    for (kind, n) in extra {
        for _ in 0..*n {
            sent.records.insert(middle, (*kind, b"what a later version tells".to_vec()));
        }
    }
    let bytes = sent.bytes();
    (plain, bytes)
}

#[test]
fn what_is_not_known_is_named_and_all_else_is_read() {
    let (plain, bytes) = newer(&[(0x1fe, 2), (0x1ff, 1)]);
    let model = read(&bytes, 11).unwrap();
    let (got, all) = (Received::new(&model), Received::new(&read(&plain.bytes(), 11).unwrap()));
    all.equals(&plain.truth);
    assert_eq!((got.topologies, got.calls, got.spans), (all.topologies, all.calls, all.spans));
    // A newer agent may send some calls in another kind: numbers of tokens that need every call are
    // not claimed.
    assert_eq!(got.llama_calls.len(), all.llama_calls.len());
    assert!(!model.health.perfect());
    let damage: Vec<_> = model.health.damage.iter().map(|d| (d.kind, d.count)).collect();
    assert_eq!(damage, [(DamageKind::UnknownKind, 3)]);
    let skipped = |kind, count| Skipped { kind, count };
    assert_eq!(model.health.skipped, [skipped(0x1ff, 1), skipped(0x1fe, 2)]);
}

#[test]
fn ten_thousand_kinds_are_not_told_apart() {
    let kinds: Vec<_> = (0x1000..0x1000 + 10_000).map(|kind| (kind, 1)).collect();
    let (_, bytes) = newer(&kinds);
    let model = read(&bytes, 4096).unwrap();
    assert_eq!(model.health.skipped.len(), MAX_SKIPPED);
    assert_eq!(model.health.damage[0].count, 10_000);
}
