//! Other tasks take the CPUs of the engine's threads.

use super::super::case::{MIN_TOKENS, SCHED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Missing, Rule, Verdict};
use super::Remedy;
use crate::budget::Class;

pub(super) const RULE: Rule = Rule {
    code: "preempted",
    title: "Other tasks take the engine's CPUs",
    question: "Why is it slower while something else runs?",
    condition: "A thread that arrived last at a barrier had been ready to run while another task had its CPU. At least 3 % of a token, the agent's own part not counted.",
    formula: "The class `preempted` of a decode token, with its 95 % interval by blocks of tokens. At least 0.6 of the lower end, as a task may \
              come back elsewhere. At most everything but 0.75 of the operators' work, preparation, application and probes: threads that wait too long fall asleep, and the task takes caches and bandwidth, too.",
    remedy: "Stop the task, or keep it off these CPUs (taskset, cpuset, isolcpus).",
    source: "llama.cpp #6148; scheduler latency as runqlat (bcc) and systing define it",
    needs: &[
        Missing::DecodeCalls(MIN_TOKENS),
        Missing::TracedCalls(MIN_TOKENS),
        Missing::Ends,
        Missing::AllOperators,
        Missing::Level(SCHED),
    ],
    judge,
};

/// From this part of a token on: there is always some housekeeping.
const MUCH: f64 = 0.03;

/// Tasks that are named.
const NAMED: usize = 3;

fn judge(case: &Case<'_>) -> Verdict {
    let lost = case.wall(&[Class::Preempted]);
    // The engine's own threads are another matter: there are too many of them.
    let takers = || case.analysis.sched.interference.iter().filter(|t| !t.idle && t.decode_ns > 0);
    // What the agent takes belongs to the cost of measuring.
    // Where the agent's process is unknown, its threads count as other tasks.
    let all: u64 = takers().map(|t| t.decode_ns).sum();
    let mut others: Vec<_> = takers().filter(|t| !t.engine && t.agent != Some(true)).collect();
    others.sort_by_key(|t| std::cmp::Reverse(t.decode_ns));
    let foreign: u64 = others.iter().map(|t| t.decode_ns).sum();
    let part = if all == 0 { 1.0 } else { foreign as f64 / all as f64 };
    let per_token = |ns: u64| ns / case.headline.tokens.max(1);
    let mut evidence = vec![
        Evidence::new("preempted_ns_per_token", Value::Nanoseconds((lost.mean * part) as u64), Place::Budget),
        Evidence::new("preempted_share", Value::Share(case.share(lost.mean * part)), Place::Budget),
    ];
    if let Some(noisy) = case.noisy(lost.times(part), MUCH, &evidence) {
        return noisy;
    }
    if case.share(lost.mean * part) < MUCH {
        return Verdict::RuledOut(evidence);
    }
    if let Some(first) = others.first() {
        let what = if first.command.is_empty() { &first.name } else { &first.command };
        evidence.insert(0, Evidence::new("task", Value::Name(what.clone()), Place::Interference));
        evidence.push(Evidence::new(
            "task_ns_per_token",
            Value::Nanoseconds(per_token(first.decode_ns)),
            Place::Interference,
        ));
        let cpus = first.cpus.iter().map(|c| c.cpu).collect();
        evidence.push(Evidence::new("task_cpus", Value::Cpus(cpus), Place::Interference));
    }
    let tasks = others.iter().take(NAMED).map(|t| (t.tid, t.name.clone())).collect();
    // Threads that wait too long for the delayed one fall asleep and have to be woken, and a task that computes takes caches and bandwidth:
    // without it the token takes what lies in its own work, and that shrinks too.
    let own = case.wall(&[Class::Work]).low() * 0.75
        + case.wall(&[Class::GraphPreparation, Class::Application, Class::Probes]).low();
    let high = (case.token_ns() as f64 - own).max(lost.high() * part);
    let gain = Gain::new(case.token_ns(), lost.low() * part * 0.6, high);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::MoveTasks { tasks },
        gain: Some(gain),
        confidence: Confidence::High,
    })
}
