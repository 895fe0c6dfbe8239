//! The build of the engine, and its backends.

use profinfer_analysis::findings::{Remedy, Requirement, Value};
use profinfer_trace::model::*;

use super::Answer::{Found, NotKnown, RuledOut, Silent};
use super::memory::{ceiling, weights};
use super::{answer, evidence, remedy, text};
use crate::models::planted::tokens;
use crate::models::small::PID;

fn variant(loaded: &str, features: &str) -> Model {
    let mut m = tokens(0, 0, 0, false);
    let none = String::new;
    m.session.processes.push(Process {
        pid: PID,
        name: "engine".to_owned(),
        command: none(),
        engine_version: none(),
    });
    let path = format!("/opt/libggml-cpu-{loaded}.so");
    let roles = vec![LibraryRole::CpuOperators];
    let library = Library { pid: PID, path, build_id: none(), roles };
    m.session.libraries.push(library);
    text(&mut m, FactScope::System, "cpu.features", features);
    m
}

const AVX2: &str = "sse4_2 avx avx2 fma f16c";

#[test]
fn code_for_an_older_processor() {
    let m = variant("sse42", AVX2);
    // Plain C for some types, which its instructions do not bound: at most all 137 ns of work.
    assert_eq!(
        (answer(&m, "cpu_variant"), remedy(&m, "cpu_variant")),
        (Found(0, 137), Remedy::BetterVariant)
    );
    assert_eq!(evidence(&m, "cpu_variant", "products_possible"), Some(Value::Count(32)));
    assert_eq!(evidence(&m, "cpu_variant", "loaded_variant"), Some(Value::Name("sse42".to_owned())));
    // Arm: from 8 products to 16, at most half.
    assert_eq!(answer(&variant("armv8.0_1", "asimd asimddp"), "cpu_variant"), Found(0, 69));
    let vnni = format!("{AVX2} avx512_vnni");
    assert_eq!(answer(&variant("haswell", &vnni), "cpu_variant"), Found(0, 69));
    assert_eq!(answer(&variant("zen4", &vnni), "cpu_variant"), RuledOut);
    let best = [variant("haswell", AVX2), variant("sse42", "sse4_2"), variant("armv8.2_1", "asimd asimddp")];
    assert_eq!(best.map(|m| answer(&m, "cpu_variant")), [RuledOut, RuledOut, RuledOut]);
    // Memory with a utilisation of nine tenths leaves a tenth.
    let mut full = variant("sse42", AVX2);
    ceiling(&mut full, CeilingKind::Read, 46_222_222_222);
    assert_eq!(answer(&full, "cpu_variant"), Found(0, 14));
    // A custom build has no variants.
    assert_eq!(answer(&variant("of-my-own", AVX2), "cpu_variant"), Silent);
    let fact = Requirement::Fact("cpu.features");
    assert_eq!(answer(&tokens(0, 0, 0, false), "cpu_variant"), NotKnown(vec![fact]));
}

#[test]
fn types_that_are_not_repacked() {
    let with = |features: &str, dtype: &str, own: bool| {
        let mut m = tokens(0, 0, 0, false);
        text(&mut m, FactScope::System, "cpu.features", features);
        m.topologies.rows[0].nodes[5].dtype = m.texts.intern(dtype);
        if own {
            weights(&mut m, 1 << 20, Memory::Anonymous);
        }
        m
    };
    let m = with("asimd asimddp", "iq3_s", false);
    assert_eq!((answer(&m, "repacking"), remedy(&m, "repacking")), (Found(0, 0), Remedy::RepackedType));
    assert_eq!(evidence(&m, "repacking", "type_of_weights"), Some(Value::Name("iq3_s".to_owned())));
    let others = [
        with("asimddp", "q4_0", false),
        with("asimddp", "f16", false),
        with("asimddp", "iq3_s", true),
        with("asimd", "iq3_s", false),
        with("avx2", "iq3_s", false),
    ];
    assert_eq!(others.map(|m| answer(&m, "repacking")), [RuledOut, RuledOut, RuledOut, Silent, Silent]);
    let fact = Requirement::Fact("cpu.features");
    assert_eq!(answer(&tokens(0, 0, 0, false), "repacking"), NotKnown(vec![fact]));
}

/// After the CPU's part, each token has these parts on other backends, 5 ns each.
fn split(backends: &[&str]) -> Model {
    let mut m = tokens(0, 0, 0, false);
    m.session.levels = vec![Level::Token, Level::Graph];
    for call in 0..m.llama_calls.len() {
        for (n, backend) in (0..).zip(backends) {
            let backend = m.texts.intern(backend);
            let g = &mut m.graph_calls;
            g.start_ns.push(m.llama_calls.start_ns[call] + 275 + n * 10);
            g.duration_ns.push(5);
            g.layer.push(Layer::Backend);
            g.backend.push(backend);
            g.topology.push(None);
            g.n_nodes.push(1);
            g.n_tokens.push(1);
            g.n_past.push(None);
            g.thread.push(ThreadId(0));
            g.decode.push(Some(LlamaCallId(call as u32)));
            g.parent.push(Some(GraphCallId(call as u32 * 2)));
        }
    }
    m
}

#[test]
fn back_and_forth_between_backends() {
    let m = split(&["GPU", "GPU"]);
    // 150 ns outside of graphs, less 2 * 5.
    assert_eq!((answer(&m, "splits"), remedy(&m, "splits")), (Found(0, 140), Remedy::OneBackend));
    assert_eq!(evidence(&m, "splits", "splits_per_call"), Some(Value::Mean(3.0)));
    assert_eq!(evidence(&m, "splits", "graph_preparation_ns"), Some(Value::Nanoseconds(140)));
    assert_eq!(evidence(&m, "splits", "backends"), Some(Value::Count(2)));
    // One round trip is what a second backend costs; several parts on the CPU do not count.
    let others = [split(&["GPU"]), split(&["CPU", "CPU"])];
    assert_eq!(others.map(|m| answer(&m, "splits")), [RuledOut, Silent]);
    let level = Requirement::Level("graph");
    assert_eq!(answer(&tokens(0, 0, 0, false), "splits"), NotKnown(vec![level]));
}
