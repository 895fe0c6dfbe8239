//! Health: what was lost, and the sentences that say so.
//!
//! Stage: analysis. From: the agent's totals, the damage on the way. To: [`Health`]. Promises: every end of an
//! operator that the kernel saw is received, or counted under one of the other words:
//! `kernel = received + dropped + no_start + unaccounted`.

use serde::Serialize;

use super::health_lines;
use crate::model::{EndReason, ExpertLedger, Model};

/// Health of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Nothing dropped, nothing damaged, not cut short, every operator accounted for.
    pub perfect: bool,
    /// Plain sentences, worst first.
    pub lines: Vec<String>,
    /// Lost at the source; `None` when the agent's totals did not arrive.
    pub dropped: Option<Dropped>,
    /// Damaged on the way, by kind, worst first.
    pub damaged: Vec<Damaged>,
    /// The stream has no end.
    pub cut_short: bool,
    /// Why the session ended; `None` when cut short.
    pub end_reason: Option<&'static str>,
    /// The agent's refusal, when it could not carry out the plan.
    pub refused: Option<String>,
    /// Operator spans, from the kernel to here.
    pub spans: SpanSum,
    /// Experts that routers chose, from the kernel to here; `None` when none was seen and none told of.
    pub experts: Option<ExpertSum>,
}

/// Lost at the source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Spans: those of the next three fields.
    pub spans: u64,
    /// Spans lost because the kernel's ring buffer was full.
    pub ring_full: u64,
    /// Spans lost because the queue to the link was full.
    pub queue_full: u64,
    /// Spans of tensors that belong to no graph whose topology is known.
    pub no_graph: u64,
    /// Probe hits in threads for which the kernel had no room to keep state.
    pub no_state: u64,
    /// Token-level and graph-level events lost because the ring buffer was full.
    pub calls: u64,
    /// Parts of graph topologies lost because the ring buffer was full.
    pub tensors: u64,
    /// Frames dropped at the queue to the link.
    pub frames: u64,
    /// Their bytes.
    pub frame_bytes: u64,
}

/// One kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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

/// Operator spans, from the kernel to here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SpanSum {
    /// Ends of operators that the kernel saw; `None` when the agent's totals did not arrive.
    pub kernel: Option<u64>,
    /// Spans received.
    pub received: u64,
    /// Spans dropped at the source.
    pub dropped: Option<u64>,
    /// Ends of operators that were running already when the probes were attached, or whose graph was when the session ended.
    pub no_start: Option<u64>,
    /// Starts of operators that were still running when the session ended.
    pub no_end: Option<u64>,
    /// The rest: lost on the way. Negative when spans arrived after the last totals of a stream cut short.
    pub unaccounted: Option<i64>,
}

/// Experts that routers chose, one for each token, layer and rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ExpertSum {
    /// Chosen, as the kernel saw it; `None`, as all below that the agent tells, when its totals did not arrive.
    pub chosen: Option<u64>,
    /// In the tables.
    pub kept: u64,
    /// Lost because the kernel's ring buffer was full.
    pub ring_full: Option<u64>,
    /// Lost because the queue to the link was full.
    pub queue_full: Option<u64>,
    /// Not read from the engine's memory.
    pub unreadable: Option<u64>,
    /// Of nodes that belong to no graph whose topology is known.
    pub no_graph: Option<u64>,
    /// Sent, and neither here nor left out as damaged. Negative when some arrived after the last totals of a stream cut short.
    pub unaccounted: Option<i64>,
    /// Positions that never came, whatever the reason, of graph calls of which others did.
    pub missing: u64,
}

impl Health {
    /// The health of a session.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let h = &model.health;
        let spans = span_sum(model);
        let experts = expert_sum(model);
        let mut health = Self {
            perfect: h.perfect()
                && h.refused.is_none()
                && spans.unaccounted == Some(0)
                && experts.is_none_or(|e| e.missing == 0 && e.unaccounted == Some(0)),
            lines: Vec::new(),
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
            cut_short: h.cut_short(),
            end_reason: h.end.map(|e| reason_name(e.reason)),
            refused: h.refused.clone(),
            spans,
            experts,
        };
        health.lines = health_lines::lines(model, &health);
        health
    }
}

fn dropped(model: &Model) -> Option<Dropped> {
    model.health.ledger.map(|l| Dropped {
        spans: l.spans_ring_full.saturating_add(l.spans_queue_full).saturating_add(l.spans_no_graph),
        ring_full: l.spans_ring_full,
        queue_full: l.spans_queue_full,
        no_graph: l.spans_no_graph,
        no_state: l.no_state,
        calls: l.calls_ring_full,
        tensors: l.tensors_ring_full,
        frames: l.frames_queue_full,
        frame_bytes: l.bytes_queue_full,
    })
}

fn span_sum(model: &Model) -> SpanSum {
    let received = model.health.spans_received;
    let (Some(l), Some(dropped)) = (model.health.ledger, dropped(model)) else {
        return SpanSum { received, ..SpanSum::default() };
    };
    // In 128 bits nothing overflows, whatever a damaged or foreign stream claims.
    let unaccounted = i128::from(l.span_ends)
        - i128::from(received)
        - i128::from(dropped.spans)
        - i128::from(l.spans_no_start);
    SpanSum {
        kernel: Some(l.span_ends),
        received,
        dropped: Some(dropped.spans),
        no_start: Some(l.spans_no_start),
        no_end: Some(l.spans_no_end),
        unaccounted: i64::try_from(unaccounted).ok(),
    }
}

fn expert_sum(model: &Model) -> Option<ExpertSum> {
    let (kept, missing) = (model.experts.len() as u64, model.experts.missing);
    let of = |l: ExpertLedger| ExpertSum {
        chosen: Some(l.chosen),
        kept,
        ring_full: Some(l.ring_full),
        queue_full: Some(l.queue_full),
        unreadable: Some(l.unreadable),
        no_graph: Some(l.no_graph),
        unaccounted: i64::try_from(i128::from(l.sent) - i128::from(l.received)).ok(),
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
