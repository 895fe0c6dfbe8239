//! Batches by sequence: each part arrives at its place, in whatever order and pieces; losses are
//! reported.

use profinfer_analysis::Analysis;
use profinfer_trace::model::{DamageKind, EditKind, Housekeeping, HousekeepingKind, LlamaCallId, Model};
use proptest::prelude::*;

use crate::{read, write_views};
use profinfer_trace::test_support::bytes::{Fields, frame, hello};
use profinfer_trace::test_support::records::{
    self, CallIds, Part, Record, edit, housekeeping, part_batch, part_loss, taken,
};
use profinfer_trace::test_support::truth::{Call, Decode};

const PID: u32 = 500;

/// Two decode calls of 9 and of 2 tokens, numbers 1 and 2, with these records before them.
fn model(middle: &[Record]) -> Model {
    let call = |start, n_tokens| Decode { start, duration: 900, tid: PID, context: 16, n_tokens, status: 0 };
    let mut all = vec![records::session(1_000), records::thread(PID, PID, "engine")];
    all.extend(middle.iter().cloned());
    all.push(records::decode(1, PID, &call(2_000, 9), Some(9)));
    all.push(records::decode(2, PID, &call(3_000, 2), Some(2)));
    all.push(records::end(9_000, 0, all.len() as u32));
    let mut bytes = hello(1);
    for (seq, (kind, payload)) in (0..).zip(&all) {
        bytes.extend(frame(*kind, seq, payload));
    }
    let model = read(&bytes, 11).unwrap();
    crate::hostile::promises(&model);
    write_views(&model);
    model
}

/// Call, first token, tokens, sequence, sequences, position, same position for all, outputs.
type Row = (u32, u32, u32, Option<i32>, u32, Option<i32>, bool, Option<u32>);

fn rows(m: &Model) -> Vec<Row> {
    let p = &m.parts;
    let row = |i: usize| {
        (p.decode[i].0, p.first[i], p.n[i], p.seq[i], p.n_seq[i], p.pos[i], p.same[i], p.outputs[i])
    };
    (0..p.len()).map(row).collect()
}

fn damage(m: &Model) -> Vec<(DamageKind, u64)> {
    m.health.damage.iter().map(|d| (d.kind, d.count)).collect()
}

fn of(n: u64, seq: i64, pos: i64) -> Part {
    Part { n, seq: Some(seq), pos: Some(pos), outputs: Some(0), ..Part::default() }
}

#[test]
fn parts_arrive_in_any_order_and_pieces() {
    let image = Part { skip: 1, n_seq: Some(1), same: true, ..of(5, 1, 30) };
    let shared = Part { n_seq: Some(3), outputs: Some(1), ..of(1, -2, -7) };
    let untold = Part { n: 2, ..Part::default() };
    let told = part_loss(8_000, [11, 10, 1, 0, 0, 0, 0]);
    let expected: Vec<Row> = vec![
        (0, 0, 2, Some(0), 1, Some(16), false, Some(0)),
        (0, 3, 5, Some(1), 1, Some(30), true, Some(0)),
        (0, 8, 1, Some(-2), 3, Some(-7), false, Some(1)),
        (1, 0, 2, None, 0, None, false, None),
    ];
    let first = [part_batch(2, &[untold]), part_batch(1, &[of(2, 0, 16), image, shared]), told.clone()];
    let alone = Part { skip: 8, ..shared };
    let second =
        [part_batch(1, &[alone]), part_batch(1, &[of(2, 0, 16), image]), part_batch(2, &[untold]), told];
    for middle in [&first[..], &second[..]] {
        let m = model(middle);
        assert_eq!((rows(&m), damage(&m)), (expected.clone(), vec![]));
        let ledger = m.health.parts.unwrap();
        assert!(ledger.balances() && (ledger.sent, ledger.received, ledger.ring_full) == (10, 10, 1));
        assert!(!m.health.perfect(), "one token was lost");
    }
    assert!(model(&[part_batch(2, &[untold]), part_loss(1, [2, 2, 0, 0, 0, 0, 0])]).health.perfect());
}

#[test]
fn what_does_not_fit_is_damage_and_no_row() {
    // A token twice; bytes that end; invalid tokens.
    let twice = model(&[part_batch(1, &[of(5, 0, 0)]), part_batch(1, &[Part { skip: 4, ..of(2, 0, 4) }])]);
    assert_eq!((rows(&twice).len(), damage(&twice)), (1, vec![(DamageKind::Unresolved, 1)]));
    for bytes in [&[][..], &[0x27, 2], &[0x07, 0, 0, 0]] {
        let m = model(&[(0x11, Fields::default().uint(1).uint(1).bytes(bytes).0)]);
        assert_eq!((rows(&m).len(), damage(&m)), (0, vec![(DamageKind::Malformed, 1)]), "{bytes:?}");
    }
    // Parts of a call that was running when the session ended.
    let running = model(&[part_batch(7, &[of(5, 0, 0)])]);
    assert_eq!((rows(&running).len(), damage(&running)), (0, vec![]));
}

/// Edits of the memory are ordered by time. One of a kind that is not known is left out.
#[test]
fn edits_are_by_time() {
    let copy = edit(PID, 2_950, 1, [0, -1, 30, 3]);
    let m = model(&[copy, edit(PID, 2_910, 0, [2, 304, -1, -1]), edit(PID, 2_920, 9, [0; 4])]);
    let rows: Vec<_> =
        m.edits.iter().map(|e| (e.at_ns, e.memory, e.kind, e.seq, e.from, e.to, e.target)).collect();
    assert_eq!(rows, [(2_910, 9, EditKind::Cut, 2, 304, -1, -1), (2_950, 9, EditKind::Copy, 0, -1, 30, 3)]);
    assert_eq!(damage(&m), []);
}

