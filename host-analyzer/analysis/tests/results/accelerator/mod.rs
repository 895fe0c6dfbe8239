//! Profiles of accelerator backends: parsed, joined to the nodes, and next to the host times.

mod formats;
mod hostile;
mod joins;
mod real;

use profinfer_analysis::Analysis;
use profinfer_trace::ingest::accelerator;
use profinfer_trace::model::{AcceleratorProfile, GraphCalls, Layer, Model};

use crate::models::small;

pub(crate) fn profile(text: &str) -> AcceleratorProfile {
    accelerator::read("profile", text.as_bytes()).unwrap()
}

/// The small session, with both decode calls repeated on this backend, without recorded operators.
pub(crate) fn split(backend: &str) -> Model {
    let mut m = small::model();
    let backend = m.texts.intern(backend);
    let calls = (0..m.graph_calls.len())
        .filter(|i| m.graph_calls.layer[*i] == Layer::Backend && m.graph_calls.n_tokens[*i] == 1)
        .collect::<Vec<_>>();
    assert_eq!(calls.len(), 2);
    for i in calls {
        let g: &mut GraphCalls = &mut m.graph_calls;
        g.start_ns.push(g.start_ns[i] + g.duration_ns[i]);
        g.duration_ns.push(40);
        g.layer.push(Layer::Backend);
        g.backend.push(backend);
        g.topology.push(g.topology[i]);
        g.n_nodes.push(5);
        g.n_tokens.push(1);
        g.n_past.push(g.n_past[i]);
        g.thread.push(g.thread[i]);
        g.decode.push(g.decode[i]);
        g.parent.push(g.parent[i]);
    }
    m
}

/// That session with a profile that covers every key: kernels of one shape, of several, fused, and
/// without a node.
pub(crate) fn everything() -> Model {
    let mut m = split("Vulkan");
    m.accelerators = vec![profile(joins::VULKAN)];
    m
}

/// The results of that session with these profiles.
pub(crate) fn joined(backend: &str, profiles: &[&str]) -> Analysis {
    let mut m = split(backend);
    m.accelerators = profiles.iter().map(|text| profile(text)).collect();
    accelerator::pair(&mut m.accelerators);
    Analysis::compute(&m)
}
