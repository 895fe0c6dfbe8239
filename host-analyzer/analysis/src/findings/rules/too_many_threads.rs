//! More threads than CPUs: they take each other's.

use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy, regimes};
use crate::ladder::{IGNORED, NAMED, StepKind};
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "too_many_threads",
    topic: "thread count",
    title: "More threads than CPUs",
    question: "Why do more threads make it slower? Why do two threads run on one CPU?",
    condition: "More threads compute than the CPUs that the engine may use (affinity mask, online CPUs).",
    formula: "The replay with the work shared by as many threads as CPUs.",
    remedy: "Give the engine as many threads as it has CPUs (-t), or allow it more CPUs (taskset, cpuset).",
    source: "llama.cpp #3154, #5225, #767, #842; the engine's threads spin at the barrier",
    questions: ANY,
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Fact("affinity")],
    steps: |_, kind| matches!(kind, StepKind::Caused(Cause::TooManyThreads)),
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let threads = case.headline.threads;
    if threads == 0 {
        return Verdict::NotEnoughData(vec![Requirement::TracedCalls(1)]);
    }
    if regimes::slowest(case).is_some() {
        // The CPUs were enough until the change.
        return Verdict::DoesNotApply;
    }
    // A process whose own variable binds its threads to fewer CPUs has more: they share one.
    let Some(cpus) = case.analysis.conditions.cpus_ever_of(case.model, case.pid) else {
        return Verdict::NotEnoughData(vec![Requirement::Fact("affinity")]);
    };
    let evidence = vec![
        Evidence::new("threads", Value::Count(threads), Place::Threads),
        Evidence::new("cpus", Value::Cpus(cpus.clone()), Place::Conditions),
    ];
    let n = cpus.len() as u64;
    if threads <= n || n == 0 {
        return Verdict::RuledOut(evidence);
    }
    let remedy = Remedy::Threads { threads: n };
    let measured = case.caused(&RULE);
    if measured.is_empty() {
        return Verdict::Found(Found { evidence, remedy, gains: Vec::new(), confidence: Confidence::High });
    }
    let most = measured.iter().map(|c| c.share).fold(0.0, f64::max);
    let gains = measured.iter().filter(|c| c.share >= IGNORED).map(|c| c.gain).collect();
    match most {
        share if share < IGNORED => case.absent(&RULE, evidence),
        share if share < NAMED => Verdict::Noisy(evidence),
        _ => Verdict::Found(Found { evidence, remedy, gains, confidence: Confidence::High }),
    }
}
