//! Graphs that the scheduler splits among backends: each part has the name of its backend, and the
//! nodes of the engine's own list in that order.
//!
//! `ci/engines/backends.sh` fetches the engines and names their folders in PROFINFER_VULKAN_ENGINE_DIR,
//! PROFINFER_CLANG_VULKAN_ENGINE_DIR and PROFINFER_BLAS_ENGINE_DIR.

use profinfer_trace::model::{GraphCallId, Layer, Model};

use crate::engine_list::{Listed, parse};
use crate::engine_log::Weights;
use crate::nodes::list;
use crate::support::{engine, model, parts, record};

/// Calls of backends in the engine's `llama_decode` call number `decode`, in order of time, with
/// their backends.
pub(crate) fn parts_of(trace: &Model, decode: usize) -> Vec<(GraphCallId, String)> {
    let calls = &trace.graph_calls;
    let mut found: Vec<_> = (0..calls.len())
        .filter(|g| calls.layer[*g] == Layer::Backend)
        .filter(|g| calls.decode[*g].is_some_and(|d| d.0 as usize == decode))
        .collect();
    found.sort_by_key(|g| calls.start_ns[*g]);
    found
        .into_iter()
        .map(|g| {
            let backend = trace.texts.get(calls.backend[g]).to_owned();
            (GraphCallId(u32::try_from(g).unwrap()), backend)
        })
        .collect()
}

/// Runs the driver with `options`. Its list and the trace agree node by node, and each backend that
/// is expected for the placement of the weights computes a part of every call with many tokens.
fn check(
    variable: &str,
    name: &str,
    options: &[&str],
    expected: impl Fn(&Weights) -> &'static [&'static str],
) {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine(variable) else { return };
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, name));
    let mut command = vec![nodes.to_str().unwrap(), "-m", &gguf, "-t", "2", "-p", "40", "-n", "3"];
    command.extend(options);
    // With the callback of the list, the engine computes node by node. So the list is from one run,
    // and the trace from another.
    let mut listing = std::process::Command::new(command[0]);
    let listed = listing.args(&command[1..]).args(["--list", "--verbose"]).output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let weights = Weights::of_log(&listed.stderr);
    let expected = expected(&weights);
    println!("{weights:?}: {expected:?}");
    let engines = parse(&String::from_utf8_lossy(&listed.stdout));
    let (trace, _) = record(&parts, &[], &command);
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    assert_eq!(trace.llama_calls.len(), engines.len());
    let calls = &trace.graph_calls;
    for (i, call) in engines.iter().enumerate() {
        let split = parts_of(&trace, i);
        let mut backends: Vec<&str> = split.iter().map(|(_, b)| b.as_str()).collect();
        backends.sort_unstable();
        backends.dedup();
        assert_eq!(backends, if call.n_tokens > 1 { expected } else { &backends[..] }, "call {i}");
        assert!(backends.iter().all(|b| expected.contains(b)), "call {i}: {backends:?}");
        let ours: Vec<Listed> = split.iter().flat_map(|(g, _)| list(&trace, *g)).collect();
        let names = |l: &[Listed]| l.iter().map(|n| (n.op.clone(), n.name.clone(), n.ne)).collect::<Vec<_>>();
        assert_eq!(names(&ours), names(&call.nodes), "call {i}");
        // No function of these backends is an operator, and the parts follow each other in the
        // scheduler's call.
        for (g, backend) in &split {
            let spans = trace.spans.graph_call.iter().filter(|c| *c == g).count();
            assert_eq!(spans > 0, backend == "CPU", "{backend}: {spans} spans");
        }
        for pair in split.windows(2) {
            let [a, b] = [pair[0].0.0 as usize, pair[1].0.0 as usize];
            assert!(calls.start_ns[a] + calls.duration_ns[a] <= calls.start_ns[b], "call {i}");
        }
    }
}

#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn vulkan_computes_some_layers() {
    check("PROFINFER_VULKAN_ENGINE_DIR", "dense-q8", &["-g", "2"], |_| &["CPU", "Vulkan"]);
}

/// clang inlines `ggml_backend_graph_compute_async`: the probe is at the scheduler's own call of
/// the backend.
#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn parts_are_seen_in_a_build_of_clang() {
    check("PROFINFER_CLANG_VULKAN_ENGINE_DIR", "dense-q8", &["-g", "2"], |_| &["CPU", "Vulkan"]);
}

/// BLAS computes the matrix products of long prompts if the weights are as in the file: F32 on any
/// CPU.
#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn blas_computes_large_products() {
    check("PROFINFER_BLAS_ENGINE_DIR", "dense-f32", &[], |weights| {
        assert_eq!(weights.repacked, 0.0);
        &["BLAS", "CPU"]
    });
}

/// Only the CPU backend can read weights that it has repacked, so BLAS gets no product with them.
#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn blas_gets_no_repacked_weights() {
    check("PROFINFER_BLAS_ENGINE_DIR", "dense-q4", &[], |weights| {
        if weights.repacked > 0.0 { &["CPU"] } else { &["BLAS", "CPU"] }
    });
}
