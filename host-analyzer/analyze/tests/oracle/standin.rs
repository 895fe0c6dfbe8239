//! Functions of backends whose hardware is missing: OpenCL, RKNN, CLBlast, with the stand-ins that
//! `ci/engines/standin.sh` compiles for the unmodified engine. The trace is compared with the
//! engine's own list of nodes, with the counts of the stand-in, and with a planted delay in one
//! node.
//!
//! `ci/engines/backends.sh` names the folder in PROFINFER_STANDIN_DIR.

use std::collections::BTreeMap;

use profinfer_analysis::Analysis;
use profinfer_analysis::nested::Nested;
use profinfer_trace::model::Model;

use crate::backends::parts_of;
use crate::engine_list::{Listed, parse};
use crate::nodes::{VIEWS, list};
use crate::support::{engine, model, parts, record};

/// Planted delay of a call, ns.
const PLANTED: u64 = 2_000_000;

/// The counts that the stand-in prints at its end: calls by symbol.
fn called(output: &str) -> BTreeMap<String, u64> {
    let fields = output.lines().map(|l| l.split('\t').collect::<Vec<_>>());
    fields.filter(|f| f[0] == "called").map(|f| (f[1].to_owned(), f[2].parse().unwrap())).collect()
}

/// Calls in the trace: operators by backend, nested calls by symbol.
fn nested_counts(trace: &Model) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for function in &trace.nested_calls.function {
        *counts.entry(trace.texts.get(*function).to_owned()).or_insert(0) += 1;
    }
    counts
}

/// The name of the node of a span or a nested call.
fn node_name(trace: &Model, graph: usize, node: u32) -> &str {
    let topology = trace.graph_calls.topology[graph].unwrap();
    trace.texts.get(trace.topologies.get(topology).nodes[node as usize].name)
}

/// Runs llama.cpp with a stand-in for a backend. Its parts have the nodes of the engine's list, and
/// one span for each that computes. Returns the trace and the counts.
fn split(library: &str, backend: &str) -> Option<(Model, BTreeMap<String, u64>)> {
    let parts = parts()?;
    let (bin, standin) = (engine("PROFINFER_ENGINE_DIR")?, engine("PROFINFER_STANDIN_DIR")?);
    let plugin = format!("GGML_BACKEND_PATH={}", standin.parent().unwrap().join(library).display());
    // A type that no CPU repacks, so that other backends can use it.
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-f32"));
    let run = ["env", &plugin, "STANDIN_SLEEP=Kcur-1", nodes.to_str().unwrap()];
    let command = [&run[..], &["-m", &gguf, "-t", "2", "-p", "5", "-n", "3"]].concat();
    let listed = std::process::Command::new("env").args(&command[1..]).arg("--list").output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let engines = parse(&String::from_utf8_lossy(&listed.stdout));
    let (trace, output) = record(&parts, &[], &command);
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    assert_eq!(trace.llama_calls.len(), engines.len());
    let spans = &trace.spans;
    for (i, call) in engines.iter().enumerate() {
        let split = parts_of(&trace, i);
        let ours: Vec<Listed> = split.iter().flat_map(|(g, _)| list(&trace, *g)).collect();
        let names = |l: &[Listed]| l.iter().map(|n| (n.op.clone(), n.name.clone(), n.ne)).collect::<Vec<_>>();
        assert_eq!(names(&ours), names(&call.nodes), "call {i}");
        for (graph, _) in split.iter().filter(|(_, b)| b == backend) {
            let seen: Vec<usize> = (0..spans.len()).filter(|s| spans.graph_call[*s] == *graph).collect();
            let seen_names =
                seen.iter().map(|s| node_name(&trace, graph.0 as usize, spans.node[*s].0).to_owned());
            let expected =
                list(&trace, *graph).into_iter().filter(|n| !VIEWS.contains(&n.op.as_str())).map(|n| n.name);
            assert!(seen_names.eq(expected), "call {i}, graph {graph:?}");
            let start = trace.graph_calls.start_ns[graph.0 as usize];
            let end = start + trace.graph_calls.duration_ns[graph.0 as usize];
            for s in seen {
                assert!(
                    start <= spans.start_ns[s] && spans.start_ns[s] + spans.work_ns[s] <= end,
                    "in its part"
                );
            }
        }
    }
    check_sleep(&trace, backend);
    Some((trace, called(&String::from_utf8_lossy(&output.stdout))))
}

