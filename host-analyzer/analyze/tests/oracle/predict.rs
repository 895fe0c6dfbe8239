//! Predictions on the real engine: the census of a file equals what its tokens read in the engine,
//! to the byte; one model is predicted from others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Output};

use profinfer_analysis::phase::{Phase, Phases};
use profinfer_analysis::predict::Census;
use profinfer_skip::needed_path;
use profinfer_trace::gguf;
use profinfer_trace::model::{Blueprint, Model, Node, NodeIdx, Role, Topology};
use serde_json::Value;

use crate::nodes::{backend_calls, topology};
use crate::support::{model, parts, record, tool};

fn header(path: &str) -> Blueprint {
    let file = File::open(path).unwrap();
    let bytes = file.metadata().unwrap().len();
    gguf::read(&mut BufReader::new(file), bytes).unwrap()
}

/// The weight that a source is or views.
fn weight(topology: &Topology, source: NodeIdx) -> Option<&Node> {
    let node = topology.node(source);
    let node = node.view_of.map_or(node, |of| topology.node(of));
    (node.role == Role::Weight).then_some(node)
}

/// Bytes of weights that the nodes of a call's graphs read, from their sources alone: products read
/// the complete matrix, products with experts the part for which the IDs have columns, lookups one
/// row, all others the complete vector.
fn read_by_the_engine(trace: &Model, call: usize) -> u64 {
    let mut sum = 0;
    for graph in backend_calls(trace, call) {
        let topology = topology(trace, graph);
        let spans = &trace.spans;
        let of_graph = (0..spans.len()).filter(|i| spans.graph_call[*i] == graph);
        let executed: BTreeSet<u32> = of_graph.flat_map(|i| spans.node[i].0..=spans.last_node[i].0).collect();
        for node in executed.iter().map(|n| topology.node(NodeIdx(*n))) {
            let op = trace.texts.get(node.op);
            if matches!(op, "RESHAPE" | "VIEW" | "PERMUTE" | "TRANSPOSE" | "NONE") {
                continue;
            }
            for (_, source) in &node.src {
                let Some(held) = weight(topology, *source) else { continue };
                sum += match op {
                    "GET_ROWS" => held.bytes / held.ne[1],
                    "MUL_MAT_ID" => {
                        let ids = node.src.iter().find(|(slot, _)| *slot == 2).unwrap().1;
                        held.bytes / held.ne[2] * topology.node(ids).ne[0]
                    }
                    _ => held.bytes,
                };
            }
        }
    }
    sum
}

/// Bytes per cell over all layers, from the cache's own tensors: elements of a row, of two bytes.
fn cell_by_the_engine(trace: &Model, call: usize) -> u64 {
    let mut rows: BTreeMap<&str, u64> = BTreeMap::new();
    for graph in backend_calls(trace, call) {
        for node in
            topology(trace, graph).nodes.iter().filter(|n| n.role == Role::Cache && n.view_of.is_none())
        {
            rows.insert(trace.texts.get(node.name), node.ne[0] * 2);
        }
    }
    rows.values().sum()
}

#[test]
fn a_census_is_what_tokens_read() {
    let Some(parts) = parts() else { return };
    let Some(engine) = tool("llama-bench") else { return };
    for name in ["dense-q8", "dense-q4k", "dense-f32", "moe-qwen60", "moe-mixtral8", "qwen2-q8", "gemma2-q8"]
    {
        let path = model(&parts, name);
        let command = [engine.to_str().unwrap(), "-m", &path, "-t", "2", "-p", "0", "-n", "4", "-r", "1"];
        let (trace, _) = record(&parts, &[], &command);
        let phases = Phases::compute(&trace);
        let call = (0..trace.llama_calls.len()).rfind(|i| phases.llama_calls[*i] == Phase::Decode).unwrap();
        let census = Census::new(&header(&path), 1).unwrap();
        assert_eq!(census.weight_bytes(), read_by_the_engine(&trace, call), "{name}");
        assert_eq!(census.cell_bytes, cell_by_the_engine(&trace, call), "{name}");
    }
}

