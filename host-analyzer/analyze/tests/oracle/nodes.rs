//! Node sequences, names, types, dimensions, edges, tokens and times against the engine's own list, for a dense
//! and an MoE model, prefill and decode, on engines two years apart.

use profinfer_analysis::Analysis;
use profinfer_trace::model::{GraphCallId, Layer, Model, Topology};

use crate::engine_list::{Call, Listed, parse};
use crate::support::{Parts, engine, model, on_engines, parts, record, whole};

/// Operators that only describe memory.
pub(crate) const VIEWS: [&str; 5] = ["NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE"];

fn check(parts: &Parts, engine_variable: &str, name: &str) {
    let Some(bin) = engine(engine_variable) else { return };
    let nodes = bin.join("nodes");
    let gguf = model(parts, name);
    let command =
        [nodes.to_str().unwrap(), "-m", &gguf, "-t", "2", "-p", "5", "-n", "3", "-c", "512", "--list"];
    let (trace, output) = record(parts, &[], &command);
    let calls = parse(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(calls.len(), 4, "prefill and three decodes");
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    check_trace(&trace, &calls, name);
    check_context(&trace, &calls);
}

/// The trace of a run matches the engine's own list of that run.
pub(crate) fn check_trace(trace: &Model, calls: &[Call], name: &str) {
    check_nodes(trace, calls, name);
    check_sums(trace);
}

/// The same without sums of times.
pub(crate) fn check_nodes(trace: &Model, calls: &[Call], name: &str) {
    whole(trace);
    check_calls(trace, calls);
    for (i, call) in calls.iter().enumerate() {
        let graphs: Vec<GraphCallId> = backend_calls(trace, i);
        assert!(!graphs.is_empty(), "{name}, call {i}: a graph was computed");
        let listed: Vec<Listed> = graphs.iter().flat_map(|g| list(trace, *g)).collect();
        // A driver that cannot get a list from its engine prints only its calls.
        if !call.nodes.is_empty() {
            assert_eq!(listed.len(), call.nodes.len(), "{name}, call {i}: number of nodes");
            for (ours, engines) in listed.iter().zip(&call.nodes) {
                assert_eq!(ours, engines, "{name}, call {i}");
            }
        }
        for graph in graphs {
            check_spans(trace, graph, 2);
        }
    }
}

/// Calls, tokens and times from the driver.
pub(crate) fn check_calls(trace: &Model, calls: &[Call]) {
    assert_eq!(trace.llama_calls.len(), calls.len(), "every llama_decode was seen");
    for (i, call) in calls.iter().enumerate() {
        assert_eq!(trace.llama_calls.n_tokens[i], call.n_tokens, "tokens of call {i}");
        let (start, end) =
            (trace.llama_calls.start_ns[i], trace.llama_calls.start_ns[i] + trace.llama_calls.duration_ns[i]);
        assert!(call.start_ns <= start && end <= call.end_ns, "call {i} lies inside the driver's own stamps");
    }
}

/// Positions continue from call to call, and attention covers the cells in the engine's list: room
/// for all tokens so far.
pub(crate) fn check_context(trace: &Model, calls: &[Call]) {
    let mut past = 0;
    for (ours, call) in Analysis::compute(trace).token.calls.iter().zip(calls) {
        assert_eq!(ours.n_past, Some(past), "position of the first token of call {}", ours.id);
        past += call.n_tokens;
        let cells = call.nodes.iter().filter_map(|n| match n.op.as_str() {
            "FLASH_ATTN_EXT" => Some(n.src[1].1[1]),
            // With a mask; the router of experts has none.
            "SOFT_MAX" if n.src.len() > 1 => Some(n.ne[0]),
            _ => None,
        });
        let n_kv = cells.max();
        assert!(n_kv >= Some(past.into()) && n_kv <= Some(512), "cells of call {}: {n_kv:?}", ours.id);
        assert_eq!(ours.n_kv, n_kv, "cells of call {}", ours.id);
        let head = call.nodes.iter().find(|n| n.name == "result_output");
        if let (Some(rows), Some(head)) = (ours.logits, head) {
            // Engines of 2023 compute the logits of all tokens, whatever the batch asks for.
            let all = head.ne[1] == u64::from(call.n_tokens) && rows == 1;
            assert!(all || rows == head.ne[1], "logits of call {}: {rows}, {:?}", ours.id, head.ne);
            assert_eq!(ours.phase.name(), if call.n_tokens > 1 { "prefill" } else { "decode" });
        }
    }
}

/// The graphs that the CPU computed within a call.
pub(crate) fn backend_calls(trace: &Model, decode: usize) -> Vec<GraphCallId> {
    (0..trace.graph_calls.len())
        .filter(|g| trace.graph_calls.layer[*g] == Layer::Backend)
        .filter(|g| trace.graph_calls.decode[*g].is_some_and(|d| d.0 as usize == decode))
        .map(|g| GraphCallId(u32::try_from(g).unwrap()))
        .collect()
}

/// The topology of a graph call.
pub(crate) fn topology(trace: &Model, call: GraphCallId) -> &Topology {
    trace.topologies.get(trace.graph_calls.topology[call.0 as usize].expect("the topology was read"))
}

/// The traced topology in the terms of the driver.
pub(crate) fn list(trace: &Model, call: GraphCallId) -> Vec<Listed> {
    let topology = topology(trace, call);
    assert!(topology.complete);
    let text = |t| trace.texts.get(t).to_owned();
    topology.nodes[..topology.n_nodes as usize]
        .iter()
        .map(|n| Listed {
            op: text(n.desc),
            name: text(n.name),
            dtype: text(n.dtype),
            ne: n.ne,
            src: n
                .src
                .iter()
                .map(|(_, s)| {
                    let s = topology.node(*s);
                    (text(s.name), s.ne)
                })
                .collect(),
        })
        .collect()
}

/// All `expected` threads ran the same nodes, once each, in the order of the graph: all nodes that
/// compute, except those that newer engines skip because no executed node needs them.
pub(crate) fn check_spans(trace: &Model, call: GraphCallId, expected: usize) {
    let topology = topology(trace, call);
    let spans = &trace.spans;
    let of_call: Vec<usize> = (0..spans.len()).filter(|i| spans.graph_call[*i] == call).collect();
    let mut threads: Vec<_> = of_call.iter().map(|i| spans.thread[*i]).collect();
    threads.dedup();
    assert_eq!(threads.len(), expected, "threads, each in one piece");
    let runs: Vec<Vec<bool>> = threads
        .into_iter()
        .map(|thread| {
            let mut ran = vec![false; topology.n_nodes as usize];
            let mut last = None;
            for i in of_call.iter().filter(|i| spans.thread[**i] == thread) {
                let (node, end) = (spans.node[*i].0, spans.last_node[*i].0);
                assert!(last < Some(node) && node <= end, "in order, and none twice");
                last = Some(end);
                (node..=end).for_each(|n| ran[n as usize] = true);
            }
            ran
        })
        .collect();
    assert!(runs.iter().all(|run| *run == runs[0]), "the threads ran the same nodes");
    let text = |t| trace.texts.get(t);
    let view = |i: usize| VIEWS.contains(&text(topology.nodes[i].op));
    let n_nodes = topology.n_nodes as usize;
    let left_out: Vec<usize> = (0..n_nodes).filter(|i| !runs[0][*i] && !view(*i)).collect();
    assert!(left_out.len() * 10 < n_nodes, "{} of {n_nodes} nodes were not seen to run", left_out.len());
    for (i, node) in topology.nodes[..n_nodes].iter().enumerate().filter(|(i, _)| runs[0][*i]) {
        for (_, source) in &node.src {
            // A view shows what its first source holds.
            let mut source = source.0 as usize;
            while source < n_nodes && view(source) && !topology.nodes[source].src.is_empty() {
                source = topology.nodes[source].src[0].1.0 as usize;
            }
            assert!(
                !left_out.contains(&source),
                "node {i} ({}) ran and reads {}, which was not seen to run",
                text(node.name),
                text(topology.nodes[source].name)
            );
        }
    }
}

/// Operators fit into their graph, and graphs into their call.
pub(crate) fn check_sums(trace: &Model) {
    let summary = {
        let mut bytes = Vec::new();
        profinfer_views::summary::summary(trace, &Analysis::compute(trace), &mut bytes).unwrap();
        serde_json::from_slice::<serde_json::Value>(&bytes).unwrap()
    };
    for call in summary["tokens"]["calls"].as_array().unwrap() {
        let ns = |field: &str| call[field].as_u64().unwrap();
        assert!(ns("op_wall_ns") > 0);
        assert!(ns("op_wall_ns") <= ns("graph_ns"), "{call}");
        assert!(ns("graph_ns") <= ns("duration_ns"), "{call}");
    }
}

on_engines! {
    newest_dense: "PROFINFER_ENGINE_DIR", "dense-q8";
    newest_moe: "PROFINFER_ENGINE_DIR", "moe-qwen60";
    b4600_dense: "PROFINFER_MID_ENGINE_DIR", "dense-q8";
    b4600_moe: "PROFINFER_MID_ENGINE_DIR", "moe-qwen60";
    b3889_dense: "PROFINFER_OLD_ENGINE_DIR", "dense-q8";
    b3889_moe: "PROFINFER_OLD_ENGINE_DIR", "moe-qwen60";
}
