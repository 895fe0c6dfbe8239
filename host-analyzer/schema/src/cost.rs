//! `cost`: the profiler's own cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::slowdown::Slowdown;

/// Cost of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Bytes of the stream.
    pub stream_bytes: u64,
    /// Bytes of the frames that carried spans, as they are on the wire; `null` when there were
    /// none.
    pub span_bytes: Option<u64>,
    /// Spans received.
    pub spans: u64,
    /// Bytes on the wire per span; `null` without spans.
    pub bytes_per_span: Option<f64>,
    /// Run time of the BPF programs by the kernel's bpf_stats in a sample of the session, ns;
    /// `null` when not measured.
    pub bpf_run_ns: Option<u64>,
    /// Runs in that sample; `null` when not measured.
    pub bpf_runs: Option<u64>,
    /// Time that the two probes of an operator take from a thread, ns, as the agent measured it on
    /// itself before it traced: traps, programs and all; `null` when not measured.
    pub probe_pair_ns: Option<u64>,
    /// The part of it that lies inside the operator's time: an operator that does nothing seems to
    /// take as long.
    pub probe_inside_ns: Option<u64>,
    /// The estimate of `Slowdown::Estimated`; `null` where the slowdown is measured, or not known.
    pub decode_slowdown: Option<f64>,
    /// Slowdown of decode calls.
    pub slowdown: Slowdown,
    /// CPU time of the agent, ns; `null` without its closing words.
    pub agent_cpu_ns: Option<u64>,
    /// Largest resident set of the agent, bytes; `null` without its closing words.
    pub agent_rss_bytes: Option<u64>,
}
