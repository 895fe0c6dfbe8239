//! Remarks about a recording's health, for each kind of loss.

use profinfer_analysis::Analysis;
use profinfer_analysis::health::{Health, Remark};
use profinfer_trace::model::totals::{RowRole, Totals};
use profinfer_trace::model::*;
use profinfer_views::summary::summary;
use profinfer_views::words::health::lines;
use serde_json::Value;

use crate::models::small;

fn health(change: impl FnOnce(&mut Model)) -> Health {
    let mut m = small::model();
    change(&mut m);
    Analysis::compute(&m).health
}

fn ledger(change: impl FnOnce(&mut Ledger)) -> impl FnOnce(&mut Model) {
    |m| change(m.health.ledger.as_mut().unwrap())
}

/// The first words of all lines.
fn words(h: &Health) -> Vec<String> {
    lines(h).iter().map(|l| l.split(':').next().unwrap().to_owned()).collect()
}

#[test]
fn a_whole_recording_needs_one_line() {
    let h = health(|_| {});
    assert!(h.perfect);
    assert_eq!(lines(&h), ["complete: 18 spans, nothing lost"]);
    assert_eq!(h.end_reason, Some("engine ended"));
}

#[test]
fn every_end_the_kernel_saw_is_somewhere() {
    // 40 ends: 18 are received, 5 + 4 + 3 dropped, 2 had no start, so 8 were lost in transit.
    let h = health(ledger(|l| {
        l.span_ends = 40;
        l.spans_sent = 26;
        (l.spans_ring_full, l.spans_queue_full, l.spans_no_graph) = (5, 4, 3);
        (l.spans_no_start, l.spans_no_end) = (2, 1);
    }));
    let s = h.spans;
    assert_eq!((s.kernel, s.received, s.dropped, s.no_start), (Some(40), 18, Some(12), Some(2)));
    assert_eq!((s.unaccounted, s.no_end), (Some(8), Some(1)));
    assert!(!h.perfect);
    assert_eq!(words(&h), ["dropped", "dropped", "dropped", "lost", "partial", "partial"]);
    assert!(lines(&h)[0].starts_with("dropped: 5 of 40 operator spans (12.50 %)"), "{}", lines(&h)[0]);
}

/// Operators of a graph with too many nodes are lost, but its calls tell how many it has.
#[test]
fn a_graph_that_is_too_large_is_named_with_its_nodes() {
    let h = health(|m| {
        ledger(|l| (l.span_ends, l.spans_too_large) = (21, 3))(m);
        let g = &mut m.graph_calls;
        let last = g.len() - 1;
        g.start_ns.push(g.start_ns[last]);
        g.duration_ns.push(1);
        g.layer.push(Layer::Backend);
        g.backend.push(g.backend[last]);
        g.topology.push(None);
        g.n_nodes.push(18_000);
        g.n_tokens.push(1);
        g.n_past.push(None);
        g.thread.push(g.thread[last]);
        g.decode.push(g.decode[last]);
        g.parent.push(None);
    });
    let large = h.remarks.iter().find(|r| matches!(r, Remark::LargeGraph(18_000)));
    assert!(large.is_some(), "{:?}", h.remarks);
    let lines = lines(&h);
    assert!(lines[0].contains("-ub") && lines[1].contains("18,000 nodes"), "{lines:?}");
}

#[test]
fn each_cause_at_the_source_has_its_own_advice() {
    type Change = fn(&mut Ledger);
    let cases: [(Change, &str); 6] = [
        (|l| l.no_state = 9, "Trace one process at a time"),
        (|l| l.calls_ring_full = 9, "decode or graph calls"),
        (|l| l.tensors_ring_full = 9, "read again"),
        (|l| (l.frames_queue_full, l.bytes_queue_full) = (9, 5_000), "(5,000 bytes)"),
        (|l| (l.spans_ring_full, l.span_ends) = (9, 27), "ring buffer was full"),
        (|l| (l.spans_queue_full, l.span_ends) = (9, 27), "link is slower"),
    ];
    for (change, advice) in cases {
        let h = health(ledger(change));
        assert!(!h.perfect, "{advice}");
        assert_eq!(words(&h), ["dropped"], "{:?}", lines(&h));
        assert!(lines(&h)[0].contains(advice) && lines(&h)[0].contains('9'), "{}", lines(&h)[0]);
    }
}

