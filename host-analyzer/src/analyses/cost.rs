//! What the measuring itself cost.
//!
//! Stage: analysis. From: health, executions. To: [`Cost`].

use serde::Serialize;

use super::execution::Executions;
use super::phase::{Phase, Phases};
use super::token::Token;
use crate::model::Model;

/// Cost of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Bytes of the stream.
    pub stream_bytes: u64,
    /// Bytes of the frames that carried spans, as they are on the wire; `None` when there were none.
    pub span_bytes: Option<u64>,
    /// Spans received.
    pub spans: u64,
    /// Bytes on the wire per span; `None` without spans.
    pub bytes_per_span: Option<f64>,
    /// Run time of the BPF programs by the kernel's bpf_stats in a sample of the session, ns; `None` when not measured.
    pub bpf_run_ns: Option<u64>,
    /// Runs in that sample; `None` when not measured.
    pub bpf_runs: Option<u64>,
    /// Time that the two probes of an operator take from a thread, ns, as the agent measured it on itself before it
    /// traced: traps, programs and all; `None` when not measured.
    pub probe_pair_ns: Option<u64>,
    /// The part of it that lies inside the operator's time: an operator that does nothing seems to take as long.
    pub probe_inside_ns: Option<u64>,
    /// Estimated slowdown of decode calls: `p / (t - p)`, where t is their time and p the pairs of probes in them. The
    /// threads pass the probes of an operator side by side, so an operator counts once. Without what the agent takes
    /// from the engine's CPUs, and what the probes do to its caches. `None` without a measured pair, or decode calls.
    pub decode_slowdown: Option<f64>,
    /// CPU time of the agent, ns; `None` without its closing words.
    pub agent_cpu_ns: Option<u64>,
    /// Largest resident set of the agent, bytes; `None` without its closing words.
    pub agent_rss_bytes: Option<u64>,
}

impl Cost {
    /// The cost of a session.
    #[must_use]
    pub fn of(model: &Model, phases: &Phases, executions: &Executions, token: &Token) -> Self {
        let h = &model.health;
        let measured = h.end.filter(|e| e.bpf_runs != 0);
        let decode = token.decode.time_ns;
        let in_decode = executions
            .by_call()
            .filter(|(call, _)| phases.graph_calls[call.0 as usize] == Phase::Decode)
            .map(|(_, rows)| rows.len() as u64)
            .sum::<u64>();
        let span_bytes = (h.span_bytes != 0).then_some(h.span_bytes);
        Self {
            stream_bytes: h.bytes,
            span_bytes,
            spans: h.spans_received,
            bytes_per_span: span_bytes
                .filter(|_| h.spans_received != 0)
                .map(|b| b as f64 / h.spans_received as f64),
            bpf_run_ns: measured.map(|e| e.bpf_run_ns),
            bpf_runs: measured.map(|e| e.bpf_runs),
            probe_pair_ns: h.probe_cost.map(|c| c.pair_ns),
            probe_inside_ns: h.probe_cost.map(|c| c.inside_ns),
            decode_slowdown: h
                .probe_cost
                .map(|c| c.pair_ns.saturating_mul(in_decode))
                .filter(|probes| *probes > 0 && *probes < decode)
                .map(|probes| probes as f64 / (decode - probes) as f64),
            agent_cpu_ns: h.end.map(|e| e.agent_cpu_ns),
            agent_rss_bytes: h.end.map(|e| e.agent_rss_bytes),
        }
    }
}
