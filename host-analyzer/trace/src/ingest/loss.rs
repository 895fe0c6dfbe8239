//! The agent's totals and its end record.

use profinfer_wire::record::cost;
use profinfer_wire::record::loss as wire;

use crate::model::totals::{Gap, Totals};
use crate::model::{End, Health, Ledger, ProbeCost};

/// The agent's totals. The records of left-out spans and of partial sums precede the record that
/// they complete.
pub(super) fn ledger(health: &mut Health, r: &wire::Loss) {
    let capture = health.capture.unwrap_or_default();
    let left_out = [("spans_filtered", capture.spans_filtered), ("spans_gated", capture.spans_gated)];
    let why = health.reasons.unwrap_or_default();
    let parts = [
        ("spans_empty", why.spans_empty),
        ("spans_too_large", why.spans_too_large),
        ("spans_unreadable", why.spans_unreadable),
        ("spans_damaged", why.spans_damaged),
    ];
    let mut ledger = Ledger::read(&[&r.fields()[..], &left_out, &parts].concat());
    ledger.spans_no_start = ledger.spans_no_start.saturating_sub(ledger.spans_empty);
    for part in [ledger.spans_too_large, ledger.spans_unreadable, ledger.spans_damaged] {
        ledger.spans_no_graph = ledger.spans_no_graph.saturating_sub(part);
    }
    health.ledger = Some(ledger);
}

/// Whether spans of a thread may be missing between others of the same thread.
pub(super) fn spans_may_be_missing(l: &Ledger) -> bool {
    l.lost_between(Gap::Spans) > 0 || l.edges().any(|(_, n)| n > 0) || !l.balances()
}

/// Whether calls may be missing between others.
pub(super) fn calls_may_be_missing(l: &Ledger) -> bool {
    l.lost_between(Gap::Calls) > 0
}

pub(super) const fn probe_cost(r: &cost::ProbeCost) -> ProbeCost {
    ProbeCost { pairs: r.pairs, pair_ns: r.pair_ns, inside_ns: r.inside_ns }
}

pub(super) fn end(health: &mut Health, r: &wire::End) {
    ledger(health, &r.loss);
    health.end = Some(End {
        reason: r.reason.into(),
        frames: r.frames,
        bpf_run_ns: r.bpf_run_ns,
        bpf_runs: r.bpf_runs,
        agent_cpu_ns: r.agent_cpu_ns,
        agent_rss_bytes: r.agent_rss_bytes,
    });
}

#[cfg(test)]
mod tests {
    use profinfer_wire::record::{
        capture::CaptureLoss, cpu_use::CpuUseLoss, expert::ExpertLoss, loss::Loss, loss::LossReasons,
        nested::NestedLoss, part::PartLoss, sched::SchedLoss,
    };

    use super::*;
    use crate::model::{
        CaptureLedger, CpuUseLedger, ExpertLedger, NestedLedger, PartLedger, ReasonLedger, SchedLedger,
    };

    /// Fields of the record without a row in the ledger, and rows without a field in the record.
    fn strangers<L: Totals>(fields: &[(&'static str, u64)]) -> Vec<&'static str> {
        let (fields, rows) = (|| fields.iter().map(|f| f.0), || L::ROWS.iter().map(|r| r.name));
        let without_row = fields().filter(|f| rows().all(|r| r != *f));
        without_row.chain(rows().filter(|r| fields().all(|f| f != *r))).collect()
    }

    #[test]
    fn ledgers_have_the_fields_of_their_records() {
        // In the accompanying record.
        let elsewhere = [
            "spans_too_large",
            "spans_unreadable",
            "spans_damaged",
            "spans_empty",
            "spans_filtered",
            "spans_gated",
        ];
        assert_eq!(strangers::<Ledger>(&Loss::default().fields()), elsewhere);
        assert_eq!(strangers::<ReasonLedger>(&LossReasons::default().fields()), [""; 0]);
        assert_eq!(strangers::<CaptureLedger>(&CaptureLoss::default().fields()), [""; 0]);
        assert_eq!(strangers::<NestedLedger>(&NestedLoss::default().fields()), [""; 0]);
        assert_eq!(strangers::<SchedLedger>(&SchedLoss::default().fields()), [""; 0]);
        assert_eq!(strangers::<CpuUseLedger>(&CpuUseLoss::default().fields()), [""; 0]);
        // Counted here.
        assert_eq!(strangers::<ExpertLedger>(&ExpertLoss::default().fields()), ["received"]);
        assert_eq!(strangers::<PartLedger>(&PartLoss::default().fields()), ["received"]);
    }
}