/// The figures of `L` among the keys of summary.json, where it has any.
fn check_reasons<L: Totals>(put: impl Fn(&mut Model, L), key: Option<&str>) {
    for row in L::ROWS {
        let RowRole::Lost(reason) = row.role else { continue };
        let h = health(|m| put(m, L::read(&[(row.name, 9)])));
        assert!(!h.perfect, "{}", row.name);
        let said = lines(&h);
        let named = said.iter().filter(|l| l.starts_with("dropped: 9 ") && l.contains(reason.why));
        assert_eq!(named.count(), 1, "{}: {said:?}", row.name);
        if let Some(key) = key {
            let mut m = small::model();
            put(&mut m, L::read(&[(row.name, 9)]));
            let written: Value = serde_json::from_slice(&crate::views::bytes(summary, &m)).unwrap();
            assert_eq!(written["health"][key][reason.key], 9, "{}", row.name);
        }
    }
}

#[test]
fn every_reason_in_the_tables_has_its_sentence_and_its_key() {
    check_reasons::<Ledger>(|m, l| m.health.ledger = Some(l), Some("dropped"));
    check_reasons::<NestedLedger>(|m, l| m.health.nested = Some(l), None);
    check_reasons::<SchedLedger>(|m, l| m.health.sched = Some(l), None);
    check_reasons::<CpuUseLedger>(|m, l| m.health.cpu_use = Some(l), None);
    check_reasons::<ExpertLedger>(|m, l| m.health.experts = Some(l), Some("experts"));
}

#[test]
fn damage_is_named_by_kind_and_frames_dropped_at_the_source_are_not_damage() {
    let kinds = [
        DamageKind::Hello,
        DamageKind::Overlong,
        DamageKind::Cobs,
        DamageKind::Short,
        DamageKind::Length,
        DamageKind::Checksum,
        DamageKind::Gap,
        DamageKind::Malformed,
        DamageKind::Unresolved,
    ];
    for kind in kinds {
        let h =
            health(|m| m.health.damage = vec![Damage { kind, count: 1_234, bytes: 5, first_offset: 77_000 }]);
        assert!(!h.perfect);
        assert_eq!(words(&h), ["damaged"]);
        let start = format!("damaged: {}, 1,234 times, first at byte 77,000: ", kind.name());
        assert!(lines(&h)[0].starts_with(&start), "{}", lines(&h)[0]);
        assert_eq!((h.damaged[0].kind, h.damaged[0].count, h.damaged[0].bytes), (kind.name(), 1_234, 5));
    }
    let h = health(|m| {
        m.health.damage =
            vec![Damage { kind: DamageKind::UnknownKind, count: 5, bytes: 0, first_offset: 77_000 }];
        m.health.skipped = vec![Skipped { kind: 0x7e, count: 1 }, Skipped { kind: 0x102, count: 3 }];
    });
    assert!(!h.perfect);
    assert_eq!(words(&h), ["skipped"]);
    let start = "skipped: 5 records of unknown kinds (0x7e: 1, 0x102: 3, and others), first at byte 77,000: ";
    assert!(lines(&h)[0].starts_with(start), "{}", lines(&h)[0]);
    let gap = Damage { kind: DamageKind::Gap, count: 9, bytes: 0, first_offset: 0 };
    let h = health(|m| {
        m.health.damage = vec![gap];
        m.health.ledger.as_mut().unwrap().frames_queue_full = 9;
    });
    assert_eq!(words(&h), ["dropped"]);
}

#[test]
fn cut_short_without_totals() {
    let h = health(|m| {
        m.health.end = None;
        m.health.ledger = None;
    });
    assert_eq!((h.perfect, h.cut_short, h.end_reason), (false, true, None));
    assert_eq!(words(&h), ["cut short", "unknown"]);
    assert_eq!((h.dropped, h.spans.kernel, h.spans.unaccounted), (None, None, None));
    assert_eq!(h.spans.received, 18);
}

#[test]
fn spans_after_the_last_totals_make_the_rest_negative() {
    let h = health(|m| {
        m.health.end = None;
        let l = m.health.ledger.as_mut().unwrap();
        (l.span_ends, l.spans_sent) = (10, 10);
    });
    assert_eq!(h.spans.unaccounted, Some(-8));
    assert_eq!(words(&h), ["cut short"]);
}

