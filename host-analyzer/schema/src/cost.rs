//! `cost`: overhead of the profiler.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::slowdown::Slowdown;

/// Overhead of the profiler. No other figure is corrected by it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Size of the stream, bytes.
    pub stream_bytes: u64,
    /// Size of the frames with spans, bytes on the wire; `null` without such frames.
    pub span_bytes: Option<u64>,
    /// Spans received.
    pub spans: u64,
    /// Bytes on the wire per span; `null` without spans.
    pub bytes_per_span: Option<f64>,
    /// Run time of the BPF programs in a sample of 1/20 of the session, ns, from the kernel's
    /// bpf_stats; `null` if not measured.
    pub bpf_run_ns: Option<u64>,
    /// Runs of the BPF programs in that sample; `null` if not measured.
    pub bpf_runs: Option<u64>,
    /// Time that the two probes of an operator cost a thread, ns, including traps and programs. The
    /// agent measures it on a function of its own code before it traces; `null` if not measured.
    pub probe_pair_ns: Option<u64>,
    /// Part of `probe_pair_ns` that is within the operator's time, ns: the apparent duration of an
    /// operator that does nothing.
    pub probe_inside_ns: Option<u64>,
    /// Hits of the probes on functions that fill a batch (`llama_batch_ext_*`), take an output
    /// (`llama_get_logits_ith`) or edit the memory (`llama_memory_seq_rm`); `null` without any.
    pub batch_hits: Option<u64>,
    /// Estimated time of these hits, ns: each as half of `probe_pair_ns`. It lies between calls.
    pub batch_probes_ns: Option<u64>,
    /// Estimated slowdown, see `slowdown`; `null` if the slowdown is measured or unknown.
    pub decode_slowdown: Option<f64>,
    /// Slowdown of decode calls.
    pub slowdown: Slowdown,
    /// CPU time of the agent, ns; `null` if its final totals are missing.
    pub agent_cpu_ns: Option<u64>,
    /// Peak resident memory of the agent while it traced, bytes, without the pages of engine files
    /// that it holds while it examines them; `null` if its final totals are missing.
    pub agent_rss_bytes: Option<u64>,
}
