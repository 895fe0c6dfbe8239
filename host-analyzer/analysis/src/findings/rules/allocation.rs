//! The engine allocates the memory of its graphs anew again and again.

use super::super::case::Case;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Confidence, Found, Gain, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{IGNORED, NAMED, StepKind};
use profinfer_trace::model::HousekeepingKind;

pub(super) const RULE: Rule = Rule {
    code: "allocation",
    topic: "allocation of graphs",
    title: "The memory of graphs is allocated anew",
    question: "Why do some tokens take much longer than others of the same kind?",
    condition: "In token calls the engine allocates the memory of a graph anew, which takes at least 3 % of the time.",
    formula: "The time of these allocations, with its 95 % interval.",
    remedy: "Keep the shape of the batches: one number of sequences (--parallel), prompts in one size (-ub). If they all have one shape, it is a fault of the engine: try another version, and report it with this recording.",
    source: "llama.cpp #29083 (graph reallocations)",
    questions: ANY,
    requires: &[],
    steps: |_, kind| kind == StepKind::Allocation,
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let calls = &case.model.llama_calls;
    let mut times: Vec<(u64, u64)> = case
        .calls
        .all
        .iter()
        .map(|t| (calls.start_ns[t.call as usize], calls.duration_ns[t.call as usize]))
        .collect();
    times.sort_unstable();
    let in_a_call = |at: u64| {
        let after = times.partition_point(|(from, _)| *from <= at);
        after > 0 && at - times[after - 1].0 < times[after - 1].1
    };
    let rows = case.model.housekeeping.iter().filter(|h| h.pid == case.pid);
    let rows = rows.filter(|h| h.kind == HousekeepingKind::AllocateGraph);
    let own: Vec<_> = rows.filter(|h| in_a_call(h.start_ns)).collect();
    let Some(ladder) = case.ladder(case.calls.question).filter(|_| !own.is_empty()) else {
        return Verdict::DoesNotApply;
    };
    let n = own.len() as u64;
    let mean = own.iter().map(|h| h.duration_ns).fold(0, u64::saturating_add) / n;
    let evidence = vec![
        Evidence::new("allocations", Value::Count(n), Place::Tokens),
        Evidence::new("allocation_ns", Value::Nanoseconds(mean), Place::Tokens),
    ];
    match ladder.share(ladder.sum(|kind| kind == StepKind::Allocation)) {
        share if share < IGNORED => Verdict::RuledOut(evidence),
        share if share < NAMED => Verdict::Noisy(evidence),
        _ => {
            let gains = Gain::without_step(ladder, StepKind::Allocation).into_iter().collect();
            let (remedy, confidence) = (Remedy::SteadyShapes, Confidence::Medium);
            Verdict::Found(Found { evidence, remedy, gains, confidence })
        }
    }
}
