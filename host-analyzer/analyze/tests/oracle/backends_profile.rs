//! The log of a real Vulkan backend compared with the recording of the same run: every kernel has
//! its node, and every node its kernel.
//!
//! `ci/engines/backends.sh` fetches the engine. Mesa's software Vulkan computes.

use std::collections::BTreeMap;
use std::process::Command;

use profinfer_analysis::Analysis;
use profinfer_trace::ingest::accelerator;
use profinfer_trace::model::{Model, NodeIdx};

use crate::backends::parts_of;
use crate::support::{engine, model, parts, read};

/// Kernels by name of the operator's shape, as the backend writes products; a minimal parser.
fn products_of_log(log: &str) -> BTreeMap<String, u64> {
    let mut products = BTreeMap::new();
    for line in log.lines().filter(|l| l.contains(" m=") && l.contains(" us")) {
        let (name, figures) = line.rsplit_once(": ").unwrap();
        let words: Vec<_> = name.split(' ').collect();
        let at = words.iter().position(|w| w.starts_with("m=")).unwrap();
        let kernels: u64 = figures.split(' ').next().unwrap().parse().unwrap();
        *products.entry(words[at - 1..at + 3].join(" ")).or_default() += kernels;
    }
    products
}

/// The same for the nodes that the recording assigns to the backend.
fn products_of_trace(trace: &Model) -> BTreeMap<String, u64> {
    let mut products = BTreeMap::new();
    for decode in 0..trace.llama_calls.len() {
        for (call, _) in parts_of(trace, decode).iter().filter(|(_, b)| b == "Vulkan") {
            let topology = trace.topologies.get(trace.graph_calls.topology[call.0 as usize].unwrap());
            for i in 0..topology.n_nodes {
                let node = topology.node(NodeIdx(i));
                if trace.texts.get(node.op) != "MUL_MAT" {
                    continue;
                }
                let [weights, values] = [0, 1].map(|s| topology.node(node.src[s].1));
                let dtype = trace.texts.get(weights.dtype);
                let name = format!("{dtype} m={} n={} k={}", node.ne[0], node.ne[1], values.ne[0]);
                *products.entry(name).or_default() += 1;
            }
        }
    }
    products
}

fn check(options: &[&str]) {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_VULKAN_ENGINE_DIR") else { return };
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    let output = Command::new(&parts.agent)
        .env("GGML_VK_PERF_LOGGER", "1")
        .args(["record", "--full", "--out", out.to_str().unwrap(), "--", nodes.to_str().unwrap()])
        .args(["-m", &gguf, "-t", "2", "-p", "40", "-n", "3"])
        .args(options)
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{log}");
    let mut trace = read(&out);
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    // The log of the engine and the messages of the agent are in one stream here.
    trace.accelerators = vec![accelerator::read("log", log.as_bytes()).unwrap()];
    let analysis = Analysis::compute(&trace);
    let p = &analysis.accelerator.profiles[0];
    assert!(p.whole(), "{p:#?}");
    assert_eq!((p.unequal(), p.unread_fusions), ((0, 0), 0), "{p:#?}");
    let expected = products_of_log(&log);
    assert!(expected.len() >= 8, "{expected:?}");
    assert_eq!(expected, products_of_trace(&trace));
    let mut joined = BTreeMap::new();
    for row in &analysis.accelerator.rows {
        let device = row
            .backends
            .iter()
            .find(|b| b.backend == "Vulkan")
            .and_then(|b| Some((b.executions, b.device.as_ref()?)));
        let ([shape], Some((executions, device))) = (&row.shapes[..], device) else { continue };
        let Some(product) = shape.product else { continue };
        assert_eq!(device.kernels, executions, "{shape:?}");
        let name = format!("{} m={} n={} k={}", shape.types[0], product.m, product.n, product.k);
        *joined.entry(name).or_default() += device.kernels;
    }
    assert_eq!(joined, expected);
}

#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn some_layers_on_vulkan() {
    check(&["-g", "2"]);
}

#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn all_layers_on_vulkan() {
    check(&["-g", "99"]);
}
