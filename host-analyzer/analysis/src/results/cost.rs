//! Cost of tracing itself.
//!
//! Stage: after the ladder. From: health, times of traced and untraced calls, the probes' step. To: [`Cost`].

use super::batch_probes;
use super::duty::Slowdown;
use super::fact::Conditions;
use crate::ladder::{Ladders, Question};
use crate::replay::Replay;
use crate::shared::phase::Phases;
use profinfer_trace::model::Model;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    pub stream_bytes: u64,
    /// Bytes of the frames that carried spans, on the wire; `None` when there were none.
    pub span_bytes: Option<u64>,
    /// Spans received.
    pub spans: u64,
    /// Bytes on the wire per span; `None` without spans.
    pub bytes_per_span: Option<f64>,
    /// Run time of the BPF programs in a sample of the session, by the kernel's bpf_stats, ns;
    /// `None` when not measured.
    pub bpf_run_ns: Option<u64>,
    /// Runs in that sample; `None` when not measured.
    pub bpf_runs: Option<u64>,
    /// Time that the two probes of an operator take from a thread, ns: traps and programs included.
    /// The agent measured it on itself before it traced. `None` when not measured.
    pub probe_pair_ns: Option<u64>,
    /// The part of it within the operator's measured time: an empty operator seems to take this
    /// long.
    pub probe_inside_ns: Option<u64>,
    /// The value of [`Slowdown::Estimated`]; `None` where the slowdown was measured or is unknown.
    pub decode_slowdown: Option<f64>,
    /// Hits of the probes on functions that fill a batch, take an output or edit the memory; `None` without any.
    pub batch_hits: Option<u64>,
    /// Time of these hits, ns: estimated, each as half of a pair of probes.
    pub batch_probes_ns: Option<u64>,
    /// Slowdown of decode calls.
    pub slowdown: Slowdown,
    /// CPU time of the agent, ns; `None` without its end record.
    pub agent_cpu_ns: Option<u64>,
    /// Largest resident set of the agent, bytes; `None` without its end record.
    pub agent_rss_bytes: Option<u64>,
}

impl Cost {
    #[must_use]
    pub fn compute(
        model: &Model,
        conditions: &Conditions,
        phases: &Phases,
        replay: &Replay,
        ladders: &Ladders,
    ) -> Self {
        let h = &model.health;
        let measured = h.end.filter(|e| e.bpf_runs != 0);
        let slowdown = Slowdown::compute(model, phases, replay, ladders.of(Question::Decode));
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
            decode_slowdown: match slowdown {
                Slowdown::Estimated { slowdown, .. } => Some(slowdown),
                Slowdown::Measured(_) | Slowdown::Unknown => None,
            },
            batch_hits: batch_probes::hits(conditions),
            batch_probes_ns: batch_probes::ns(model, conditions),
            slowdown,
            agent_cpu_ns: h.end.map(|e| e.agent_cpu_ns),
            agent_rss_bytes: h.end.map(|e| e.agent_rss_bytes),
        }
    }
}
