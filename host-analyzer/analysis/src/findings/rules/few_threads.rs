//! CPUs are idle that could compute.

use super::super::case::{MIN_TOKENS, MIN_TRACED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::Remedy;
use crate::results::budget::Class;

pub(super) const RULE: Rule = Rule {
    code: "few_threads",
    title: "CPUs are idle that could compute",
    question: "Would more threads help?",
    condition: "Fewer threads compute than there are CPUs of the speed of those that are used, none of these is taken by others, and the memory has bandwidth left: less than 70 % of the read ceiling is used, where that was measured.",
    formula: "The work of a token, divided among all those CPUs. 0.05 to 1 of that gain: memory, caches and sibling threads of one core are shared.",
    remedy: "Give the engine as many threads as there are fast CPUs (-t).",
    source: "llama.cpp #12966: prefill scales on, decode until the bandwidth is used up",
    requires: &[
        Requirement::DecodeCalls(MIN_TOKENS),
        Requirement::TracedCalls(MIN_TRACED),
        Requirement::Ends,
        Requirement::AllOperators,
        Requirement::Fact("affinity"),
    ],
    judge,
};

/// Above this use of the memory more threads bring nothing.
const USED: f64 = 0.7;

fn judge(case: &Case<'_>) -> Verdict {
    let threads = case.headline.threads;
    let Some(mut cpus) = case.cpus() else {
        return Verdict::NotEnoughData(vec![Requirement::Fact("affinity")]);
    };
    let speed = |cpu: &u16| case.speeds.get(usize::from(*cpu)).copied().unwrap_or(0);
    let fastest = cpus.iter().map(speed).max().unwrap_or(0);
    cpus.retain(|cpu| speed(cpu) == fastest);
    let n = cpus.len() as u64;
    let quota = case.process().and_then(|p| p.milli_cpus()).map_or(n, |milli| milli / 1000);
    let n = n.min(quota.max(1));
    let mbu = case.analysis.roof.decode.and_then(|d| d.mbu);
    let mut evidence = vec![
        Evidence::new("threads", Value::Count(threads), Place::Threads),
        Evidence::new("cpus", Value::Cpus(cpus), Place::Conditions),
    ];
    if let Some(mbu) = mbu {
        evidence.push(Evidence::new("memory_bandwidth_used", Value::Share(mbu), Place::Roofline));
    }
    if threads == 0 || threads >= n || mbu.is_some_and(|mbu| mbu >= USED) {
        return Verdict::RuledOut(evidence);
    }
    let work = case.wall(&[Class::Work]);
    let saved = 1.0 - threads as f64 / n as f64;
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::Threads { threads: n },
        gain: Some(Gain::new(case.token_ns(), work.low() * saved * 0.05, work.high() * saved)),
        confidence: if mbu.is_some() { Confidence::Medium } else { Confidence::Low },
    })
}
