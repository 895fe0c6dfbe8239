//! What the measuring itself cost.
//!
//! Stage: analysis. From: health. To: [`Cost`].

use serde::Serialize;

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
    /// Run time of the BPF programs by the kernel's bpf_stats, ns; `None` when not measured.
    pub bpf_run_ns: Option<u64>,
    /// Runs of the BPF programs; `None` when not measured.
    pub bpf_runs: Option<u64>,
    /// CPU time of the agent, ns; `None` without its closing words.
    pub agent_cpu_ns: Option<u64>,
    /// Largest resident set of the agent, bytes; `None` without its closing words.
    pub agent_rss_bytes: Option<u64>,
}

impl Cost {
    /// The cost of a session.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let h = &model.health;
        let measured = h.end.filter(|e| e.bpf_runs != 0);
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
            agent_cpu_ns: h.end.map(|e| e.agent_cpu_ns),
            agent_rss_bytes: h.end.map(|e| e.agent_rss_bytes),
        }
    }
}
