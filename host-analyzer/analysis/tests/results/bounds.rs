//! Roofs, memory utilisation, bounds, modules and layers, on graphs whose figures can be computed
//! by hand.

use profinfer_analysis::Analysis;
use profinfer_analysis::bound::{Bound, Confidence, Evidence, Kind};
use profinfer_analysis::ceiling::NoCeiling;
use profinfer_analysis::module::Module;
use profinfer_analysis::phase::Phase;
use profinfer_analysis::roof;
use profinfer_trace::model::*;

use crate::models::graph::{Graph, span};
use crate::models::rows::ceiling;

/// A decode call with one product of 68,000 bytes of weights by two threads, with these times of
/// work and wait (ns).
fn product(work_ns: [u64; 2], wait_ns: [u64; 2]) -> Model {
    let mut g = Graph::default();
    let w = g.leaf("blk.3.ffn_up.weight", "q8_0", Role::Weight, [64, 1000, 1, 1]);
    let x = g.leaf("x", "f32", Role::Input, [64, 1, 1, 1]);
    let y = g.node("ffn_up-3", "MUL_MAT", [1000, 1, 1, 1], &[w, x]);
    let mut m = g.called(&[(1, Some(5))]);
    for thread in [0, 1] {
        span(&mut m, 0, thread as u32 + 1, [y, y], [100, work_ns[thread], wait_ns[thread]]);
    }
    m
}

fn bound(m: &Model) -> Bound {
    Analysis::compute(m).bound[0].clone()
}

#[test]
fn the_ceiling_of_as_many_threads_on_the_same_cpus() {
    let mut m = product([10_000, 10_000], [0, 0]);
    assert_eq!(Analysis::compute(&m).roof.phase(Phase::Decode).read, None);
    m.ceilings = vec![
        ceiling(CeilingKind::Read, &[0], 5),
        ceiling(CeilingKind::Read, &[4, 5], 30),
        ceiling(CeilingKind::Int8, &[0, 1], 70),
        ceiling(CeilingKind::Read, &[0, 1, 2], 90),
    ];
    let roof = Analysis::compute(&m).roof;
    let read = roof.phase(Phase::Decode).read.unwrap();
    assert_eq!((read.per_s, read.same_cpus), (30, false));
    m.ceilings.push(ceiling(CeilingKind::Read, &[1, 0], 20));
    let a = Analysis::compute(&m);
    let roof = a.roof.phase(Phase::Decode);
    assert_eq!((roof.threads, &roof.cpus[..]), (2, &[0, 1][..]));
    assert_eq!((roof.read.unwrap().per_s, roof.read.unwrap().same_cpus), (20, true));
    assert_eq!((roof.int8.unwrap().per_s, roof.f32), (70, None));
    // A ceiling that could not be measured does not count.
    m.ceilings[4].note = "no".to_owned();
    assert_eq!(Analysis::compute(&m).roof.phase(Phase::Decode).read.unwrap().per_s, 30);
}

#[test]
fn use_of_the_memory() {
    let mut m = product([10_000, 10_000], [0, 0]);
    m.ceilings = vec![ceiling(CeilingKind::Read, &[0, 1], 136_000_000)];
    let decode = Analysis::compute(&m).roof.decode.unwrap();
    // 68,000 bytes in a call of 1 ms are 68 MB/s, half of the ceiling.
    assert_eq!((decode.tokens, decode.bytes_per_token, decode.bytes_per_s), (1, 68_000.0, 68e6));
    assert_eq!(decode.mbu, Some(0.5));
    m.ceilings.clear();
    assert_eq!(Analysis::compute(&m).roof.decode.unwrap().mbu, None);
}

/// A decode call with a product of 4,456,448 bytes of weights and 8,388,608 operations, by two
/// threads that work for 100 µs.
fn large() -> Model {
    let mut g = Graph::default();
    let w = g.leaf("blk.3.ffn_up.weight", "q8_0", Role::Weight, [4096, 1024, 1, 1]);
    let x = g.leaf("x", "f32", Role::Input, [4096, 1, 1, 1]);
    let y = g.node("ffn_up-3", "MUL_MAT", [1024, 1, 1, 1], &[w, x]);
    let mut m = g.called(&[(1, Some(5))]);
    for thread in [0, 1] {
        span(&mut m, 0, thread + 1, [y, y], [100, 100_000, 0]);
    }
    m
}

