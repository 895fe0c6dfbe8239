//! Properties of the modules that code most bytes of a stream.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails where it cannot go on")]

use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::counts::{Counted, Counts, MAX_COUNTED_LEN};
use profinfer_wire::cpu_use::CpuUses;
use profinfer_wire::experts::{self, Runs};
use profinfer_wire::frame::{Frame, MAX_ENCODED, encode};
use profinfer_wire::gauges::{GaugeSample, Gauges, MAX_SAMPLE_LEN};
use profinfer_wire::interrupt::{self, Interrupt, Interrupts};
use profinfer_wire::parts::{self, Part, Parts};
use profinfer_wire::record::Record;
use profinfer_wire::record::counter::SLOTS;
use profinfer_wire::sched::{self, Happened, Left, SchedEvent, SchedEvents, Who};
use profinfer_wire::span::{Cursor, Span, Spans};
use profinfer_wire::varint;
use proptest::prelude::*;

/// Spans of one thread: any nodes and CPUs, never before the last one ended.
fn spans() -> impl Strategy<Value = Vec<Span>> {
    let one = (0..u32::MAX / 2, 0..5u32, 0..1u64 << 40, 0..1u64 << 40, 0..4u16, any::<bool>());
    prop::collection::vec(one, 0..100).prop_map(|rows| {
        let mut end = 1_000;
        rows.into_iter()
            .map(|(node, fused, wait, work_ns, cpu, migrated)| {
                let start_ns = end + wait;
                end = start_ns + work_ns;
                Span { node, last_node: node + fused, start_ns, work_ns, cpu, migrated }
            })
            .collect()
    })
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![any::<u32>().prop_map(Who::Thread), any::<u32>().prop_map(Who::Task)]
}

