//! `cost`: the cost of the profiler.

use super::Publish;
use profinfer_analysis::cost;

fields! {
    cost::Cost => Cost {
        stream_bytes, span_bytes, spans, bytes_per_span, bpf_run_ns, bpf_runs, probe_pair_ns,
        probe_inside_ns, batch_hits, batch_probes_ns, decode_slowdown, slowdown, agent_cpu_ns, agent_rss_bytes,
    }
}