#[test]
fn limits_without_a_measured_ceiling() {
    let limits = |m: &Model| Analysis::compute(m).roof.phase(Phase::Decode).limits();
    let of = |top: Option<roof::Top>| top.map(|t| (t.per_s, t.low, t.high, t.source));
    let mut m = large();
    // The best rates seen, as lower bounds: no bound or utilisation uses them.
    let seen = limits(&m);
    let best = CeilingSource::BestSeen;
    assert_eq!((seen.threads, of(seen.read)), (2, Some((44_564_480_000, 44_564_480_000, None, best))));
    assert_eq!(of(seen.arithmetic("q4_K")), Some((83_886_080_000, 83_886_080_000, None, best)));
    assert_eq!((seen.f32, seen.arithmetic("f16")), (None, None));
    let a = Analysis::compute(&m);
    let roof = a.roof.phase(Phase::Decode);
    assert_eq!(
        (roof.read, roof.no_read, a.roof.decode.unwrap().mbu),
        (None, Some(NoCeiling::NotMeasured), None)
    );
    // The profile's bandwidth comes first, unless more was seen.
    m.board_memory = Some(BoardMemory { per_s: 50_000_000_000, low: 13, theoretical: Some(60_000_000_000) });
    let profile = (50_000_000_000, 13, Some(60_000_000_000), CeilingSource::Profile);
    assert_eq!(of(limits(&m).read), Some(profile));
    m.board_memory = Some(BoardMemory { per_s: 40_000_000_000, low: 13, theoretical: None });
    assert_eq!(of(limits(&m).read).map(|t| t.3), Some(best));
    assert_eq!(Analysis::compute(&m).roof.phase(Phase::Decode).read, None);
    // A kept one comes before both, and the session's own before that.
    let kept = CeilingSource::Kept { unix_ns: 7 };
    m.ceilings = vec![Ceiling { source: kept, ..ceiling(CeilingKind::Read, &[0, 1], 30_000_000_000) }];
    assert_eq!(of(limits(&m).read), Some((30_000_000_000, 30_000_000_000, Some(30_000_000_000), kept)));
    assert!(Analysis::compute(&m).roof.decode.unwrap().mbu.is_some());
    m.ceilings.push(ceiling(CeilingKind::Read, &[0, 1], 20_000_000_000));
    assert_eq!(of(limits(&m).read).map(|t| (t.0, t.3)), Some((20_000_000_000, CeilingSource::Recording)));
    // Below 1 MiB an operator shows nothing.
    let small = product([10_000, 10_000], [0, 0]);
    assert_eq!((limits(&small).read, limits(&small).int8), (None, None));
}

/// The read curve has 136 MB/s for a call's 68,000 bytes, which are between 34,000 bytes in 0.1 ms
/// and 102,000 in 0.9 ms. Far above, it has a tenth of that.
#[test]
fn the_working_set_of_a_call() {
    let mut m = product([10_000, 10_000], [0, 0]);
    let curve = |points: &[(u64, u64)]| {
        let mut read = ceiling(CeilingKind::Read, &[0, 1], points[points.len() - 1].1);
        read.points = crate::ceilings::points(points);
        vec![read]
    };
    m.ceilings = curve(&[(34_000, 340_000_000), (102_000, 113_333_333), (1 << 30, 13_600_000)]);
    let a = Analysis::compute(&m);
    let roof = a.roof.phase(Phase::Decode);
    let read = roof.read.unwrap();
    assert_eq!((roof.reads_bytes, read.working_set_bytes, read.beyond), (Some(68_000), Some(68_000), false));
    assert!(read.per_s.abs_diff(136_000_000) < 10 && read.same_cpus, "{read:?}");
    assert!((a.roof.decode.unwrap().mbu.unwrap() - 0.5).abs() < 1e-6);
    // The operator's evidence refers to the same figure.
    let Evidence::Bandwidth { ceiling: against, .. } = a.bound[0].evidence[0] else {
        panic!("{:?}", a.bound[0])
    };
    assert_eq!(against, Some(read.per_s));
    // There are no prompt calls, so they have no working set.
    assert_eq!(a.roof.phase(Phase::Prefill).reads_bytes, None);
    m.ceilings = curve(&[(17_000, 500_000_000), (34_000, 136_000_000)]);
    let a = Analysis::compute(&m);
    let read = a.roof.phase(Phase::Decode).read.unwrap();
    assert_eq!((read.per_s, read.working_set_bytes, read.beyond), (136_000_000, Some(34_000), true));
    m.ceilings[0].points[1].doubts = vec![Doubt::Unstable];
    assert_eq!(Analysis::compute(&m).roof.decode.unwrap().mbu, None);
}