fn sched_events() -> impl Strategy<Value = Vec<SchedEvent>> {
    let left =
        prop_oneof![Just(Left::Preempted), Just(Left::Yielded), Just(Left::Blocked), Just(Left::Other)];
    let happened = prop_oneof![
        (any::<u16>(), who(), left, who()).prop_map(|(cpu, prev, left, next)| Happened::Switch {
            cpu,
            prev,
            left,
            next
        }),
        (any::<u16>(), any::<u32>()).prop_map(|(cpu, tid)| Happened::Wake { cpu, tid }),
        (any::<u16>(), any::<u32>()).prop_map(|(cpu, tid)| Happened::Migration { cpu, tid }),
        any::<u64>().prop_map(|length_ns| Happened::Gap { length_ns }),
    ];
    let event = (any::<u64>(), happened).prop_map(|(at_ns, happened)| SchedEvent { at_ns, happened });
    prop::collection::vec(event, 0..50)
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let one = any::<(u8, u16, Option<i32>, u32, Option<i32>, bool, Option<u32>)>();
    prop::collection::vec(one, 0..50).prop_map(|rows| {
        let mut next = 0;
        rows.into_iter()
            .map(|(skip, n, seq, n_seq, pos, same, outputs)| {
                let (first, n) = (next + u32::from(skip), u32::from(n) + 1);
                next = first + n;
                let n_seq = if seq.is_some() { n_seq } else { 0 };
                Part { first, n, seq, n_seq, pos, same: same && pos.is_some(), outputs }
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn parts_come_back(all in parts()) {
        let (mut bytes, mut cursor) = (vec![0; 8192], parts::Cursor::default());
        let len = all.iter().fold(0, |at, part| cursor.encode(part, &mut bytes, at).expect("room"));
        let mut back = Parts::new(u16::try_from(all.len()).expect("few"), &bytes[..len]);
        prop_assert_eq!(back.by_ref().collect::<Vec<_>>(), all);
        prop_assert!(!back.failed);
    }

    #[test]
    fn any_bytes_are_parts_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), count in 0..100u16) {
        prop_assert!(Parts::new(count, &bytes).all(|part| part.n > 0));
    }

    #[test]
    fn sched_events_come_back(base_ns: u64, events in sched_events()) {
        let (mut bytes, mut cursor) = (vec![0; 8192], sched::Cursor::new(base_ns));
        let len = events.iter().fold(0, |at, e| cursor.encode(e, &mut bytes, at).expect("room"));
        let mut back = SchedEvents::new(base_ns, u16::try_from(events.len()).expect("few"), &bytes[..len]);
        prop_assert_eq!(back.by_ref().collect::<Vec<_>>(), events);
        prop_assert!(!back.failed);
    }

    #[test]
    fn any_bytes_are_sched_events_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), count in 0..100u16) {
        prop_assert!(SchedEvents::new(u64::MAX / 2, count, &bytes).count() <= usize::from(count));
        prop_assert!(Interrupts::new(u64::MAX / 2, count, &bytes).count() <= usize::from(count));
        prop_assert!(CpuUses::new(u64::MAX / 2, count, &bytes).count() <= usize::from(count));
    }

    #[test]
    fn interrupts_come_back(base_ns: u64, rows in prop::collection::vec(any::<(bool, u32, u16, u64, u64)>(), 0..50)) {
        let interrupts: Vec<Interrupt> = rows
            .into_iter()
            .map(|(soft, name, cpu, start_ns, duration_ns)| Interrupt { soft, name, cpu, start_ns, duration_ns })
            .collect();
        let (mut bytes, mut cursor) = (vec![0; 8192], interrupt::Cursor::new(base_ns));
        let len = interrupts.iter().fold(0, |at, i| cursor.encode(i, &mut bytes, at).expect("room"));
        let count = u16::try_from(interrupts.len()).expect("few");
        prop_assert_eq!(Interrupts::new(base_ns, count, &bytes[..len]).collect::<Vec<_>>(), interrupts);
    }

    #[test]
    fn spans_come_back(spans in spans()) {
        let mut bytes = vec![0; 8192];
        let mut cursor = Cursor::new(1_000, 0);
        let len = spans.iter().fold(0, |at, s| cursor.encode(s, &mut bytes, at).expect("room"));
        let count = u16::try_from(spans.len()).expect("few");
        let mut back = Spans::new(1_000, 0, count, &bytes[..len]);
        prop_assert_eq!(back.by_ref().collect::<Vec<_>>(), spans);
        prop_assert!(!back.failed);
    }

    #[test]
    fn any_bytes_are_spans_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), count in 0..100u16) {
        let n = Spans::new(u64::MAX / 2, 0, count, &bytes).count();
        prop_assert!(n <= usize::from(count));
    }

    #[test]
    fn any_bytes_are_counts_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), count in 0..100u16) {
        let n = Counts::new(count, &bytes).count();
        prop_assert!(n <= usize::from(count));
    }

    #[test]
    fn counts_come_back(values: [Option<u64>; SLOTS], switches: u32, why: u64) {
        let counted = Counted { values, switches, why };
        let mut bytes = [0; MAX_COUNTED_LEN];
        let len = counted.encode(&mut bytes, 0).expect("room");
        prop_assert_eq!(Counted::decode(&mut &bytes[..len]), Some(counted));
        prop_assert_eq!(Counted::decode(&mut &bytes[..len - 1]), None);
    }

    #[test]
    fn any_bytes_are_runs_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), count in 0..100u16) {
        for run in Runs::new(count, &bytes) {
            prop_assert_eq!(run.experts().count(), run.count as usize);
        }
    }

    #[test]
    fn runs_come_back(
        rows in prop::collection::vec((any::<u32>(), 1..u32::MAX, 0..u32::MAX / 2, prop::collection::vec(any::<u32>(), 0..20)), 0..20),
    ) {
        let (mut bytes, mut cursor) = (vec![0; 8192], experts::Cursor::default());
        let len = rows.iter().fold(0, |at, (node, n_used, first, ids)| {
            cursor.encode(*node, *n_used, *first, ids, &mut bytes, at).expect("room")
        });
        let mut runs = Runs::new(u16::try_from(rows.len()).expect("few"), &bytes[..len]);
        for (run, (node, n_used, first, ids)) in runs.by_ref().zip(&rows) {
            prop_assert_eq!((run.node, run.n_used, run.first), (*node, *n_used, *first));
            prop_assert!(run.experts().map(|e| e.expert).eq(ids.iter().copied()));
        }
        prop_assert!(!runs.failed);
    }

    #[test]
    fn any_bytes_are_samples_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), count in 0..100u16) {
        let n = Gauges::new(count, &bytes).count();
        prop_assert!(n <= usize::from(count));
    }

    #[test]
    fn samples_come_back(id: u16, value: Option<i64>) {
        let sample = GaugeSample { id, value };
        let mut bytes = [0; MAX_SAMPLE_LEN];
        let len = sample.encode(&mut bytes, 0).expect("room");
        prop_assert_eq!(GaugeSample::decode(&mut &bytes[..len]), Some(sample));
        prop_assert_eq!(GaugeSample::decode(&mut &bytes[..len - 1]), None);
    }

    #[test]
    fn varints_come_back(value: u64, signed: i64) {
        let mut bytes = [0; varint::MAX_LEN];
        let len = varint::put(&mut bytes, 0, value).expect("room");
        prop_assert_eq!(varint::take(&mut &bytes[..len]), Some(value));
        prop_assert_eq!(varint::take(&mut &bytes[..len - 1]), None);
        prop_assert_eq!(varint::unzigzag(varint::zigzag(signed)), signed);
    }

    #[test]
    fn frames_do_not_depend_on_how_they_are_cut(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..6),
        pieces in prop::collection::vec(1..50usize, 1..40),
    ) {
        let mut stream = Vec::new();
        for (seq, payload) in (0..).zip(&payloads) {
            let mut out = [0; MAX_ENCODED];
            let len = encode(&Frame { kind: 2, seq, payload }, &mut out).expect("fits");
            stream.extend_from_slice(&out[..len]);
        }
        let (mut found, mut accumulator, mut rest) = (Vec::new(), Accumulator::new(), stream.as_slice());
        for piece in pieces.into_iter().cycle() {
            let (mut input, behind) = rest.split_at(piece.min(rest.len()));
            while !input.is_empty() {
                if let Some(Found::Frame(frame)) = accumulator.feed(&mut input) {
                    found.push(frame.payload.to_vec());
                }
            }
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(found, payloads);
        prop_assert_eq!(accumulator.pending(), 0);
    }

    #[test]
    fn any_payload_is_a_record_or_not(kind in prop_oneof![0..0x110u16, any::<u16>()], payload in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Record::decode(&Frame { kind, seq: 0, payload: &payload });
    }
}

/// A graph of 133 nodes, 73 of which are run, as in llama.cpp's smallest models.
#[test]
fn a_span_takes_few_bytes() {
    let (mut bytes, mut at, mut end) = (vec![0; 4096], 0, 0);
    let mut cursor = Cursor::new(0, 0);
    let runs = 73u32;
    for i in 0..runs {
        let start_ns = end + 300 + u64::from(i * 7919 % 20_000);
        let work_ns = 1_000 + u64::from(i * 104_729 % 2_000_000);
        end = start_ns + work_ns;
        let node = i * 133 / runs;
        let span = Span { node, last_node: node, start_ns, work_ns, cpu: 0, migrated: false };
        at = cursor.encode(&span, &mut bytes, at).expect("room");
    }
    let each = at as f64 / f64::from(runs);
    println!("{each:.2} bytes a span");
    assert!(each <= 8.0, "{each}");
}
