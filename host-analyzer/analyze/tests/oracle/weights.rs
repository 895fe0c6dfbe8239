//! The placement of weights and the loaded CPU backend, compared with the engine's own log.
//!
//! The engine logs the size of every buffer that it loads weights into, by buffer type, and the
//! file of each backend that it loads. With mmap, the model file is mapped; without it, weights are
//! copied. Some CPU backends repack some weight types into their own buffer in both cases.

use std::collections::BTreeMap;

use profinfer_analysis::Analysis;
use profinfer_analysis::engine::CpuBackend;
use profinfer_analysis::weight::Weights;
use profinfer_trace::model::{Memory, Model};

use crate::support::{Parts, engine, model, parts, record};

/// Bytes and number of buffers by buffer type, from the log.
fn logged(log: &str) -> BTreeMap<String, (f64, u64)> {
    let mut sums = BTreeMap::new();
    // `load_tensors:   CPU_Mapped model buffer size =   136.73 MiB`; before 2025 `llm_load_tensors:        CPU buffer size = …`.
    for line in log.lines().filter(|l| l.contains("load_tensors:") && l.contains("buffer size =")) {
        let mut words = line.split_whitespace();
        let kind = words.find(|w| w.ends_with("load_tensors:")).and_then(|_| words.next()).unwrap();
        let size: f64 = line.split('=').nth(1).unwrap().trim().trim_end_matches(" MiB").parse().unwrap();
        let sum: &mut (f64, u64) = sums.entry(kind.to_owned()).or_default();
        *sum = (sum.0 + size * 1024.0 * 1024.0, sum.1 + 1);
    }
    sums
}

/// The weights of the context by buffer type; the log and the trace agree on each type.
fn agree(weights: &Weights, log: &str, what: &str) -> BTreeMap<String, Memory> {
    let logged = logged(log);
    assert!(!logged.is_empty(), "{what}: the engine logs no buffers:\n{log}");
    let mut ours: BTreeMap<String, u64> = BTreeMap::new();
    let mut memory = BTreeMap::new();
    for b in &weights.buffers {
        let kind = b.buffer.clone().unwrap_or_else(|| panic!("{what}: no type: {b:?}"));
        *ours.entry(kind.clone()).or_default() += b.bytes;
        assert_eq!(memory.insert(kind, b.memory), None, "{what}: one type in two kinds of memory");
    }
    println!("{what}: by the log {logged:?}, by the trace {ours:?}");
    assert_eq!(ours.keys().collect::<Vec<_>>(), logged.keys().collect::<Vec<_>>(), "{what}");
    for (kind, (theirs, buffers)) in &logged {
        let bytes = ours[kind] as f64;
        // A size is rounded to a hundredth of a MiB; tensors are padded, and AMX adds sums to its rows.
        let rounding = *buffers as f64 * 0.005 * 1024.0 * 1024.0 + weights.tensors as f64 * 64.0 + 1.0;
        let most = match kind.as_str() {
            "AMX" => 1.3,
            // One buffer over the file, from its first weight to the last, whatever was repacked in
            // between.
            "CPU_Mapped" if *buffers == 1 && logged.len() > 1 => f64::INFINITY,
            _ => 1.0,
        };
        assert!(bytes <= theirs + rounding && *theirs <= bytes * most + rounding, "{what}: {kind}");
    }
    memory
}

