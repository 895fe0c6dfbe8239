//! What was lost, in figures.

use super::remark::{Late, Remark, RingStalls};
use profinfer_trace::model::{EndReason, EndingKind, ExpertLedger, Ledger, Model, RefusedPlan};

/// Health of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Health {
    /// Nothing dropped, nothing damaged, not cut short, every operator accounted for.
    pub perfect: bool,
    /// What there is to say, worst first; never empty.
    pub remarks: Vec<Remark>,
    /// Lost at the source; `None` when the agent's totals did not arrive.
    pub dropped: Option<Dropped>,
    /// Damaged on the way, by kind, worst first.
    pub damaged: Vec<Damaged>,
    /// Records of a newer agent that this build does not know, by kind.
    pub skipped: Vec<SkippedKind>,
    /// The stream has no end.
    pub cut_short: bool,
    /// Why the session ended; `None` when cut short.
    pub end_reason: Option<&'static str>,
    /// The agent's refusal, when it could not carry out the plan.
    pub refused: Option<RefusedPlan>,
    /// Operator spans, from the kernel to here.
    pub spans: SpanSum,
    /// Experts that routers chose, from the kernel to here; `None` when none was seen and none told of.
    pub experts: Option<ExpertSum>,
    /// What held up the reader of the kernel's ring buffer; `None` from agents that do not count it.
    pub ring_stalls: Option<RingStalls>,
    /// Processes whose first calls may be missing.
    pub late: Vec<Late>,
}

/// Lost at the source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Operator spans, for whichever reason.
    pub spans: u64,
    /// Everything, by reason.
    pub ledger: Ledger,
}

/// One kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged {
    /// Kind, in words.
    pub kind: &'static str,
    /// How often.
    pub count: u64,
    /// Bytes that it cost, where that can be told.
    pub bytes: u64,
    /// Offset in the stream where it was first met.
    pub first_offset: u64,
}

/// Records of one kind that this build does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkippedKind {
    /// The kind's number (docs/wire-format.md).
    pub kind: u16,
    /// How many.
    pub count: u64,
}

/// Operator spans, from the kernel to here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpanSum {
    /// Ends of operators that the kernel saw; `None` when the agent's totals did not arrive.
    pub kernel: Option<u64>,
    /// Spans received.
    pub received: u64,
    /// Spans dropped at the source.
    pub dropped: Option<u64>,
    /// Spans that filters and the duty left out, as it was asked for: not lost.
    pub left_out: Option<u64>,
    /// Ends of nodes without elements, which the engine does not compute: nothing to record.
    pub empty: Option<u64>,
    /// Ends of operators that were running already when the probes were attached, or whose graph was when the session ended.
    pub no_start: Option<u64>,
    /// Starts of operators that were still running when the session ended.
    pub no_end: Option<u64>,
    /// The rest, without those in the pieces before: lost on the way. Negative when spans arrived after the last totals of a stream cut short.
    pub unaccounted: Option<i64>,
}

/// Experts that routers chose, one for each token, layer and rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExpertSum {
    /// Chosen, as the kernel saw it; `None`, as all below that the agent tells, when its totals did not arrive.
    pub chosen: Option<u64>,
    /// In the tables.
    pub kept: u64,
    /// Lost at the source, by reason; `None` when the agent's totals did not arrive.
    pub ledger: Option<ExpertLedger>,
    /// Sent, and neither here nor left out as damaged. Negative when some arrived after the last totals of a stream cut short.
    pub unaccounted: Option<i64>,
    /// Positions that never came, whatever the reason, of graph calls of which others did.
    pub missing: u64,
}

impl Health {
    /// The sums, without remarks.
    pub(super) fn sums(model: &Model) -> Self {
        let h = &model.health;
        let spans = span_sum(model);
        let experts = expert_sum(model);
        let late: Vec<Late> = late(model).collect();
        Self {
            perfect: h.perfect()
                && late.is_empty()
                && h.refused.is_none()
                && spans.unaccounted == Some(0)
                && experts.is_none_or(|e| e.missing == 0 && e.unaccounted == Some(0)),
            remarks: Vec::new(),
            dropped: dropped(model),
            damaged: h
                .damage
                .iter()
                .map(|d| Damaged {
                    kind: d.kind.name(),
                    count: d.count,
                    bytes: d.bytes,
                    first_offset: d.first_offset,
                })
                .collect(),
            skipped: h.skipped.iter().map(|s| SkippedKind { kind: s.kind, count: s.count }).collect(),
            cut_short: h.cut_short(),
            end_reason: h.end.map(|e| reason_name(e.reason)),
            refused: h.refused.clone(),
            spans,
            experts,
            late,
            ring_stalls: h.reasons.map(|r| RingStalls { count: r.ring_stalls, longest_ns: r.ring_stall_ns }),
        }
    }
}

fn late(model: &Model) -> impl Iterator<Item = Late> + '_ {
    let rows = model.endings.iter().filter(|row| row.kind == EndingKind::Late);
    rows.map(|row| Late { pid: row.pid, after_ns: row.at_ns.saturating_sub(row.since_ns) })
}

fn dropped(model: &Model) -> Option<Dropped> {
    model.health.ledger.map(|l| Dropped { spans: l.dropped(), ledger: l })
}

fn span_sum(model: &Model) -> SpanSum {
    let received = model.health.spans_received;
    let (Some(l), Some(dropped)) = (model.health.ledger, dropped(model)) else {
        return SpanSum { received, ..SpanSum::default() };
    };
    // In 128 bits nothing overflows, whatever a damaged or foreign stream claims.
    let unaccounted = i128::from(l.span_ends)
        - i128::from(received)
        - i128::from(model.health.before().spans)
        - i128::from(dropped.spans)
        - i128::from(l.left_out())
        - i128::from(l.spans_empty)
        - i128::from(l.spans_no_start);
    SpanSum {
        kernel: Some(l.span_ends),
        received,
        dropped: Some(dropped.spans),
        left_out: Some(l.left_out()),
        empty: Some(l.spans_empty),
        no_start: Some(l.spans_no_start),
        no_end: Some(l.spans_no_end),
        unaccounted: i64::try_from(unaccounted).ok(),
    }
}

fn expert_sum(model: &Model) -> Option<ExpertSum> {
    let (kept, missing) = (model.experts.len() as u64, model.experts.missing);
    let before = i128::from(model.health.before().experts);
    let of = |l: ExpertLedger| ExpertSum {
        chosen: Some(l.chosen),
        kept,
        ledger: Some(l),
        unaccounted: i64::try_from(i128::from(l.sent) - i128::from(l.received) - before).ok(),
        missing,
    };
    let untold = (kept > 0).then_some(ExpertSum { kept, missing, ..ExpertSum::default() });
    model.health.experts.map(of).or(untold)
}

const fn reason_name(reason: EndReason) -> &'static str {
    match reason {
        EndReason::EngineEnded => "engine ended",
        EndReason::HostStopped => "host stopped",
        EndReason::Interrupted => "interrupted",
        EndReason::Error => "error",
    }
}
