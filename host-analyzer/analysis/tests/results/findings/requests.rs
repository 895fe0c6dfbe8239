//! Prompts that are read again, and contexts that grow.

use profinfer_analysis::Analysis;
use profinfer_analysis::findings::{Remedy, Requirement, Value};
use profinfer_analysis::ladder::{Question, StepKind};
use profinfer_trace::model::{FactScope, Model, Node, ProbeCost, Role, Texts, Topology};

use super::Answer::{Found, NotKnown, RuledOut, Silent};
use super::{answer, evidence, findings, number, remedy};
use crate::models::calls::{CELLS, Call, call, model};

const A: u64 = 0x5000;

/// Prompts of these lengths at these positions, each answered with four tokens.
fn conversation(prompts: &[(u32, u32)]) -> Model {
    let mut calls = Vec::new();
    for (length, past) in prompts {
        calls.push(call(A, *length, &[1], *past));
        calls.extend((0..4).map(|i| call(A, 1, &[1], past + length + i)));
    }
    model(&calls, true)
}

#[test]
fn a_prompt_that_is_read_again() {
    // A prompt takes 100 ns. 24 of the second prompt's 30 tokens were cached, and 34 of the third's 40: 80 and 85 %. Attention
    // has 40 % of the work, 120 ns of the three prompts by pairs of tokens, 200 to 450 to 800: 37 and 66 ns, of which the square
    // is saved. So 74 and 76 ns are, 50 in the mean of three. A token takes as long as a prompt here.
    let m = conversation(&[(20, 0), (30, 0), (40, 0)]);
    assert_eq!((answer(&m, "prefix"), remedy(&m, "prefix")), (Found(0, 56), Remedy::CachePrompt));
    assert_eq!(evidence(&m, "prefix", "requests_from_the_beginning"), Some(Value::Count(2)));
    assert_eq!(evidence(&m, "prefix", "tokens_read_again"), Some(Value::Count(24 + 34)));
    let f = findings(&m);
    assert_eq!(
        f.found.iter().find(|f| f.rule.code == "prefix").unwrap().gain().unwrap().question,
        Question::Prompt
    );
    // Only new tokens are read; too short to matter.
    let others = [&[(20, 0), (6, 24), (6, 34)][..], &[(4, 0), (6, 0), (8, 0)]];
    assert_eq!(others.map(|p| answer(&conversation(p), "prefix")), [RuledOut, RuledOut]);
    // Prompts that are shorter than what the sequence held may be others; one repetition is not enough.
    let unknown = || NotKnown(vec![Requirement::Prompts]);
    let others = [&[(40, 0), (30, 0), (20, 0)][..], &[(20, 0), (30, 0)]];
    assert_eq!(others.map(|p| answer(&conversation(p), "prefix")), [unknown(), unknown()]);
    // Longer ones, too, if nothing was answered in between: a benchmark.
    let prompts: Vec<Call> = (0..5).map(|i| call(A, 700 + i, &[1], 0)).collect();
    assert_eq!(answer(&model(&prompts, true), "prefix"), unknown());
    assert_eq!(answer(&conversation(&[(20, 0)]), "prefix"), Silent);
}

/// A hit for each token that is put into a batch: half of a pair of 2 ns, which is no sampling.
#[test]
fn probes_on_batches_are_a_step_of_their_own() {
    let with = |hits: u64| {
        let mut m = conversation(&[(20, 0), (30, 24), (10, 58)]);
        m.health.probe_cost = Some(ProbeCost { pairs: 9, pair_ns: 2, inside_ns: 1 });
        number(&mut m, FactScope::System, "agent.batch_hits", hits);
        let a = Analysis::compute(&m);
        let ladder = a.ladder.of(Question::Decode).unwrap();
        let of = |kind: StepKind| ladder.sum(|k| k == kind);
        let units = i64::try_from(ladder.units).unwrap();
        (units, of(StepKind::Application), of(StepKind::Probes), a.cost.batch_probes_ns)
    };
    let ((units, between, probes, _), (_, less, more, ns)) = (with(0), with(72));
    assert_eq!(ns, Some(72));
    assert_eq!((between - less, more - probes), (units, units));
}

/// The same conversation with a model that keeps less than all cells: what is to be kept depends on it.
#[test]
fn the_remedy_depends_on_what_the_model_keeps() {
    let with = |change: &dyn Fn(&mut Texts, &mut Topology)| {
        let mut m = conversation(&[(20, 0), (30, 0), (40, 0)]);
        m.topologies.rows.iter_mut().for_each(|t| change(&mut m.texts, t));
        m
    };
    let state = with(&|texts, t| t.nodes[0].op = texts.intern("SSM_CONV"));
    assert_eq!(remedy(&state, "prefix"), Remedy::KeepState);
    // Another cache, for the layers with a window, of this number of cells.
    let window = |cells: u64| {
        with(&|texts, t| {
            let cache = t.nodes.iter().find(|n| n.role == Role::Cache).unwrap().clone();
            t.nodes.push(Node { name: texts.intern("cache_k_l1"), ne: [64, cells, 1, 1], ..cache });
        })
    };
    assert_eq!(remedy(&window(CELLS / 4), "prefix"), Remedy::KeepWindow);
    // With --swa-full the layers with a window keep all cells, too.
    assert_eq!(remedy(&window(CELLS), "prefix"), Remedy::CachePrompt);
}

