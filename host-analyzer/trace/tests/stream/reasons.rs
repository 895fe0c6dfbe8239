//! One total may have several reasons: `LossReasons` distinguishes them, and each is counted once.

use profinfer_analysis::Analysis;
use profinfer_analysis::health::{Late, Remark, RingStalls};

use crate::whole_session::{damage, model, without_end};
use profinfer_trace::test_support::bytes::Fields;
use profinfer_trace::test_support::records::Record;

const PID: u64 = 500;

/// Totals of 40 ends of operators: 20 have no graph, 15 no start, and 5 found the ring full.
fn loss() -> Record {
    let totals = [5_000, 25, 40, 0, 5, 0, 15, 0, 20, 0, 0, 0, 0, 0];
    (0x7e, totals.into_iter().fold(Fields::default(), Fields::uint).0)
}

/// Empty, in graphs too large and unreadable, damaged; graphs too large and unreadable; stalls of
/// the ring, and the longest.
fn reasons(totals: [u64; 8]) -> Record {
    (0x7a, totals.into_iter().fold(Fields::default().uint(5_000), Fields::uint).0)
}

/// A process that the agent found at `at` and that had begun at `since`.
fn late(at: u64, since: u64) -> Record {
    let f = Fields::default().uint(at).byte(9).uint(PID).uint(0).maybe(None).maybe(None).uint(since);
    (0x78, f.text("").0)
}

#[test]
fn one_total_is_told_by_its_reasons() {
    let m = without_end(&[reasons([9, 8, 6, 1, 2, 3, 0, 0]), loss()]);
    assert_eq!(damage(&m), []);
    let health = Analysis::compute(&m).health;
    let s = health.spans;
    let sum = (s.kernel, s.received, s.empty, s.no_start, s.dropped, s.unaccounted);
    assert_eq!(sum, (Some(40), 0, Some(9), Some(6), Some(25), Some(0)));
    let l = health.dropped.unwrap().ledger;
    let dropped =
        [l.spans_ring_full, l.spans_no_graph, l.spans_too_large, l.spans_unreadable, l.spans_damaged];
    assert_eq!(dropped, [5, 5, 8, 6, 1]);
}

#[test]
fn stalls_of_the_ring_are_counted_and_said_where_it_was_full() {
    let said = |middle: &[Record]| {
        let health = Analysis::compute(&without_end(middle)).health;
        assert_eq!(health.ring_stalls, Some(RingStalls { count: 3, longest_ns: 7_000_000 }));
        health.remarks.iter().any(|r| matches!(r, Remark::RingStalled(_)))
    };
    let stalled = reasons([0, 0, 0, 0, 0, 0, 3, 7_000_000]);
    assert!(said(&[stalled.clone(), loss()]));
    assert!(!said(&[stalled]));
}

#[test]
fn a_process_that_was_met_late_is_named() {
    let health = Analysis::compute(&model(&[late(3_000, 2_000)])).health;
    assert_eq!(health.late, [Late { pid: PID as u32, after_ns: 1_000 }]);
    assert!(!health.perfect);
    assert!(health.remarks.iter().any(|r| matches!(r, Remark::MetLate(l) if l.pid == PID as u32)));
    assert!(!health.remarks.iter().any(|r| matches!(r, Remark::Complete { .. })));
}
