//! The examples of clocks, losses and the end.

use profinfer_wire::record::Record;
use profinfer_wire::record::clock::Clock;
use profinfer_wire::record::direct::DirectLoss;
use profinfer_wire::record::loss::{End, EndReason, Loss, LossReasons};

pub(super) const LOSS: Loss = Loss {
    at_ns: 5_000_000_000,
    span_starts: 1001,
    span_ends: 1000,
    spans_sent: 990,
    spans_ring_full: 5,
    spans_queue_full: 3,
    spans_no_start: 2,
    spans_no_end: 1,
    spans_no_graph: 0,
    calls_ring_full: 0,
    tensors_ring_full: 0,
    frames_queue_full: 1,
    bytes_queue_full: 700,
    no_state: 0,
};

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let clock = Clock { monotonic_ns: 1, boottime_ns: 300, realtime_ns: 1_790_000_000_000_000_000 };
    check("clock", &Record::Clock(clock));
    let loss = DirectLoss {
        at_ns: 5_000_000_100,
        records: 1001,
        ring_full: 300,
        no_slot: 2,
        clamped: 1,
        clock_error_ns: 45,
    };
    check("direct loss", &Record::DirectLoss(loss));
    let reasons = LossReasons {
        at_ns: 5_000_000_000,
        spans_empty: 118,
        spans_too_large: 40,
        spans_unreadable: 3,
        spans_damaged: 1,
        graphs_too_large: 2,
        graphs_unreadable: 1,
        ring_stalls: 4,
        ring_stall_ns: 12_000_000,
    };
    check("loss reasons", &Record::LossReasons(reasons));
    check("loss", &Record::Loss(LOSS));
    let end = End {
        reason: EndReason::EngineEnded,
        frames: 17,
        loss: LOSS,
        bpf_run_ns: 0,
        bpf_runs: 0,
        agent_cpu_ns: 360_000_000,
        agent_rss_bytes: 13_000_000,
    };
    check("end", &Record::End(end));
}