/// The node that sleeps takes that long, and others of its kind do not.
fn check_sleep(trace: &Model, backend: &str) {
    let spans = &trace.spans;
    let of = |s: &usize| spans.graph_call[*s].0 as usize;
    let name = |s: &usize| node_name(trace, of(s), spans.node[*s].0);
    let whole = (0..spans.len()).filter(|s| trace.texts.get(trace.graph_calls.backend[of(s)]) == backend);
    let (slept, awake): (Vec<usize>, Vec<usize>) = whole.partition(|s| name(s) == "Kcur-1");
    assert!(
        !slept.is_empty() && slept.iter().all(|s| spans.work_ns[*s] >= PLANTED),
        "{backend}: Kcur-1 sleeps"
    );
    let mut others: Vec<u64> =
        awake.iter().filter(|s| name(s) == "Kcur-0").map(|s| spans.work_ns[*s]).collect();
    others.sort_unstable();
    assert!(others.first().is_some_and(|ns| *ns < PLANTED / 2), "{backend}: Kcur-0 does not: {others:?}");
}

/// Each row of the analysis by phase has one backend, and the rows of the stand-in's backend count
/// its calls.
fn whole_operators(trace: &Model, backend: &str) -> u64 {
    let types = Analysis::compute(trace).op.types;
    assert!(
        types.iter().any(|t| t.backend == "CPU")
            && types.iter().all(|t| t.backend == "CPU" || t.backend == backend)
    );
    assert!(types.iter().all(|t| t.host_side == (t.backend == "OpenCL")));
    assert!(types.iter().filter(|t| t.backend == backend).all(|t| t.op == "MUL_MAT" && t.wait_ns == Some(0)));
    types.iter().filter(|t| t.backend == backend).map(|t| t.executions).sum()
}

#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn opencl_operators() {
    let Some((trace, called)) = split("libggml-opencl.so", "OpenCL") else { return };
    let symbol = "_Z23ggml_cl_compute_forwardP12ggml_backendP11ggml_tensor";
    assert_eq!(Some(&whole_operators(&trace, "OpenCL")), called.get(symbol));
    assert!(trace.nested_calls.is_empty());
    let probe = trace.session.probes.iter().find(|p| p.symbol == symbol).unwrap();
    assert!(probe.attached && probe.what == "backend operator", "{probe:?}");
}

/// Operators of RKNN: each has a product, computed as two halves on two threads, each with a call
/// of the NPU's library.
#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn rknn_operators_and_nested_calls() {
    let Some((trace, mut called)) = split("libggml-rknn.so", "RKNN") else { return };
    let operators = called.remove("_Z23ggml_rk_compute_forwardP12ggml_backendP11ggml_tensor");
    assert_eq!(Some(whole_operators(&trace, "RKNN")), operators);
    assert_eq!(nested_counts(&trace), called);
    let nested = &trace.nested_calls;
    let depth = |i: usize| (trace.texts.get(nested.function[i]), nested.depth[i]);
    let mut depths: Vec<_> = (0..nested.len()).map(depth).collect();
    depths.sort_unstable();
    depths.dedup();
    // On the thread that computes the operator, and on that of the second core, which runs no
    // operator itself.
    let expected = [("compute_submat_mul", 0), ("compute_submat_mul", 2), ("ggml_rk_mul_mat", 1)];
    assert_eq!(depths, [&expected[..], &[("rknn_matmul_run", 1), ("rknn_matmul_run", 3)]].concat());
    let rows = Analysis::compute(&trace).nested;
    let of = |function: &str| rows.iter().filter(|r| r.function == function).collect::<Vec<&Nested>>();
    for row in of("ggml_rk_mul_mat") {
        assert!(
            (row.backend.as_str(), row.op_backend.as_str(), row.op.as_str()) == ("RKNN", "RKNN", "MUL_MAT")
        );
        assert!(row.executions == row.calls && row.share.is_some_and(|s| s > 0.0 && s <= 1.0), "{row:?}");
        assert!(row.time_ns == row.wall_ns && row.wall_ns <= row.op_wall_ns, "one at a time: {row:?}");
    }
    for row in of("compute_submat_mul") {
        assert!(row.executions * 2 == row.calls && row.wall_ns <= row.time_ns, "{row:?}");
        assert!(row.share.is_some_and(|s| s > 0.0 && s <= 1.0), "{row:?}");
    }
    assert!(of("rknn_matmul_run").iter().all(|r| r.backend == "librknnrt"));
}

