//! Parts of batches: by call, with several decoding threads, and counted if they cannot be
//! assigned.

use profinfer_agent::bpf::ring::{Decode, Event, Part};
use profinfer_trace::model::LlamaCallId;
use profinfer_wire::parts;

use crate::run::{Run, TID, decode_call, head};

fn part(run: &mut Run, tid: u32, batch: u64, first: u32) {
    let part = parts::Part {
        first,
        n: 1,
        seq: Some(first.cast_signed()),
        n_seq: 1,
        pos: Some(40),
        same: false,
        outputs: Some(1),
    };
    run.event(&Event::Part(Part { head: head(tid), batch, part }));
}

#[test]
fn parts_of_two_threads_stay_with_their_calls() {
    let mut run = Run::new();
    let (a, b) = (decode_call(head(TID), 1_000, 2), decode_call(head(TID + 1), 1_001, 2));
    run.decode(a);
    run.decode(b);
    part(&mut run, TID, 1_000, 0);
    part(&mut run, TID + 1, 1_001, 0);
    part(&mut run, TID, 1_000, 1);
    part(&mut run, TID + 1, 1_001, 1);
    run.decode(Decode { end_ns: 2_000, ..a });
    run.decode(Decode { end_ns: 2_001, ..b });
    let model = run.finish();
    let p = &model.parts;
    let rows: Vec<_> = (0..p.len()).map(|i| (p.decode[i].0, p.first[i], p.seq[i])).collect();
    assert_eq!(rows, [(0, 0, Some(0)), (0, 1, Some(1)), (1, 0, Some(0)), (1, 1, Some(1))]);
    let ledger = model.health.parts.unwrap();
    assert_eq!((ledger.tokens, ledger.sent, ledger.received), (4, 4, 4));
}

#[test]
fn more_parts_than_a_record_holds_are_sent_in_several() {
    const MANY: u32 = 2_000;
    let mut run = Run::new();
    let a = decode_call(head(TID), 1_000, 2);
    run.decode(a);
    (0..MANY).for_each(|i| part(&mut run, TID, 1_000, i));
    run.decode(Decode { end_ns: 2_000, ..a });
    let model = run.finish();
    assert_eq!(model.parts.first, (0..MANY).collect::<Vec<_>>());
}

/// An engine that fills batches by functions has filled one before its call begins. A batch without
/// a call, and one of another thread, are not that one.
#[test]
fn parts_wait_for_the_call_with_their_batch() {
    let mut run = Run::new();
    part(&mut run, TID, 900, 0);
    part(&mut run, TID, 950, 0);
    part(&mut run, TID + 1, 950, 0);
    part(&mut run, TID, 950, 1);
    let a = Decode { batch: 950, ..decode_call(head(TID), 1_000, 2) };
    run.decode(a);
    run.decode(Decode { end_ns: 2_000, ..a });
    let model = run.finish();
    assert_eq!((&*model.parts.first, &*model.parts.decode), (&[0, 1][..], &[LlamaCallId(0); 2][..]));
    let ledger = model.health.parts.unwrap();
    assert_eq!((ledger.tokens, ledger.sent, ledger.no_call), (4, 2, 2));
}

#[test]
fn parts_of_no_call_are_counted() {
    let mut run = Run::new();
    part(&mut run, TID, 998, 0);
    let a = decode_call(head(TID), 1_000, 2);
    run.decode(a);
    part(&mut run, TID, 999, 0);
    run.decode(Decode { end_ns: 2_000, ..a });
    let model = run.finish();
    assert!(model.parts.is_empty());
    assert_eq!(model.health.parts.map(|l| (l.tokens, l.sent, l.no_call)), Some((2, 0, 2)));
}
