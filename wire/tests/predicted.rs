//! The predicted coding of spans: decoding returns what was encoded, and no bytes do harm.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails where it cannot go on")]

use profinfer_wire::counts::{Counted, SLOTS};
use profinfer_wire::predicted::{
    Encoder, MAX_COUNTED_SPAN_LEN, MAX_PERIOD, MAX_SPAN_LEN, Memory, UNKNOWN, UNKNOWN_COUNTS, UsualCounts,
    Usually, period,
};
use profinfer_wire::record::op::PredictedBatch;
use profinfer_wire::span::Span;
use proptest::prelude::*;

/// Encodes; returns the bytes and the number of spans that fitted.
fn encode(rows: &[(Span, Counted)], period: u16, counted: bool, room: usize) -> (Vec<u8>, u16) {
    let mut usually = vec![UNKNOWN; usize::from(period)];
    let mut counts = vec![UNKNOWN_COUNTS; if counted { usize::from(period) } else { 0 }];
    let mut memory = Memory::new(&mut usually, &mut counts).expect("a period in bounds");
    let mut bytes = vec![0xaa; room];
    let mut encoder = Encoder::new(1_000, 0, &memory);
    let mut n = 0;
    for (span, counted) in rows {
        if !encoder.encode(span, counted, &mut memory, &mut bytes) {
            break;
        }
        n += 1;
    }
    let len = encoder.finish(&mut bytes);
    bytes.truncate(len);
    (bytes, n)
}

/// Decodes; returns the spans, and whether decoding succeeded to the end.
fn decode(bytes: &[u8], count: u16, period: u16, counted: bool) -> (Vec<(Span, Counted)>, bool) {
    let (mut usually, mut counts) =
        (vec![UNKNOWN; usize::from(MAX_PERIOD)], vec![UNKNOWN_COUNTS; usize::from(MAX_PERIOD)]);
    decode_with(bytes, count, (period, counted), &mut usually, &mut counts)
}

/// As [`decode`], in this memory.
fn decode_with(
    bytes: &[u8],
    count: u16,
    (period, counted): (u16, bool),
    usually: &mut [Usually],
    counts: &mut [UsualCounts],
) -> (Vec<(Span, Counted)>, bool) {
    let batch = PredictedBatch {
        graph: 1,
        topology: 1,
        tid: 1,
        base_ns: 1_000,
        cpu: 0,
        count,
        period,
        counted,
        bytes,
    };
    let mut spans = batch.spans(usually, counts);
    let mut rows = Vec::new();
    while let Some(span) = spans.next() {
        rows.push((span, spans.counted));
    }
    (rows, !spans.failed)
}

fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..5_000u64, 2 => 0..1u64 << 40, 1 => Just(0), 1 => 0..u64::MAX / 1024]
}

/// Counter values of a span: often all in the same slots, sometimes in any.
fn counted() -> impl Strategy<Value = Counted> {
    let usual = prop::array::uniform6(any_number()).prop_map(|v| {
        let mut values = [None; SLOTS];
        values.iter_mut().zip(v).for_each(|(slot, v)| *slot = Some(v));
        Counted { values, switches: 0, why: 0 }
    });
    let odd = (any::<[Option<u64>; SLOTS]>(), any::<u32>(), any::<u64>())
        .prop_map(|(values, switches, why)| Counted { values, switches, why });
    prop_oneof![5 => usual, 1 => odd]
}

/// Spans of one thread: layer after layer, with occasional skipped nodes, jumps back, migrations
/// and other nodes.
fn rows() -> impl Strategy<Value = Vec<(Span, Counted)>> {
    let kind = prop_oneof![8 => Just(0u32), 1 => 1..40u32, 1 => any::<u32>()];
    let one = (kind, 0..3u32, any_number(), any_number(), prop_oneof![9 => Just(0), 1 => any::<u16>()]);
    prop::collection::vec((one, any::<bool>(), counted()), 0..150).prop_map(|rows| {
        let (mut end, mut next) = (1_000, 0u32);
        rows.into_iter()
            .map(|((kind, fused, wait, work_ns, cpu), migrated, counted)| {
                let start_ns = end + wait;
                end = start_ns + work_ns;
                let node = if kind < 40 { next.wrapping_add(kind) } else { kind };
                let last_node = node.saturating_add(if node % 7 == 3 { fused } else { 0 });
                next = last_node.wrapping_add(1);
                let migrated = migrated && cpu != 0;
                (Span { node, last_node, start_ns, work_ns, cpu, migrated }, counted)
            })
            .collect()
    })
}

fn without_counts(rows: &[(Span, Counted)]) -> Vec<(Span, Counted)> {
    rows.iter().map(|(span, _)| (*span, Counted::default())).collect()
}