/// The product moves 68,000 + 256 + 4,000 bytes and does 128,000 operations, in 10 µs: 7.2256 GB/s,
/// 12.8 GOP/s.
#[test]
fn memory_or_arithmetic_by_the_nearer_ceiling() {
    let mut m = product([10_000, 10_000], [0, 0]);
    let a = Analysis::compute(&m);
    assert_eq!(a.achieved.operators[0].bytes_per_s, Some(72_256.0 * 1e9 / 10_000.0));
    let bounds = |read: u64, int8: u64, m: &mut Model| {
        m.ceilings =
            vec![ceiling(CeilingKind::Read, &[0, 1], read), ceiling(CeilingKind::Int8, &[0, 1], int8)];
        let b = bound(m);
        (b.by, b.confidence)
    };
    assert_eq!(bounds(8_000_000_000, 100_000_000_000, &mut m), (Kind::Memory, Confidence::High));
    assert_eq!(bounds(11_000_000_000, 100_000_000_000, &mut m), (Kind::Memory, Confidence::Medium));
    assert_eq!(bounds(100_000_000_000, 14_000_000_000, &mut m), (Kind::Compute, Confidence::High));
    // Far from both ceilings and without waits, there is no verdict.
    assert_eq!(bounds(100_000_000_000, 100_000_000_000, &mut m), (Kind::Unknown, Confidence::Low));
    // Faster than the memory: from a cache.
    assert_eq!(bounds(5_000_000_000, 100_000_000_000, &mut m), (Kind::Unknown, Confidence::Low));
}

#[test]
fn threads_that_wait() {
    let mut m = product([10_000, 2_000], [0, 8_000]);
    m.ceilings = vec![
        ceiling(CeilingKind::Read, &[0, 1], 100_000_000_000),
        ceiling(CeilingKind::Int8, &[0, 1], 100_000_000_000),
    ];
    let b = bound(&m);
    assert_eq!((b.by, b.confidence), (Kind::Synchronisation, Confidence::Medium));
    assert_eq!(b.evidence[0], Evidence::Waited { wait_ns: 8_000, share: 0.4 });
}

#[test]
fn next_to_no_work() {
    let mut m = product([900, 800], [0, 0]);
    let cost = |inside_ns| Some(ProbeCost { pairs: 9, pair_ns: 2 * inside_ns, inside_ns });
    m.health.probe_cost = cost(500);
    assert_eq!((bound(&m).by, bound(&m).confidence), (Kind::Dispatch, Confidence::Medium));
    m.health.probe_cost = cost(950);
    assert_eq!(bound(&m).confidence, Confidence::High);
    m.health.probe_cost = cost(450);
    assert_ne!(bound(&m).by, Kind::Dispatch);
}

/// The median of three executions shows no work, but one of them was delayed.
#[test]
fn one_long_execution_is_no_dispatch() {
    let mut g = Graph::default();
    let x = g.leaf("x", "f32", Role::Input, [64, 1, 1, 1]);
    let y = g.node("y", "SCALE", [64, 1, 1, 1], &[x]);
    let mut m = g.called(&[(1, Some(5)), (1, Some(6)), (1, Some(7))]);
    for (call, work_ns) in [(0, 900), (1, 50_000), (2, 900)] {
        span(&mut m, call, 1, [y, y], [100, work_ns, 0]);
    }
    m.health.probe_cost = Some(ProbeCost { pairs: 9, pair_ns: 1_000, inside_ns: 500 });
    assert_ne!(bound(&m).by, Kind::Dispatch);
}

