//! CPUs are idle that could compute.

use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::compare::WARM_UP;
use crate::ladder::{Ladder, Question, StepKind};
use crate::tune::{PRACTICAL, Prediction};

pub(super) const RULE: Rule = Rule {
    code: "few_threads",
    topic: "idle CPUs",
    title: "CPUs are idle that could compute",
    question: "Would more threads help?",
    condition: "Fewer threads compute than there are CPUs of the speed of those that are used, what other programs and idle threads of the engine take of these CPUs leaves at least one free, and for decode the memory has bandwidth left: less than 70 % of the read ceiling is used, where that was measured.",
    formula: "A decode token with that many threads by the ceilings of these CPUs, as `analyze tune` predicts it, with its interval. Without them, at most what the work takes less if all those CPUs share it, and at least nothing: how far memory, caches and the sibling threads of a core allow that is not recorded.",
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
        let by_ceilings = (l.question == Question::Decode).then(|| by_ceilings(case, l, n)).flatten();
        let work = l.sum(|kind| matches!(kind, StepKind::Floor | StepKind::AboveFloor));
        let most = work as f64 / l.units.max(1) as f64 * saved;
        by_ceilings.unwrap_or_else(|| Gain::of(l.question, l.unit_ns(), 0.0, most))
    };
    let gains: Vec<_> = case.measured().filter(has_bandwidth).map(gain).collect();
    if gains.is_empty() {
        return Verdict::RuledOut(evidence);
    }
    let confidence = if mbu.is_some() { Confidence::Medium } else { Confidence::Low };
    Verdict::Found(Found { evidence, remedy: Remedy::Threads { threads: n }, gains, confidence })
}

/// What more threads save of a token, where the ceilings of so many were measured.
fn by_ceilings(case: &Case<'_>, ladder: &Ladder, threads: u64) -> Option<Gain> {
    let tuned = Prediction::of(case.model, case.analysis, PRACTICAL, WARM_UP).ok()?;
    let with = tuned.settings.iter().filter(|s| u64::from(s.threads) == threads);
    let with = with.min_by(|a, b| a.token_ns.total_cmp(&b.token_ns))?;
    let saved = |ns: f64| tuned.makeup.token_ns - ns;
    let gain = Gain::of(ladder.question, ladder.unit_ns(), saved(with.high_ns), saved(with.low_ns));
    Some(gain.with_likely(saved(with.token_ns).max(0.0)).in_other_sessions())
}