/// Ten tokens for each of three steps of the cache. Attention takes `per_step` ns per 256 cells,
/// the rest of a call 130 ns.
fn grown(per_step: u64) -> Model {
    let mut calls = vec![call(A, 250, &[1], 0)];
    for step in 1..=3 {
        for _ in 0..10 {
            let work = [100 + step * per_step, 30];
            let (n_past, n_kv) = (249 + calls.len() as u32, step * 256);
            calls.push(Call { n_kv, work, length: 140 + step * per_step, ..call(A, 1, &[1], n_past) });
        }
    }
    model(&calls, true)
}

#[test]
fn a_context_that_takes_its_share() {
    let m = grown(256);
    // A nanosecond per cell, 512 cells in the mean: half of them.
    let Found(low, high) = answer(&m, "context_growth") else { panic!() };
    // 256 ns; with 7.8 % of these and of the rest.
    assert_eq!((low, high), (219, 293));
    assert_eq!(remedy(&m, "context_growth"), Remedy::ShorterContext { cells: 256, quantize: true });
    // Where the keys are quantized already, that is no advice.
    let mut small = grown(256);
    let q8 = small.texts.intern("q8_0");
    let caches = small.topologies.rows.iter_mut().flat_map(|t| &mut t.nodes);
    caches.filter(|n| n.role == Role::Cache).for_each(|n| n.dtype = q8);
    assert_eq!(remedy(&small, "context_growth"), Remedy::ShorterContext { cells: 256, quantize: false });
    assert_eq!(evidence(&m, "context_growth", "cells"), Some(Value::Count(512)));
    assert_eq!(evidence(&m, "context_growth", "ns_per_1000_cells"), Some(Value::Nanoseconds(1_000)));
    assert_eq!([grown(5), grown(0)].map(|m| answer(&m, "context_growth")), [RuledOut, RuledOut]);
    let steps = Requirement::ContextSteps;
    assert_eq!(
        answer(&crate::models::planted::tokens(0, 0, 0, false), "context_growth"),
        NotKnown(vec![steps])
    );
}

/// A prompt of 40 tokens in batches of this size and time, and four tokens of 100 ns.
fn in_batches(size: u32, ns: u64) -> Model {
    let batch = |i: u32| Call { length: ns, work: [20, ns - 30], ..call(A, size, &[1], i * size) };
    let mut calls: Vec<Call> = (0..40 / size).map(batch).collect();
    calls.extend((0..4).map(|i| call(A, 1, &[1], 40 + i)));
    model(&calls, true)
}

#[test]
fn a_prompt_in_small_batches() {
    let m = in_batches(4, 140);
    // A token costs (140 - 100) / 3 = 13.3 ns and a batch 86.7 ns more. In one batch, the prompt of
    // 1400 ns takes 620: a twentieth of that is the scatter of four calls. At most, tokens cost nothing.
    assert_eq!(answer(&m, "small_batches"), Found(696, 1_349));
    assert_eq!(remedy(&m, "small_batches"), Remedy::LargerBatches { tokens: 512 });
    assert_eq!(evidence(&m, "small_batches", "tokens_per_batch"), Some(Value::Count(4)));
    assert_eq!(evidence(&m, "small_batches", "batches"), Some(Value::Count(10)));
    // Three batches, and several prompts of one batch each.
    assert_eq!(answer(&in_batches(13, 200), "small_batches"), RuledOut);
    let turns = conversation(&[(20, 0), (6, 24), (6, 34), (6, 44), (6, 54)]);
    assert_eq!(answer(&turns, "small_batches"), RuledOut);
}

/// Twenty tokens that attend to this number of cells from the start on; attention takes 900 ns, the
/// product 30.
fn long(n_kv: u64) -> Model {
    let mut calls = vec![call(A, n_kv as u32 - 30, &[1], 0)];
    for _ in 0..20 {
        let n_past = n_kv as u32 - 31 + calls.len() as u32;
        calls.push(Call { n_kv, work: [900, 30], length: 940, ..call(A, 1, &[1], n_past) });
    }
    model(&calls, true)
}

#[test]
fn a_context_that_is_long_from_the_start() {
    let m = long(1280);
    // The product is not of the attention. Half of 900 ns, or of 870 if the operator takes 30 without
    // cells; and 27 for the replay, with 7.8 % of that and of the rest for other sessions.
    assert_eq!(answer(&m, "long_context"), Found(380, 506));
    assert_eq!(remedy(&m, "long_context"), Remedy::ShorterContext { cells: 640, quantize: true });
    assert_eq!(evidence(&m, "long_context", "cells"), Some(Value::Count(1280)));
    assert_eq!(answer(&m, "context_growth"), Silent);
    assert_eq!(answer(&long(512), "long_context"), RuledOut);
    // A context that grows is the subject of the other rule.
    assert_eq!(answer(&grown(256), "long_context"), Silent);
}