proptest! {
    #[test]
    fn spans_come_back(rows in rows(), period in 1..=MAX_PERIOD) {
        let (bytes, n) = encode(&rows, period, false, 1 << 16);
        prop_assert_eq!(usize::from(n), rows.len());
        prop_assert_eq!(decode(&bytes, n, period, false), (without_counts(&rows), true));
    }

    #[test]
    fn counts_come_back(rows in rows(), period in 1..60u16) {
        let (bytes, n) = encode(&rows, period, true, 1 << 16);
        prop_assert_eq!(usize::from(n), rows.len());
        prop_assert_eq!(decode(&bytes, n, period, true), (rows, true));
    }

    #[test]
    fn a_batch_does_not_depend_on_others(first in rows(), second in rows(), period in 1..60u16, counted: bool) {
        let (a, n) = encode(&first, period, counted, 1 << 16);
        let (b, m) = encode(&second, period, counted, 1 << 16);
        let mut usually = vec![UNKNOWN; usize::from(MAX_PERIOD)];
        let mut counts = vec![UNKNOWN_COUNTS; usize::from(MAX_PERIOD)];
        decode_with(&a, n, (period, counted), &mut usually, &mut counts);
        let back = decode_with(&b, m, (period, counted), &mut usually, &mut counts);
        prop_assert_eq!(back, decode(&b, m, period, counted));
    }

    #[test]
    fn what_has_no_room_changes_nothing(rows in rows(), period in 1..60u16, room in 0..600usize, counted: bool) {
        let (bytes, n) = encode(&rows, period, counted, room);
        prop_assert!(bytes.len() <= room);
        let sent = &rows[..usize::from(n)];
        let expected = if counted { sent.to_vec() } else { without_counts(sent) };
        prop_assert_eq!(decode(&bytes, n, period, counted), (expected, true));
        let longest = if counted { MAX_COUNTED_SPAN_LEN } else { MAX_SPAN_LEN };
        prop_assert!(usize::from(n) == rows.len() || bytes.len() + longest > room);
    }

    #[test]
    fn cut_bytes_fail_and_never_invent(rows in rows(), period in 1..60u16, cut in any::<prop::sample::Index>(), counted: bool) {
        let (bytes, n) = encode(&rows, period, counted, 1 << 16);
        prop_assume!(!bytes.is_empty());
        let (back, whole) = decode(&bytes[..cut.index(bytes.len())], n, period, counted);
        prop_assert!(!whole && back.len() < rows.len());
        let sent = if counted { rows } else { without_counts(&rows) };
        prop_assert_eq!(&back[..], &sent[..back.len()]);
    }

    #[test]
    fn any_bytes_are_spans_or_fail(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xff), Just(0)], 0..300),
        count in 0..400u16, period: u16, counted: bool,
    ) {
        let (back, whole) = decode(&bytes, count, period, counted);
        prop_assert!(back.len() <= usize::from(count) && whole == (back.len() == usize::from(count)));
        prop_assert!(back.iter().all(|(s, _)| s.node <= s.last_node && s.start_ns.checked_add(s.work_ns).is_some()));
    }

    #[test]
    fn a_period_is_in_bounds(nodes in prop::collection::vec(0..5u64, 0..700)) {
        prop_assert!((1..=MAX_PERIOD).contains(&period(&nodes)));
    }
}

/// A number of each size, after learning from a number of every other size.
#[test]
fn every_number_comes_after_every_other() {
    let sizes = || (0..63).map(|n| 1u64 << n).flat_map(|n| [n - 1, n, n + 1]).filter(|n| *n < 1 << 62);
    for before in sizes() {
        let rows: Vec<(Span, Counted)> = [before, before, 0]
            .into_iter()
            .chain(sizes().step_by(2))
            .map(|work| {
                let counted = Counted {
                    values: [
                        Some(work),
                        Some(u64::MAX - work),
                        None,
                        None,
                        None,
                        None,
                        None,
                        None,
                        None,
                        None,
                    ],
                    switches: 0,
                    why: 0,
                };
                (
                    Span { node: 0, last_node: 0, start_ns: 1_000, work_ns: 0, cpu: 0, migrated: false },
                    counted,
                )
            })
            .collect();
        let (bytes, n) = encode(&rows, 1, true, 1 << 16);
        assert_eq!(decode(&bytes, n, 1, true), (rows, true));
    }
}

#[test]
fn layers_are_found() {
    let graph = |layers: usize, layer: &[u64]| {
        let mut nodes = vec![100, 101];
        (0..layers).for_each(|_| nodes.extend(layer));
        nodes.extend([102, 103, 104]);
        nodes
    };
    let layer: Vec<u64> = (0..31).collect();
    assert_eq!(period(&graph(30, &layer)), 31);
    // Two layers that differ in two of five nodes repeat together.
    assert_eq!(period(&graph(15, &[1, 2, 3, 4, 5, 1, 2, 3, 6, 7])), 10);
    assert_eq!(period(&[]), 1);
    assert_eq!(period(&[7]), 1);
    let different: Vec<u64> = (0..100).collect();
    assert_eq!(period(&different), 100);
    assert_eq!(period(&[1; 50]), 1);
}

/// An expected node costs a few bits, and one surprise does not make the next spans expensive.
#[test]
fn a_span_costs_its_surprises() {
    let rows: Vec<(Span, Counted)> = (0..400u32)
        .map(|i| {
            let start_ns = 1_000 + u64::from(i) * 10_000;
            let span = Span { node: i, last_node: i, start_ns, work_ns: 9_000, cpu: 0, migrated: false };
            (span, Counted::default())
        })
        .collect();
    let usual = encode(&rows, 20, false, 1 << 16).0.len();
    assert!(usual < 700, "{usual} bytes for 400 spans of which 20 are new");
    let mut rows = rows;
    for row in &mut rows[200..] {
        row.0.start_ns += 5_000_000;
    }
    let surprised = encode(&rows, 20, false, 1 << 16).0.len();
    assert!(surprised < usual + 30, "{surprised} bytes, without the surprise {usual}");
}
