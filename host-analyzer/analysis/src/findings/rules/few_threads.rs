//! CPUs are idle that could compute.

use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{Ladder, Question, StepKind};

pub(super) const RULE: Rule = Rule {
    code: "few_threads",
    topic: "idle CPUs",
    title: "CPUs are idle that could compute",
    question: "Would more threads help?",
    condition: "Fewer threads compute than there are CPUs of the speed of those that are used, what other programs and idle threads of the engine take of these CPUs leaves at least one free, and for decode the memory has bandwidth left: less than 70 % of the read ceiling is used, where that was measured.",
    formula: "The work of a token or a prompt, divided among all those CPUs. 0.05 to 1 of that gain: memory, caches and sibling threads of one core are shared.",
    remedy: "Give the engine as many threads as there are fast CPUs (-t).",
    source: "llama.cpp #12966: prefill scales on, decode until the bandwidth is used up",
    questions: ANY,
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Fact("affinity")],
    steps: |_, kind| matches!(kind, StepKind::Floor | StepKind::AboveFloor | StepKind::Imbalance),
    judge,
};

/// Above this use of the memory more threads bring nothing.
const USED: f64 = 0.7;

fn judge(case: &Case<'_>) -> Verdict {
    let threads = case.headline.threads;
    let Some(mut cpus) = case.cpus() else {
        return Verdict::NotEnoughData(vec![Requirement::Fact("affinity")]);
    };
    if threads == 0 || case.measured().next().is_none() {
        return Verdict::NotEnoughData(vec![Requirement::TracedCalls(1)]);
    }
    let speed = |cpu: &u16| case.speeds.get(usize::from(*cpu)).copied().unwrap_or(0);
    let fastest = cpus.iter().map(speed).max().unwrap_or(0);
    cpus.retain(|cpu| speed(cpu) == fastest);
    let taken = case.taken(&cpus);
    let free = (cpus.len() as f64 - taken.unwrap_or(0.0)).round().max(0.0) as u64;
    let quota = case.process().and_then(|p| p.milli_cpus()).map_or(free, |milli| milli / 1000);
    let n = free.min(quota.max(1));
    let mbu = case.analysis.roof.decode.and_then(|d| d.mbu);
    let mut evidence = vec![
        Evidence::new("threads", Value::Count(threads), Place::Threads),
        Evidence::new("cpus", Value::Cpus(cpus), Place::Conditions),
    ];
    if let Some(taken) = taken {
        let taken = Value::MilliCpus((taken * 1000.0) as u64);
        evidence.push(Evidence::new("taken_by_others", taken, Place::Interference));
    }
    if let Some(mbu) = mbu {
        evidence.push(Evidence::new("memory_bandwidth_used", Value::Share(mbu), Place::Roofline));
    }
    if threads >= n {
        return Verdict::RuledOut(evidence);
    }
    let saved = 1.0 - threads as f64 / n as f64;
    let has_bandwidth = |l: &&Ladder| l.question != Question::Decode || mbu.is_none_or(|mbu| mbu < USED);
    let gain = |l: &Ladder| {
        let work = l.sum(|kind| matches!(kind, StepKind::Floor | StepKind::AboveFloor));
        let unit = work as f64 / l.units.max(1) as f64 * saved;
        Gain::of(l.question, l.unit_ns(), unit * 0.05, unit)
    };
    let gains: Vec<_> = case.measured().filter(has_bandwidth).map(gain).collect();
    if gains.is_empty() {
        return Verdict::RuledOut(evidence);
    }
    let confidence = if mbu.is_some() { Confidence::Medium } else { Confidence::Low };
    Verdict::Found(Found { evidence, remedy: Remedy::Threads { threads: n }, gains, confidence })
}