/// If calls are missing, so may be what was taken of others.
#[test]
fn taken_outputs_show_something_only_if_none_is_missing() {
    let m = model(&[taken(2, 3), taken(1, 1), taken(7, 1)]);
    assert_eq!(m.taken, [(LlamaCallId(0), 1), (LlamaCallId(1), 3)]);
    let unknown = (0x1fe, vec![1]);
    assert_eq!(model(&[taken(1, 1), unknown]).taken, []);
}

#[test]
fn what_was_lost_is_said() {
    let said = |middle: &[Record]| {
        let m = model(middle);
        Analysis::compute(&m)
            .health
            .remarks
            .iter()
            .map(profinfer_views::words::health::line)
            .collect::<Vec<_>>()
    };
    let batch = part_batch(1, &[of(9, 0, 0)]);
    let has = |lines: &[String], words: &str| lines.iter().any(|l| l.contains(words));
    assert!(has(&said(std::slice::from_ref(&batch)), "the totals of batches did not arrive"));
    let away = said(&[batch.clone(), part_loss(1, [11, 11, 0, 0, 0, 0, 0])]);
    assert!(has(&away, "the sequences of 2 tokens in batches"), "{away:#?}");
    let dropped = said(&[batch.clone(), part_loss(1, [11, 9, 2, 0, 0, 0, 0])]);
    assert!(has(&dropped, "2 of 11 sequences of tokens in batches (18.18 %)"), "{dropped:#?}");
    assert!(has(
        &said(&[batch.clone(), part_loss(1, [9, 5, 4, 0, 0, 0, 0])]),
        "inconsistent: received more sequences of tokens"
    ));
    assert!(has(&said(&[batch, part_loss(1, [11, 9, 0, 0, 0, 0, 0])]), "totals of batches do not add up"));
}

proptest! {
    #[test]
    fn any_parts_are_rows_or_damage(
        parts in prop::collection::vec((0..4u64, 1..9u64, any::<Option<i32>>(), any::<Option<i32>>(), any::<bool>()), 0..20),
        call in 0..4u32,
    ) {
        let parts: Vec<Part> = parts
            .into_iter()
            .map(|(skip, n, seq, pos, same)| Part {
                skip, n, seq: seq.map(i64::from), pos: pos.map(i64::from), same: same && pos.is_some(), outputs: Some(n), n_seq: None,
            })
            .collect();
        let m = model(&[part_batch(call, &parts)]);
        prop_assert_eq!(m.parts.len(), if [1, 2].contains(&call) { parts.len() } else { 0 });
    }
}

/// They arrive as they are, by their start; one of a kind that a newer agent has is left out.
#[test]
fn what_the_engine_does_for_itself() {
    let sent = [(2, 2_500, 40, 0), (0, 1_100, 300, 77), (9, 1_200, 1, 1), (1, 2_200, 5, 77)];
    let records = sent.map(|(kind, at, length, bytes)| housekeeping(PID, PID, kind, [at, length, bytes]));
    let row = |kind, start_ns, duration_ns, bytes| Housekeeping {
        pid: PID,
        tid: PID,
        kind,
        start_ns,
        duration_ns,
        bytes,
    };
    assert_eq!(
        model(&records).housekeeping,
        [
            row(HousekeepingKind::SaveState, 1_100, 300, 77),
            row(HousekeepingKind::RestoreState, 2_200, 5, 77),
            row(HousekeepingKind::AllocateGraph, 2_500, 40, 0),
        ]
    );
}

/// Calls last until the wait for their backends ends, as by the engine's own clock.
#[test]
fn waits_for_backends_are_the_end_of_calls() {
    let ids = CallIds { id: 9, pid: PID, topology: 0, backend: 7, decode: 1, parent: 0 };
    let split = Call {
        start: 2_100,
        duration: 50,
        scheduler: false,
        topology: None,
        n_nodes: 3,
        n_tokens: 1,
        tid: PID,
        decode: Some(2_000),
        parent: None,
    };
    let on = |backend: &str, waits: &[Record]| {
        let mut records = vec![records::text(7, backend), records::graph_call(ids, &split)];
        records.extend(waits.iter().cloned());
        model(&records)
    };
    let ends = |waits: &[[u64; 2]]| {
        let waits: Vec<_> =
            waits.iter().map(|[at, length]| housekeeping(PID, PID, 3, [*at, *length, 0])).collect();
        on("Vulkan", &waits).llama_calls.duration_ns
    };
    assert_eq!(ends(&[]), [900, 900]);
    // The calls are from 2,000 and from 3,000 ns on.
    assert_eq!(ends(&[[2_930, 50], [4_000, 700]]), [980, 1_700]);
    // In a call, and before all calls.
    assert_eq!(ends(&[[2_100, 300], [1_500, 100]]), [900, 900]);
    // The wait of another thread.
    let other = housekeeping(PID, 501, 3, [2_930, 50, 0]);
    assert_eq!(on("Vulkan", &[other]).llama_calls.duration_ns, [900, 900]);
    // Nothing to wait for: the thread had lost its CPU.
    let preempted = on("CPU", &[housekeeping(PID, PID, 3, [2_930, 50, 0])]);
    assert_eq!(preempted.llama_calls.duration_ns, [900, 900]);
    assert!(preempted.housekeeping.is_empty());
}