/// The reader of the ggml project gives the same for every tensor.
#[test]
fn headers_are_those_of_the_projects_own_reader() {
    let Some(parts) = parts() else { return };
    let Some(venv) = needed_path("PROFINFER_VENV", "scripts/test.sh") else { return };
    const READER: &str = "import sys, gguf\n\
        for t in gguf.GGUFReader(sys.argv[1]).tensors:\n    print(t.name, t.tensor_type.name.lower(), t.n_elements, t.n_bytes)";
    for name in ["dense-q4k", "moe-qwen60", "gemma2-q8"] {
        let path = model(&parts, name);
        let output = Command::new(venv.join("bin/python")).args(["-c", READER, &path]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let ours: Vec<String> = header(&path)
            .tensors
            .iter()
            .map(|t| format!("{} {} {} {}", t.name, t.dtype.to_lowercase(), t.elements(), t.bytes))
            .collect();
        assert_eq!(ours, String::from_utf8_lossy(&output.stdout).lines().collect::<Vec<_>>(), "{name}");
    }
}

fn predict(arguments: &[&str], out: &Path) -> (Output, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_analyze"))
        .arg("predict")
        .args(arguments)
        .arg("--out")
        .arg(out)
        .output()
        .unwrap();
    let json =
        std::fs::read(out.join("predict.json")).map_or(Value::Null, |b| serde_json::from_slice(&b).unwrap());
    (output, json)
}

/// One model from three others, and the reasons for a refused prediction. The accuracy depends on
/// the machine, and `ci/predict.sh` measures it; this test checks what does not depend on it.
#[test]
fn a_model_is_predicted_from_others() {
    let Some(parts) = parts() else { return };
    let Some(engine) = tool("llama-bench") else { return };
    let dir = tempfile::tempdir().unwrap();
    let recorded = |name: &str, threads: &str| {
        let file = dir.path().join(format!("{name}-{threads}.pfi"));
        let output = Command::new(&parts.agent)
            .args(["record", "--full", "--out"])
            .arg(&file)
            .arg("--")
            .arg(&engine)
            .args(["-m", &model(&parts, name), "-t", threads, "-p", "32", "-n", "24", "-r", "1"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        file.to_str().unwrap().to_owned()
    };
    let from = ["dense-q8", "qwen2-q8", "spec-draft"].map(|name| recorded(name, "1"));
    let target = recorded("spec-target", "1");
    let file = model(&parts, "spec-target");
    let out = dir.path().join("out");
    let (output, json) = predict(&[&file, "--from", &from[0], &from[1], &from[2]], &out);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        (&json["code"], &json["decode"]["unseen"], &json["decode"]["interval"]),
        (&"predicted".into(), &false.into(), &"left_out".into())
    );
    let speed = |key: &str| json["decode"][key].as_f64().unwrap();
    assert!(
        speed("low_tokens_per_s") < speed("tokens_per_s")
            && speed("tokens_per_s") < speed("high_tokens_per_s"),
        "{json:#}"
    );
    let trace = profinfer_trace::read(&std::fs::read(&target).unwrap()).unwrap();
    let run = profinfer_analysis::predict::Run::compute(&trace);
    // The graph of the target has as many nodes as the template's would have, except for some at
    // its ends.
    let (nodes, real) = (json["parts"]["nodes"].as_f64().unwrap(), run.decode.nodes.len() as f64);
    assert!((nodes / real - 1.0).abs() < 0.05, "{nodes} of {real}");

    let other = recorded("dense-q8", "2");
    let (output, json) = predict(&[&file, "--from", &from[0], &other], &out);
    assert_eq!((output.status.code(), &json["code"]), (Some(4), &"different_threads".into()));
    let (output, json) = predict(&[&file, "--board", "rk3588", "--from", &from[0]], &out);
    assert_eq!((output.status.code(), &json["code"]), (Some(4), &"other_board".into()));
    let (output, _) = predict(&[&from[0], "--from", &from[0]], &out);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("it is not a GGUF file"));
}
