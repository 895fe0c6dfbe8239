//! A cost that may be zero and may matter is noisy, with its numbers.

use profinfer_analysis::findings::Value;
use profinfer_trace::model::*;

use super::Answer::{Found, Noisy, RuledOut};
use super::{PROCESS, answer, evidence, findings, number, rises, text};
use crate::models::planted::{DELAY, Plant, TOKENS, each, state};

/// In every token that `hits` selects, the worker is in the state `of` for two microseconds.
fn hit(hits: fn(u64) -> bool, of: ThreadState) -> Model {
    let mut m = each(|token| Plant { work: if hits(token) { DELAY } else { 0 }, ..Plant::default() });
    m.sched.recorded = true;
    for call in (0..TOKENS).filter(|token| hits(*token)) {
        let at = m.llama_calls.start_ns[call as usize] + 50;
        state(&mut m, 1, at, DELAY, of);
    }
    m
}

const ONCE: fn(u64) -> bool = |token| token == 20;
const EVERY_OTHER: fn(u64) -> bool = |token| token % 2 == 0;

#[test]
fn a_single_hit_is_noisy_and_many_are_not() {
    let m = hit(ONCE, ThreadState::Preempted);
    assert_eq!(answer(&m, "preempted"), Noisy);
    // 2000 ns in 39 tokens. One of eight blocks has 400 ns per token, because it has five tokens,
    // and the others have nothing: 50 in the mean, with an error of 50, times 2.365.
    assert_eq!(evidence(&m, "preempted", "preempted_ns_per_token"), Some(Value::Nanoseconds(51)));
    assert_eq!(evidence(&m, "preempted", "at_least_ns_per_token"), Some(Value::Nanoseconds(0)));
    let most = 2000.0 / 39.0 + 50.0 * 2.365;
    assert_eq!(evidence(&m, "preempted", "at_most_ns_per_token"), Some(Value::Nanoseconds(most as u64)));
    let Found(low, high) = answer(&hit(EVERY_OTHER, ThreadState::Preempted), "preempted") else { panic!() };
    assert!(low > 400 && high < 1_500, "{low} to {high}");
    // So short that it would not matter if it were in every block.
    let short = |token| Plant { work: if ONCE(token) { 50 } else { 0 }, ..Plant::default() };
    let mut m = each(short);
    let at = m.llama_calls.start_ns[20] + 50;
    state(&mut m, 1, at, 50, ThreadState::Preempted);
    assert_eq!(answer(&m, "preempted"), RuledOut);
}

#[test]
fn each_rule_that_measures_a_cost_can_be_noisy() {
    let mut paging = hit(ONCE, ThreadState::Blocked);
    rises(&mut paging, "faults.major", 90);
    assert_eq!(answer(&paging, "paging"), Noisy);

    let mut quota = hit(ONCE, ThreadState::Preempted);
    let none = Text::default();
    quota.sched.tasks.push(Task { tid: 0, pid: 0, name: none, command: none, cgroup: none });
    quota.sched.turns.cpu.push(1);
    quota.sched.turns.start_ns.push(quota.llama_calls.start_ns[20] + 50);
    quota.sched.turns.duration_ns.push(DELAY);
    quota.sched.turns.task.push(TaskId(0));
    number(&mut quota, PROCESS, "cgroup.quota_us", 150_000);
    number(&mut quota, PROCESS, "cgroup.period_us", 100_000);
    rises(&mut quota, "cgroup.throttled_periods", 1);
    assert_eq!(answer(&quota, "quota"), Noisy);

    let mut passive = each(|token| Plant { late: if ONCE(token) { 900_000 } else { 0 }, ..Plant::default() });
    number(&mut passive, PROCESS, "environment.read", 1);
    text(&mut passive, PROCESS, "env.OMP_WAIT_POLICY", "passive");
    assert_eq!(answer(&passive, "passive_wait"), Noisy);

    let sampling =
        each(|token| Plant { before: if ONCE(token) { 90_000_000 } else { 0 }, ..Plant::default() });
    assert_eq!(answer(&sampling, "sampling"), Noisy);

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
    let m = hit(ONCE, ThreadState::Preempted);
    let a = profinfer_analysis::Analysis::compute(&m);
    let mut json = Vec::new();
    profinfer_views::summary::summary(&m, &a, &mut json).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let rows = summary["findings"]["noisy"].as_array().unwrap();
    let row = rows.iter().find(|row| row["code"] == "preempted").unwrap();
    let sentence = row["sentence"].as_str().unwrap();
    assert!(sentence.contains("at least 0 ns per token, at most 169 ns per token"), "{sentence}");
    let mut terminal = Vec::new();
    profinfer_views::terminal::terminal(&m, &a, &mut terminal).unwrap();
    let terminal = String::from_utf8(terminal).unwrap();
    assert!(terminal.contains("Inconclusive: Other tasks take the engine's CPUs"), "{terminal}");
    assert_eq!(findings(&m).noisy.len(), 1);
}
