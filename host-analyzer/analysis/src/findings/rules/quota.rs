//! The control group's CPU quota is used up.

use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::StepKind;
use crate::replay::Cause;
use crate::results::fact::reading::Limit;

pub(super) const RULE: Rule = Rule {
    code: "quota",
    topic: "CPU quota",
    title: "The CPU quota is used up",
    question: "Why is it many times slower in a container?",
    condition: "The engine's control group has a quota below its threads, and the kernel throttled it during the session.",
    formula: "The replay without the waits in which a thread was runnable and its CPU idle.",
    remedy: "Raise the quota to the number of threads, or give the engine at most as many threads as whole CPUs in the quota.",
    source: "ollama #17916, #17962; Documentation/scheduler/sched-bwc.rst",
    questions: ANY,
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Fact("cgroup.throttled_periods")],
    steps: |_, kind| matches!(kind, StepKind::Caused(Cause::Throttled)),
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let Some(group) = case.process().map(|p| &p.cgroup) else {
        return Verdict::NotEnoughData(vec![Requirement::Fact("cgroup.throttled_periods")]);
    };
    let throttled = group.throttled_periods.value().map_or(0, |n| n.whole);
    let periods = group.periods.value().map_or(0, |n| n.whole);
    let mut evidence = vec![
        Evidence::new("throttled_periods", Value::Count(throttled), Place::Conditions),
        Evidence::new("periods", Value::Count(periods), Place::Conditions),
    ];
    let quota = group.quota.value().and_then(Limit::get).filter(|_| throttled > 0);
    let Some(milli_cpus) = quota.map(|q| q.milli_cpus) else { return Verdict::RuledOut(evidence) };
    evidence.insert(0, Evidence::new("quota", Value::MilliCpus(milli_cpus), Place::Conditions));
    evidence.push(Evidence::new("threads", Value::Count(case.headline.threads), Place::Threads));
    let remedy = Remedy::Quota { cpus: case.headline.threads, threads: (milli_cpus / 1000).max(1) };
    if case.model.sched.recorded {
        return case.judge_caused(&RULE, evidence, remedy, Confidence::High);
    }
    Verdict::Found(Found { evidence, remedy, gains: Vec::new(), confidence: Confidence::High })
}
