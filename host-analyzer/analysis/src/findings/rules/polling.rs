//! Threads spin while there is nothing to compute.

use super::super::case::SCHED;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy};

pub(super) const RULE: Rule = Rule {
    code: "polling",
    topic: "spinning while idle",
    title: "Threads spin while idle",
    question: "Why does the CPU run at 100 % while nobody asks anything?",
    condition: "Between requests, in pauses of more than 100 ms, threads that only compute are running for more than half of the time. Needs the scheduler level.",
    formula: "No time is promised; it is power.",
    remedy: "Let them sleep when idle: --poll 0, or OMP_WAIT_POLICY=passive, if tokens do not become slower by it.",
    source: "llama.cpp #8672, ollama #18038",
    questions: ANY,
    requires: &[Requirement::Level(SCHED)],
    steps: |_, _| false,
    judge,
};

/// Shorter pauses are between tokens, ns.
const PAUSE_NS: u64 = 100_000_000;

fn judge(case: &Case<'_>) -> Verdict {
    let Some((pauses, running)) = case.pauses(PAUSE_NS) else { return Verdict::DoesNotApply };
    let share = running as f64 / pauses.max(1) as f64;
    let evidence = vec![
        Evidence::new("running_in_pauses", Value::Share(share), Place::Timeline),
        Evidence::new("pauses_ns", Value::Nanoseconds(pauses), Place::Timeline),
    ];
    if share < 0.5 {
        return Verdict::RuledOut(evidence);
    }
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::SleepWhenIdle,
        gains: Vec::new(),
        confidence: Confidence::High,
    })
}
