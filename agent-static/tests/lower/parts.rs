//! Parts of batches: by call, with several decoding threads, and counted if they cannot be
//! assigned.

use profinfer_agent::bpf::ring::{Decode, Event, Part};
use profinfer_trace::model::{Edit, EditKind, Housekeeping, HousekeepingKind, LlamaCallId};
use profinfer_wire::parts;
use profinfer_wire::record::{edit, housekeeping};

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

/// An output is of the last call of its context, whichever thread takes it.
#[test]
fn taken_outputs_are_of_the_last_call_of_their_context() {
    let mut run = Run::new();
    let taken = |run: &mut Run, tid: u32, context: u64| run.event(&Event::Taken(head(tid), context));
    // Before any call.
    taken(&mut run, TID, 0xc0);
    for (start, context) in [(1_000, 0xc0), (2_000, 0xd0), (3_000, 0xc0), (4_000, 0xc0)] {
        let call = Decode { context, ..decode_call(head(TID), start, 1) };
        run.decode(call);
        run.decode(Decode { end_ns: start + 500, ..call });
        if start == 3_000 {
            taken(&mut run, TID + 1, 0xc0);
            taken(&mut run, TID, 0xd0);
            taken(&mut run, TID, 0xc0);
        }
    }
    taken(&mut run, TID, 0xc0);
    assert_eq!(run.finish().taken, [(LlamaCallId(1), 1), (LlamaCallId(2), 2), (LlamaCallId(3), 1)]);
}

#[test]
fn edits_of_the_memory_arrive_as_they_are() {
    let mut run = Run::new();
    let sent = edit::Edit {
        pid: head(TID).tgid,
        at_ns: 1_500,
        memory: 0xe0,
        kind: edit::kind::COPY,
        seq: 0,
        from: -1,
        to: 30,
        target: 3,
    };
    run.event(&Event::Edit(sent));
    let edit::Edit { pid, at_ns, memory, seq, from, to, target, .. } = sent;
    assert_eq!(
        run.finish().edits,
        [Edit { pid, at_ns, memory, kind: EditKind::Copy, seq, from, to, target }]
    );
}

#[test]
fn copies_of_states_arrive_as_they_are() {
    let mut run = Run::new();
    let done = housekeeping::Housekeeping {
        pid: head(TID).tgid,
        tid: TID,
        kind: housekeeping::kind::RESTORE_STATE,
        start_ns: 1_500,
        duration_ns: 70,
        bytes: 4_096,
    };
    run.event(&Event::Housekeeping(done));
    let kind = HousekeepingKind::RestoreState;
    let housekeeping::Housekeeping { pid, tid, start_ns, duration_ns, bytes, .. } = done;
    assert_eq!(run.finish().housekeeping, [Housekeeping { pid, tid, kind, start_ns, duration_ns, bytes }]);
}
