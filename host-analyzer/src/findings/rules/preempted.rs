//! Other tasks take the CPUs of the engine's threads.

use super::super::case::{MIN_TOKENS, SCHED, WORTH};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Missing, Rule, Verdict};
use super::Remedy;
use crate::analyses::budget::Class;

pub(super) const RULE: Rule = Rule {
    code: "preempted",
    title: "Other tasks take the engine's CPUs",
    question: "Why is it slower while something else runs?",
    condition: "A thread that arrived last at a barrier had been ready to run while another task had its CPU. Needs the scheduler level.",
    formula: "The class `preempted` of a decode token, with its 95 % interval by blocks of tokens. At least 0.6 of the lower end, as a task may \
              come back elsewhere, and at most 1.2 of the upper one, as caches stay warm without it.",
    remedy: "Stop the task, or keep it off these CPUs (taskset, cpuset, isolcpus).",
    source: "llama.cpp #6148; scheduler latency as runqlat (bcc) and systing define it",
    needs: &[Missing::DecodeCalls(MIN_TOKENS), Missing::Level(SCHED)],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let lost = case.wall(&[Class::Preempted]);
    let evidence = vec![
        Evidence::new("preempted_ns_per_token", Value::Nanoseconds(lost.mean as u64), Place::Budget),
        Evidence::new("preempted_share", Value::Share(case.share(lost.mean)), Place::Budget),
    ];
    if case.share(lost.mean) < WORTH {
        return Verdict::RuledOut(evidence);
    }
    let gain = Gain::of(case.token_ns(), lost.low() * 0.6, lost.high() * 1.2);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::MoveTasks { tasks: Vec::new() },
        gain: Some(gain),
        confidence: Confidence::High,
    })
}