#[test]
fn a_ledger_that_does_not_add_up_is_named() {
    let h = health(ledger(|l| (l.span_ends, l.spans_sent) = (18, 17)));
    assert!(!h.perfect);
    assert_eq!(words(&h), ["inconsistent"]);
}

#[test]
fn the_worst_comes_first() {
    let h = health(|m| {
        m.health.refused = Some(RefusedPlan { answer: "no\nBPF".into(), ..RefusedPlan::default() });
        m.health.ledger.as_mut().unwrap().spans_ring_full = 1;
        m.health.damage = vec![Damage { kind: DamageKind::Checksum, count: 1, bytes: 1, first_offset: 1 }];
        m.health.end.as_mut().unwrap().reason = EndReason::Error;
        m.session.levels = vec![Level::Token];
    });
    assert_eq!(words(&h), ["refused", "error", "dropped", "damaged", "inconsistent", "off"]);
    assert!(lines(&h)[0].ends_with("no\u{fffd}BPF"));
}

#[test]
fn incomplete_topologies_and_levels_without_events() {
    let h = health(|m| m.topologies.rows[0].complete = false);
    assert!(lines(&h)[0].starts_with("damaged: 1 of 2 graph topologies"), "{:?}", lines(&h));
    let mut m = Model { session: small::model().session, health: small::model().health, ..Model::default() };
    m.health.spans_received = 0;
    m.health.ledger = Some(Ledger::default());
    let h = Analysis::compute(&m).health;
    assert!(matches!(h.remarks[..], [Remark::Ending(_)]), "one remark for all levels: {:?}", h.remarks);
}

#[test]
fn probes_that_are_not_attached() {
    let probe = |level, attached| Probe {
        pid: 1,
        level,
        what: "operator start".into(),
        symbol: "extra".into(),
        library: "libggml-cpu.so".into(),
        offset: 0,
        attached,
        note: "no such symbol".into(),
    };
    let h = health(|m| {
        m.session.probes = vec![
            probe(Some(Level::Op), false),
            probe(Some(Level::Op), false),
            probe(Some(Level::Token), true),
            probe(Some(Level::Token), false),
        ];
    });
    // Token level first: one of two; operators: none at all.
    let why = "operator start at extra in libggml-cpu.so: no such symbol";
    assert_eq!(
        lines(&h),
        [
            format!("not attached: 1 of 2 probes of the token level: {why}"),
            format!("not attached: nothing of the operator level: {why}; and 1 more"),
            "complete: 18 spans, nothing lost".into(),
        ]
    );
}

#[test]
fn foreign_totals_do_not_overflow() {
    let h = health(ledger(|l| {
        l.span_ends = u64::MAX;
        (l.spans_ring_full, l.spans_queue_full, l.spans_no_graph) = (u64::MAX, u64::MAX, u64::MAX);
        l.spans_no_start = u64::MAX;
    }));
    assert_eq!(h.spans.unaccounted, None);
}

#[test]
fn a_counter_of_absent_cores_is_named_unless_others_tell_of_it() {
    let counter = |name: &str, cpus: &[u16], attached: bool| Counter {
        name: name.to_owned(),
        event: 0x11,
        pmu: String::new(),
        cpus: cpus.to_vec(),
        slot: 0,
        attached,
        note: if attached { "" } else { "no CPU online has this core" }.to_owned(),
    };
    let h = health(|m| {
        m.session.counters = vec![
            counter("CPU_CYCLES", &[], false),
            counter("CPU_CYCLES", &[0, 1], true),
            counter("STALL_BACKEND_MEM", &[], false),
            // It is missing on existing CPUs, whatever others count.
            counter("BR_PRED", &[], false),
            counter("BR_PRED", &[0], false),
            counter("BR_PRED", &[1], true),
        ];
    });
    let said = lines(&h);
    let not: Vec<&String> = said.iter().filter(|l| l.starts_with("not counted")).collect();
    assert_eq!(not.len(), 2, "{:?}", lines(&h));
    assert!(not[0].contains("STALL_BACKEND_MEM") && not[1].contains("BR_PRED"), "{not:?}");
}
