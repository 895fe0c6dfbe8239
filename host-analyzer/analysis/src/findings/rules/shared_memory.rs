//! Programs on other CPUs share the memory and the caches with the engine.
//!
//! Where they ran all the time, what it takes without them is not in the recording. So the gain has no
//! lower end then, and a trial decides.

use super::super::case::{MIN_CALLS, SCHED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::{GENERATING, Remedy, without};
use crate::ladder::{self, IGNORED, NAMED, Question, StepKind};
use crate::replay::{Cause, Neighbours};
use profinfer_trace::model::CeilingSource;

pub(super) const RULE: Rule = Rule {
    code: "shared_memory",
    topic: "programs on other CPUs",
    title: "Programs on other CPUs slow the operators down",
    question: "Why is it slower while something runs on another CPU?",
    condition: "Programs keep CPUs busy on which the engine does not compute, and the operators of a token take longer the more of these CPUs are busy: at least 3 % of a token, and four standard errors from none. If the programs always run, it is something to try: they keep at least a tenth of a CPU busy, and half of the operators' time above the limit is at least 3 % of a token. It is ruled out if they keep less than a tenth of a CPU busy, if an effect of 2 % of a token would have been seen, or if operators are less than 2 % above the limit.",
    formula: "t = U · (1 + β · b), with b the number of CPUs that others keep busy: the slope β within blocks of 32 tokens, apart from what drifts. If b does not vary, at most the time of the operators above a limit that was measured at another time, at least 0; the likely gain is the middle.",
    remedy: "Run it while the engine is idle, or give it less memory traffic, and compare.",
    source: "llama.cpp #12966 (decoding is bound by memory, which all CPUs share); Mars et al., Bubble-Up, MICRO 2011",
    questions: GENERATING,
    requires: &[
        Requirement::Calls(MIN_CALLS),
        Requirement::TracedCalls(MIN_CALLS),
        Requirement::Ends,
        Requirement::AllOperators,
        Requirement::Level(SCHED),
    ],
    steps: |question, kind| {
        question == Question::Decode && matches!(kind, StepKind::Caused(Cause::SharedMemory(_)))
    },
    judge,
};

/// CPUs that others keep busy from which on they may matter.
const BUSY: f64 = 0.1;
/// Programs that are named, at most, and the share that one of them has at least of the busiest one's time.
const NAMED_TASKS: usize = 3;
const NAMED_SHARE: f64 = 0.1;

fn judge(case: &Case<'_>) -> Verdict {
    let Some(neighbours) = case.analysis.replay.neighbours.iter().find(|n| n.pid == case.pid) else {
        return Verdict::NotEnoughData(vec![Requirement::Level(SCHED)]);
    };
    let mut evidence =
        vec![Evidence::new("busy_cpus", Value::Mean(neighbours.busy_cpus), Place::Interference)];
    if neighbours.busy_cpus < BUSY {
        return Verdict::RuledOut(evidence);
    }
    if let Some((busiest, _)) = neighbours.programs.first() {
        evidence.push(Evidence::new("task", Value::Name(busiest.program().to_owned()), Place::Interference));
        evidence.push(Evidence::new("task_cpus", Value::Cpus(neighbours.cpus.clone()), Place::Interference));
    }
    let remedy = remedy(neighbours);
    match neighbours.per_cpu {
        Some(share) if share.value > share.half => {
            return case.judge_caused(&RULE, evidence, remedy, Confidence::Medium);
        }
        Some(share) if (share.value + share.half) * neighbours.busy_cpus < IGNORED => {
            return Verdict::RuledOut(evidence);
        }
        _ => {}
    }
    let measured = |source: CeilingSource| source < CeilingSource::BestSeen;
    let ladder = case.judged();
    let floor = |l: &&ladder::Ladder| l.floor.as_ref().and_then(|f| f.source).is_some_and(measured);
    let Some(ladder) = ladder.filter(floor) else {
        return Verdict::NotEnoughData(vec![Requirement::WithoutNeighbours]);
    };
    let above = ladder.sum(|kind| kind == StepKind::AboveFloor);
    let share = ladder.share(above);
    let most = u64::try_from(above).unwrap_or(0);
    evidence.push(Evidence::per(
        ladder.question,
        "above_limit_ns",
        Value::Nanoseconds(most / ladder.units.max(1)),
        Place::Budget,
    ));
    if share < IGNORED {
        return Verdict::RuledOut(evidence);
    }
    if share / 2.0 < NAMED {
        return Verdict::NotEnoughData(vec![Requirement::WithoutNeighbours]);
    }
    // Nothing in the recording favours one of the ends, so the likely gain is the middle; no other session
    // has more above the limit than the upper end.
    let gain = ladder::Gain { low_ns: 0, likely_ns: most / 2, high_ns: most };
    let gains = vec![Gain::per_unit(ladder, gain)];
    Verdict::Found(Found { evidence, remedy, gains, confidence: Confidence::Low })
}

/// The busiest programs are to go.
fn remedy(neighbours: &Neighbours) -> Remedy {
    let programs = &neighbours.programs;
    let most = programs.first().map_or(0, |(_, ns)| *ns);
    let named = programs.iter().filter(|(_, ns)| *ns as f64 >= NAMED_SHARE * most as f64).take(NAMED_TASKS);
    without(named.map(|(culprit, _)| culprit), |tasks| Remedy::MoveNeighbours { tasks })
}
