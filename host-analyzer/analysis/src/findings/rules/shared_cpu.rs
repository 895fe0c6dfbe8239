//! Threads of the engine share a CPU although another one is there.

use super::super::case::SCHED;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::StepKind;
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "shared_cpu",
    topic: "threads that share a CPU",
    title: "The engine's threads share a CPU",
    question: "Why do two threads run on one CPU while another one is idle or busy with something else?",
    condition: "A thread of the engine waited for a CPU that another of its threads had, with at least as many CPUs as threads allowed: at least 3 % of the time of a token, a prompt or a call of an encoder.",
    formula: "The replay with each thread on a CPU of its own.",
    remedy: "Without a GOMP_CPU_AFFINITY that binds several threads to one CPU. Otherwise pin each thread to a CPU (--cpu-mask with --cpu-strict 1), and use no isolated CPUs: the kernel does not move threads between them.",
    source: "Documentation/admin-guide/kernel-parameters, isolcpus: no load balancing on isolated CPUs; llama.cpp #16164",
    questions: ANY,
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Level(SCHED)],
    steps: |_, kind| matches!(kind, StepKind::Caused(Cause::SharedCpu | Cause::Placement)),
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let cpus = case.cpus().unwrap_or_default();
    let mut evidence = vec![
        Evidence::new("threads", Value::Count(case.headline.threads), Place::Threads),
        Evidence::new("cpus", Value::Cpus(cpus), Place::Conditions),
    ];
    let bound = case.process().and_then(|p| p.bound_by_variable());
    evidence
        .extend(bound.map(|cpus| Evidence::new("gomp_cpu_affinity", Value::Cpus(cpus), Place::Conditions)));
    case.judge_caused(&RULE, evidence, Remedy::PinThreads, Confidence::Medium)
}
