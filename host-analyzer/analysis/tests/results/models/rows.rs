//! Rows of the model's tables, with the usual values in all fields that a test does not set.

use profinfer_trace::model::*;
use profinfer_trace::test_support::tables::Spec;
use proptest::prelude::*;

/// A node without bytes and sources.
pub(crate) fn tensor(texts: &mut Texts, name: &str, op: &str, dtype: &str) -> Node {
    Node {
        name: texts.intern(name),
        op: texts.intern(op),
        desc: texts.intern(op),
        dtype: texts.intern(dtype),
        role: Role::Node,
        ne: [1; 4],
        bytes: 0,
        address: 0,
        data: 0,
        buffer: None,
        view_of: None,
        src: Vec::new(),
    }
}

/// Sources in consecutive slots, from 0.
pub(crate) fn sources(nodes: &[u32]) -> Vec<(u8, NodeIdx)> {
    (0..).zip(nodes.iter().copied().map(NodeIdx)).collect()
}

/// Removes the spans that are not in `kept`.
pub(crate) fn keep_spans(spans: &mut Spans, kept: &[bool]) {
    fn only<T>(column: &mut Vec<T>, kept: &[bool]) {
        let mut rows = kept.iter();
        column.retain(|_| *rows.next().unwrap());
    }
    only(&mut spans.graph_call, kept);
    only(&mut spans.thread, kept);
    only(&mut spans.node, kept);
    only(&mut spans.last_node, kept);
    only(&mut spans.start_ns, kept);
    only(&mut spans.work_ns, kept);
    only(&mut spans.wait_ns, kept);
    only(&mut spans.cpu, kept);
    only(&mut spans.migrated, kept);
}

/// A ceiling of five equal repetitions, one thread on each of the CPUs.
pub(crate) fn ceiling(kind: CeilingKind, cpus: &[u16], median: u64) -> Ceiling {
    Ceiling {
        kind,
        core: String::new(),
        cpus: cpus.to_vec(),
        how: String::new(),
        repeats: 5,
        median,
        min: median,
        max: median,
        note: String::new(),
        points: Vec::new(),
        load: None,
        source: CeilingSource::Recording,
    }
}

prop_compose! {
    pub(crate) fn spec()(
        seed in any::<u64>(), contexts in 1_u32..4, requests in 1_u32..4, tokens in 0_u32..8,
        layers in 1_u32..4, threads in 1_u32..5, splits in 1_u32..4,
    ) -> Spec {
        Spec { seed, contexts, requests, tokens, layers, threads, splits }
    }
}
