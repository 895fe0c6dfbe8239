//! A cost that may be zero and may matter is noisy, with its numbers.

use profinfer_analysis::findings::{Requirement, Value};
use profinfer_trace::model::*;

use super::Answer::{Found, Noisy, NotKnown, RuledOut};
use super::{answer, evidence, findings, number};
use crate::models::duty::thin;
use crate::models::planted::{DELAY, Plant, TOKENS, each, state, taken};

/// In every token that `hits` selects, the worker is in the state `of` for two microseconds.
fn hit(hits: fn(u64) -> bool, of: ThreadState) -> Model {
    let mut m = each(|token| Plant { work: if hits(token) { DELAY } else { 0 }, ..Plant::default() });
    m.sched.recorded = true;
    for call in (0..TOKENS).filter(|token| hits(*token)) {
        let at = m.llama_calls.start_ns[call as usize] + 50;
        match of {
            ThreadState::Preempted => taken(&mut m, at, DELAY),
            _ => state(&mut m, 1, at, DELAY, of),
        }
    }
    m
}

const ONCE: fn(u64) -> bool = |token| token == 20;
const EVERY_OTHER: fn(u64) -> bool = |token| token % 2 == 0;

/// What the scheduler recorded did happen: it is no noise, however seldom it was.
#[test]
fn a_single_hit_is_found_with_what_it_cost() {
    let m = hit(ONCE, ThreadState::Preempted);
    // 2000 ns in 39 tokens, a tenth of their time.
    assert_eq!(evidence(&m, "preempted", "lost_ns"), Some(Value::Nanoseconds(2_000 / 39)));
    assert_eq!(answer(&m, "preempted"), Found(13, 89));
    let Found(low, high) = answer(&hit(EVERY_OTHER, ThreadState::Preempted), "preempted") else { panic!() };
    assert!(low > 850 && high < 1_150, "{low} to {high}");
    // So short that it does not matter.
    let short = |token| Plant { work: if ONCE(token) { 50 } else { 0 }, ..Plant::default() };
    let mut m = each(short);
    let at = m.llama_calls.start_ns[20] + 50;
    state(&mut m, 1, at, 50, ThreadState::Preempted);
    assert_eq!(answer(&m, "preempted"), RuledOut);
}

/// There is no program to stop.
#[test]
fn without_a_record_of_who_had_the_cpu_no_program_is_found() {
    let mut m = hit(EVERY_OTHER, ThreadState::Preempted);
    m.sched.turns = Turns::default();
    assert_eq!(answer(&m, "preempted"), NotKnown(vec![Requirement::Culprit]));
}

/// A cause that no record shows may be all of the time that nothing explains.
#[test]
fn unexplained_time_rules_no_cause_out() {
    let slow = |ns: u64| {
        let mut m = each(|token| Plant { work: if token % 8 == 0 { ns } else { 0 }, ..Plant::default() });
        (m.sched.recorded, m.sched.interrupts_recorded) = (true, true);
        m
    };
    // Prompts whose operators are unknown, of graphs that were never captured.
    let mut prompts = slow(0);
    thin(&mut prompts, std::slice::from_ref(&(10..TOKENS as usize)));
    prompts.llama_calls.n_tokens[..10].fill(4);
    prompts.graph_calls.n_tokens[..20].fill(4);
    prompts.graph_calls.n_nodes[..20].fill(99);
    prompts.graph_calls.topology[..20].fill(None);
    for code in ["preempted", "shared_cpu", "stopped", "interrupts", "asleep"] {
        assert_eq!(answer(&slow(0), code), RuledOut, "{code}");
        let unknown = NotKnown(vec![Requirement::Explained]);
        assert_eq!(answer(&slow(90_000), code), unknown, "{code}");
        assert_eq!(answer(&prompts, code), unknown, "{code}");
    }
    let mut m = slow(0);
    m.sched.interrupts_recorded = false;
    assert_eq!(answer(&m, "interrupts"), NotKnown(vec![Requirement::Interrupts]));
}

fn seldom_sampled() -> Model {
    each(|token| Plant { before: if ONCE(token) { 90_000_000 } else { 0 }, ..Plant::default() })
}

#[test]
fn a_cost_without_a_recorded_event_can_be_noisy() {
    assert_eq!(answer(&seldom_sampled(), "sampling"), Noisy);

    let mut cores = each(|token| Plant { work: if ONCE(token) { 9_000 } else { 0 }, ..Plant::default() });
    number(&mut cores, FactScope::Cpu(0), "cpu.capacity", 1024);
    number(&mut cores, FactScope::Cpu(1), "cpu.capacity", 512);
    assert_eq!(answer(&cores, "mixed_cores"), Noisy);
}

/// The clock falls in the last third, and one token of it takes long.
#[test]
fn one_slow_token_is_no_heat() {
    let mut m = each(|token| Plant { work: if token == 35 { 9_000 } else { 0 }, ..Plant::default() });
    for (kind, first, last) in [(GaugeKind::Frequency, 2_000, 1_500), (GaugeKind::Temperature, 50, 80)] {
        m.gauges.push(Gauge {
            name: String::new(),
            kind,
            unit: GaugeUnit::Hertz,
            source: String::new(),
            period_ns: 100,
            attached: true,
            note: String::new(),
            at_ns: m.llama_calls.start_ns.clone(),
            values: (0..TOKENS).map(|i| Some(if i < 27 { first } else { last })).collect(),
        });
    }
    assert_eq!(answer(&m, "heat"), Noisy);
}

#[test]
fn every_view_has_the_numbers() {
    let m = seldom_sampled();
    let a = profinfer_analysis::Analysis::compute(&m);
    let mut json = Vec::new();
    profinfer_views::summary::summary(&m, &a, &mut json).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let rows = summary["findings"]["noisy"].as_array().unwrap();
    let row = rows.iter().find(|row| row["code"] == "sampling").unwrap();
    let keys: Vec<_> =
        row["evidence"].as_array().unwrap().iter().map(|e| e["key"].as_str().unwrap()).collect();
    assert!(keys.ends_with(&["at_least_ns", "at_most_ns"]), "{keys:?}");
    assert_eq!(findings(&m).noisy.len(), 1);
}