/// Path of a model as it appears in the mappings of a process.
fn mapped(parts: &Parts, name: &str) -> String {
    let path = std::fs::canonicalize(model(parts, name)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Records the driver with a model; the log agrees with the one context.
fn run(variable: &str, name: &str, options: &[&str]) -> Option<(BTreeMap<String, Memory>, Model, String)> {
    let parts = parts()?;
    let bin = engine(variable)?;
    let (nodes, gguf) = (bin.join("nodes"), mapped(&parts, name));
    // Long enough for the agent to look while the engine has its weights, on a busy machine.
    let mut command =
        vec![nodes.to_str().unwrap(), "-m", &gguf, "-t", "2", "-n", "60", "-c", "512", "--verbose"];
    command.extend(options);
    let (trace, output) = record(&parts, &[], &command);
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let weights = Analysis::compute(&trace).weight;
    let [w] = &*weights else { panic!("{} contexts", weights.len()) };
    for b in &w.buffers {
        let file = (b.memory == Memory::File).then_some(gguf.as_str());
        assert_eq!(b.path.as_deref(), file, "{b:?}");
    }
    let memory = agree(w, &log, &format!("{name} {options:?}"));
    Some((memory, trace, log))
}

const MODELS: [&str; 5] = ["dense-q8", "dense-f16", "dense-q4k", "dense-q4", "moe-qwen60"];

#[test]
fn weights_lie_where_the_engine_says() {
    for name in MODELS {
        let Some((memory, ..)) = run("PROFINFER_ENGINE_DIR", name, &[]) else { return };
        for (kind, memory) in memory {
            assert_eq!(memory == Memory::File, kind == "CPU_Mapped", "{name}: {kind} {memory:?}");
        }
    }
}

#[test]
fn copied_weights_are_the_engines_own() {
    for name in MODELS {
        let Some((memory, ..)) = run("PROFINFER_ENGINE_DIR", name, &["--no-mmap"]) else { return };
        assert!(memory.values().all(|m| *m == Memory::Anonymous), "{name}: {memory:?}");
    }
}

#[test]
fn in_a_release_of_january_2025() {
    for name in ["dense-q4k", "dense-q4"] {
        let Some((mapped, ..)) = run("PROFINFER_MID_ENGINE_DIR", name, &[]) else { return };
        assert_eq!(mapped.get("CPU_Mapped"), Some(&Memory::File));
        let Some((copied, ..)) = run("PROFINFER_MID_ENGINE_DIR", name, &["--no-mmap"]) else { return };
        assert!(copied.values().all(|m| *m == Memory::Anonymous), "{copied:?}");
    }
}

/// Mapped and copied weights have the same buffer type there: only the mappings distinguish them.
#[test]
fn in_a_release_of_october_2024() {
    let of = |memory| BTreeMap::from([("CPU".to_owned(), memory)]);
    let Some((mapped, ..)) = run("PROFINFER_OLD_ENGINE_DIR", "dense-q4k", &[]) else { return };
    assert_eq!(mapped, of(Memory::File));
    let Some((copied, ..)) = run("PROFINFER_OLD_ENGINE_DIR", "dense-q4k", &["--no-mmap"]) else { return };
    assert_eq!(copied, of(Memory::Anonymous));
}

/// Layers on another processor: the name of the buffer type is in a separate context there, and its
/// addresses are not addresses of the process.
#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn layers_on_another_processor_are_on_its_device() {
    for variable in ["PROFINFER_VULKAN_ENGINE_DIR", "PROFINFER_CLANG_VULKAN_ENGINE_DIR"] {
        let Some((memory, ..)) = run(variable, "dense-q8", &["-g", "2"]) else { return };
        assert_eq!(memory.get("Vulkan0"), Some(&Memory::Device), "{memory:?}");
        assert_eq!(memory.get("CPU_Mapped"), Some(&Memory::File), "{memory:?}");
    }
}

/// The file in the log, and its variant.
#[test]
fn the_cpu_backend_is_the_one_that_the_engine_logs() {
    for variable in ["PROFINFER_ENGINE_DIR", "PROFINFER_MID_ENGINE_DIR", "PROFINFER_OLD_ENGINE_DIR"] {
        let Some((_, trace, log)) = run(variable, "dense-q8", &[]) else { return };
        let engines = Analysis::compute(&trace).engine;
        let [e] = &*engines else { panic!("{engines:?}") };
        let loaded = log.lines().find_map(|l| l.split("loaded CPU backend from ").nth(1));
        println!("{variable}: {e:?}, by the log {loaded:?}");
        let file = |path: &str| path.rsplit('/').next().unwrap().to_owned();
        match loaded {
            Some(path) => {
                assert_eq!(e.cpu_library.as_deref().map(file), Some(file(path)));
                let variant = file(path).replace("libggml-cpu-", "").replace(".so", "");
                assert_eq!(e.cpu_backend, Some(CpuBackend::Variant));
                assert_eq!(e.cpu_variant, Some(variant));
            }
            // From October 2024: the operators are in libggml.so.
            None => assert_eq!((e.cpu_backend, &e.cpu_variant), (Some(CpuBackend::BuiltIn), &None)),
        }
    }
}

/// Two models in one process: each context's weights are in its own model's file.
#[test]
fn each_context_has_the_file_of_its_model() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let (nodes, files) = (bin.join("nodes"), ["dense-q8", "dense-f16"].map(|name| mapped(&parts, name)));
    let command = [nodes.to_str().unwrap(), "-m", &files[0], "-m", &files[1], "-n", "2"];
    let (trace, _) = record(&parts, &[], &command);
    let weights = Analysis::compute(&trace).weight;
    let mut paths: Vec<_> =
        weights.iter().map(|w| w.buffers.iter().filter_map(|b| b.path.clone()).collect::<Vec<_>>()).collect();
    paths.sort();
    let mut expected = files.map(|f| vec![f]).to_vec();
    expected.sort();
    assert_eq!(paths, expected, "{weights:#?}");
}