/// Calls within the CPU's own operators, which do not change: one span for each of two threads.
#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn clblast_nested_calls() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_STANDIN_DIR") else { return };
    let driver = bin.join("clblast");
    let (trace, output) = record(&parts, &[], &[driver.to_str().unwrap(), "5"]);
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(nested_counts(&trace), called(&text));
    assert_eq!(trace.nested_calls.len(), 5 * 8);
    let nodes = text.lines().filter(|l| l.starts_with("node\t")).map(|l| l.split('\t').nth(4).unwrap());
    let names: Vec<&str> = nodes.collect();
    let calls = trace.graph_calls.topology.iter().flatten().count();
    assert_eq!(calls, 5, "graphs on the CPU");
    let topology = trace.topologies.get(trace.graph_calls.topology.iter().flatten().next().copied().unwrap());
    let ours = topology.nodes[..topology.n_nodes as usize].iter().map(|n| trace.texts.get(n.name));
    assert!(ours.eq(names.iter().copied()), "{names:?}");
    let types = Analysis::compute(&trace).op.types;
    let custom = types.iter().find(|t| t.op == "MAP_CUSTOM2").unwrap();
    assert_eq!((custom.executions, custom.backend.as_str()), (5 * 8, "CPU"), "each once");
    let spans = &trace.spans;
    let in_graph = |i: usize| spans.graph_call[i].0 as usize;
    let custom = (0..spans.len()).filter(|i| {
        let name = node_name(&trace, in_graph(*i), spans.node[*i].0);
        !name.starts_with("relu")
    });
    assert_eq!(custom.count(), 2 * 5 * 8, "each on both threads");
    check_inside(&trace);
    let row = Analysis::compute(&trace).nested.into_iter().find(|r| r.function == "ggml_cl_mul_mat").unwrap();
    assert_eq!((row.calls, row.executions, row.backend.as_str()), (20, 20, "clblast"));
    assert!(row.share.is_some_and(|s| s > 0.0 && s <= 1.0), "{row:?}");
}

/// Every call is within the span of its operator on its thread, and the planted delay is in the
/// call that sleeps.
fn check_inside(trace: &Model) {
    let (nested, spans) = (&trace.nested_calls, &trace.spans);
    for i in 0..nested.len() {
        let around = (0..spans.len()).find(|s| {
            (spans.graph_call[*s], spans.thread[*s], spans.node[*s])
                == (nested.graph_call[i], nested.thread[i], nested.node[i])
        });
        let around = around.expect("its operator was seen on its thread");
        let (start, end) = (nested.start_ns[i], nested.start_ns[i] + nested.duration_ns[i]);
        assert!(spans.start_ns[around] <= start && end <= spans.start_ns[around] + spans.work_ns[around]);
        let name = node_name(trace, nested.graph_call[i].0 as usize, nested.node[i].0);
        assert_eq!(name.starts_with("scaled"), trace.texts.get(nested.function[i]) == "ggml_cl_mul");
        if name == "sleepy" {
            assert!(nested.duration_ns[i] >= PLANTED);
        }
    }
}
