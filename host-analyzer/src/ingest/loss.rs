//! The agent's totals and closing words.

use profinfer_wire::record::cost;
use profinfer_wire::record::loss::{self as wire, Loss};

use crate::model::{End, EndReason, Health, Ledger, ProbeCost};

pub(super) const fn ledger(r: &Loss) -> Ledger {
    Ledger {
        at_ns: r.at_ns,
        span_starts: r.span_starts,
        span_ends: r.span_ends,
        spans_sent: r.spans_sent,
        spans_ring_full: r.spans_ring_full,
        spans_queue_full: r.spans_queue_full,
        spans_no_start: r.spans_no_start,
        spans_no_end: r.spans_no_end,
        spans_no_graph: r.spans_no_graph,
        calls_ring_full: r.calls_ring_full,
        tensors_ring_full: r.tensors_ring_full,
        frames_queue_full: r.frames_queue_full,
        bytes_queue_full: r.bytes_queue_full,
        no_state: r.no_state,
    }
}

/// Whether spans of a thread may be missing between others of the same thread.
pub(super) const fn spans_may_be_missing(l: &Ledger) -> bool {
    l.spans_dropped() > 0 || l.spans_no_start > 0 || l.spans_no_end > 0 || !l.balances()
}

/// Whether calls may be missing between others.
pub(super) const fn calls_may_be_missing(l: &Ledger) -> bool {
    l.calls_ring_full > 0 || l.frames_queue_full > 0
}

pub(super) const fn probe_cost(r: &cost::ProbeCost) -> ProbeCost {
    ProbeCost { pairs: r.pairs, pair_ns: r.pair_ns, inside_ns: r.inside_ns }
}

pub(super) fn end(health: &mut Health, r: &wire::End) {
    health.ledger = Some(ledger(&r.loss));
    health.end = Some(End {
        reason: match r.reason {
            wire::EndReason::EngineEnded => EndReason::EngineEnded,
            wire::EndReason::HostStopped => EndReason::HostStopped,
            wire::EndReason::Interrupted => EndReason::Interrupted,
            wire::EndReason::Error => EndReason::Error,
        },
        frames: r.frames,
        bpf_run_ns: r.bpf_run_ns,
        bpf_runs: r.bpf_runs,
        agent_cpu_ns: r.agent_cpu_ns,
        agent_rss_bytes: r.agent_rss_bytes,
    });
}