/// Two operations per byte without any measurement: probably memory, with low confidence.
#[test]
fn without_ceilings_only_what_can_be_said() {
    let m = product([10_000, 10_000], [0, 0]);
    let b = bound(&m);
    assert_eq!((b.by, b.confidence), (Kind::Memory, Confidence::Low));
    assert!(matches!(b.evidence[0], Evidence::Intensity { .. }));
}

#[test]
fn counters_tell_stalls_refills_and_faults() {
    let counted = |names: [&str; 4], values: [u64; 4]| {
        let mut m = product([10_000, 10_000], [0, 0]);
        m.spans.counts = Counts {
            names: names.map(str::to_owned).into(),
            values: values.map(|v| vec![v; 2]).into(),
            switches: vec![0; 2],
            why: vec![0; 2],
        };
        bound(&m)
    };
    let names = ["CPU_CYCLES", "STALL_BACKEND", "L3D_CACHE_REFILL", "major-faults"];
    // 2 × 400 lines of 64 bytes are 51,200 of the 68,256 bytes that are read.
    let b = counted(names, [1_000, 700, 400, 0]);
    assert_eq!((b.by, b.confidence), (Kind::Memory, Confidence::Medium));
    assert_eq!(b.evidence[0], Evidence::BackendStalls { share: 0.7 });
    assert_eq!(b.evidence[1], Evidence::Refills { bytes: 51_200, of_read: 51_200.0 / 68_256.0 });
    // Stalls without refills are not memory stalls. What remains is the guess by intensity.
    let b = counted(names, [1_000, 700, 10, 0]);
    assert_eq!((b.by, b.confidence), (Kind::Memory, Confidence::Low));
    // Two faults take at least 40 µs, and the threads worked for 20 µs.
    let b = counted(names, [1_000, 100, 1, 1]);
    assert_eq!((b.by, b.confidence), (Kind::Io, Confidence::High));
    assert_eq!(b.evidence, [Evidence::MajorFaults { faults: 2, share: 1.0 }]);
}

/// A layer with unnamed tensors, and the head.
#[test]
fn modules_and_layers() {
    let mut g = Graph::default();
    let table = g.leaf("token_embd.weight", "q8_0", Role::Weight, [64, 100, 1, 1]);
    let ids = g.leaf("inp_tokens", "i32", Role::Input, [1, 1, 1, 1]);
    let n = [64, 1, 1, 1];
    let embd = g.node("embd", "GET_ROWS", n, &[table, ids]);
    let norm = g.node("norm-0", "RMS_NORM", n, &[embd]);
    let wq = g.leaf("blk.0.attn_q.weight", "q8_0", Role::Weight, [64, 64, 1, 1]);
    let q = g.node("node_3", "MUL_MAT", n, &[wq, norm]);
    let scaled = g.node("node_4", "SCALE", n, &[q]);
    let ffn_inp = g.node("ffn_inp-0", "ADD", n, &[scaled, embd]);
    let ffn_norm = g.node("norm-0", "RMS_NORM", n, &[ffn_inp]);
    let gate = g.leaf("blk.0.ffn_gate_inp.weight", "f32", Role::Weight, [64, 8, 1, 1]);
    let logits = g.node("ffn_moe_logits-0", "MUL_MAT", [8, 1, 1, 1], &[gate, ffn_norm]);
    let down = g.leaf("blk.0.ffn_down_exps.weight", "q8_0", Role::Weight, [64, 64, 8, 1]);
    let top = g.leaf("ids", "i32", Role::Input, [2, 1, 1, 1]);
    let moe = g.node("ffn_moe_down-0", "MUL_MAT_ID", [64, 2, 1, 1], &[down, ffn_norm, top]);
    // The network of the shared expert has the usual names.
    let up = g.leaf("blk.0.ffn_up_shexp.weight", "q8_0", Role::Weight, [64, 64, 1, 1]);
    let shared = g.node("ffn_up-0", "MUL_MAT", n, &[up, ffn_norm]);
    let swiglu = g.node("ffn_swiglu-0", "GLU", n, &[shared, shared]);
    let sum = g.node("node_9", "ADD", n, &[moe, swiglu]);
    let l_out = g.node("l_out-0", "ADD", n, &[sum, ffn_inp]);
    let last = g.node("norm", "RMS_NORM", n, &[l_out]);
    // The embeddings again, as a matrix.
    let head = g.node("result_output", "MUL_MAT", [100, 1, 1, 1], &[table, last]);
    let mut m = g.called(&[(1, Some(0))]);
    let ran = [embd, norm, q, scaled, ffn_inp, ffn_norm, logits, moe, shared, swiglu, sum, l_out, last, head];
    for (i, node) in ran.iter().enumerate() {
        span(&mut m, 0, 1, [*node, *node], [1_000 * i as u64, 100 + i as u64, 7]);
    }
    let a = Analysis::compute(&m);
    let place = |node: u32| (a.dag[0].nodes[node as usize].module, a.dag[0].nodes[node as usize].layer);
    for (node, module, layer) in [
        (embd, Module::Embedding, None),
        (norm, Module::Norm, Some(0)),
        (q, Module::Attention, Some(0)),
        (scaled, Module::Attention, Some(0)),
        (ffn_inp, Module::Attention, Some(0)),
        (ffn_norm, Module::Norm, Some(0)),
        (logits, Module::Router, Some(0)),
        (moe, Module::Experts, Some(0)),
        (shared, Module::Experts, Some(0)),
        (swiglu, Module::Experts, Some(0)),
        (sum, Module::Experts, Some(0)),
        (l_out, Module::Experts, Some(0)),
        (last, Module::Norm, None),
        (head, Module::Head, None),
        (ids, Module::Embedding, None),
    ] {
        assert_eq!(place(node), (module, layer), "node {node}");
    }
    let experts = a.module.modules.iter().find(|s| s.module == Some(Module::Experts)).unwrap();
    assert_eq!(
        (experts.executions, experts.wall_ns, experts.wait_ns),
        (5, 107 + 108 + 109 + 110 + 111, Some(35))
    );
    let wall = |rows: &[profinfer_analysis::module::Sum]| rows.iter().map(|s| s.wall_ns).sum::<u64>();
    assert_eq!(wall(&a.module.modules), a.op.wall_ns[Phase::Decode.index()]);
    assert_eq!(wall(&a.module.layers), a.op.wall_ns[Phase::Decode.index()]);
    let layers: Vec<_> = a.module.layers.iter().map(|s| (s.layer, s.executions)).collect();
    assert_eq!(layers, [(Some(0), 11), (None, 3)]);
}

/// Layer 0 has linear attention: weights with the names of attention, a state and no keys. Layer 1 has keys.
#[test]
fn linear_attention_is_recurrent() {
    let mut g = Graph::default();
    let n = [64, 1, 1, 1];
    let x = g.leaf("x", "f32", Role::Input, n);
    let mut product = |name: &str| {
        let w = g.leaf(&format!("{name}.weight"), "q8_0", Role::Weight, [64, 64, 1, 1]);
        g.node("node", "MUL_MAT", n, &[w, x])
    };
    let linear = ["blk.0.attn_qkv", "blk.0.ssm_out", "blk.0.attn_gate"].map(&mut product);
    let full = ["blk.1.attn_k", "blk.1.attn_gate"].map(&mut product);
    let altup = product("blk.1.altup_proj");
    let mut m = g.called(&[(1, Some(0))]);
    for node in linear.into_iter().chain(full).chain([altup]) {
        span(&mut m, 0, 1, [node, node], [1_000 * u64::from(node), 100, 7]);
    }
    let a = Analysis::compute(&m);
    let module = |node: u32| a.dag[0].nodes[node as usize].module;
    assert_eq!(linear.map(module), [Module::Recurrent; 3]);
    assert_eq!(full.map(module), [Module::Attention; 2]);
    // A weight of an unknown part is no part of what came before.
    assert_eq!(module(altup), Module::Other);
}
