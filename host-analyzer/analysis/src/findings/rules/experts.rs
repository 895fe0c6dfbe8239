//! A few experts serve most tokens, and memory is short.

use super::super::case::MIN_CALLS;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{GENERATING, Remedy};

pub(super) const RULE: Rule = Rule {
    code: "experts",
    topic: "experts",
    title: "Experts are read from disk that could stay",
    question: "Does it help to keep experts of a model larger than memory?",
    condition: "The model has experts, it is paged in while tokens are generated, and the quarter of the experts that the first half of the tokens used most serves at least 1.5 times as many uses of the second half as chance would.",
    formula: "No time is promised: it depends on the storage.",
    remedy: "Keep the dense part in memory first, then the most used experts (the table of experts names them). With an even router no choice beats the policy of the kernel.",
    source: "llama.cpp #28545, #26414; BigMoeOnEdge #25",
    questions: GENERATING,
    requires: &[],
    steps: |_, _| false,
    judge,
};

/// So many times what chance would serve.
const SKEWED: f64 = 1.5;

fn judge(case: &Case<'_>) -> Verdict {
    let routing =
        case.analysis.expert.iter().filter(|r| r.phase == case.phase()).max_by_key(|r| r.whole.uses);
    let Some(routing) = routing else { return Verdict::DoesNotApply };
    let quarter = routing.whole.pins.iter().find(|pin| pin.rule == "n_expert/4");
    let shares = quarter.and_then(|pin| pin.ahead_share.zip(pin.even_share));
    let Some((ahead, even)) = shares else {
        return Verdict::NotEnoughData(vec![Requirement::Calls(MIN_CALLS)]);
    };
    // Readings are a second apart: there may be none while tokens were generated. If there were no faults at all,
    // there were none then.
    let rise = case.process().and_then(|p| p.major_faults.value());
    let faults = rise.and_then(|rise| rise.decode.or((rise.whole == 0).then_some(0)));
    let mut evidence = vec![
        Evidence::new("served_by_a_quarter", Value::Share(ahead), Place::Experts),
        Evidence::new("served_by_chance", Value::Share(even), Place::Experts),
        Evidence::new("never_used", Value::Count(routing.whole.never_used), Place::Experts),
    ];
    evidence.extend(faults.map(|n| Evidence::new("major_faults", Value::Count(n), Place::Conditions)));
    let skewed = ahead >= even * SKEWED;
    if skewed && faults.is_none() {
        return Verdict::NotEnoughData(vec![Requirement::Fact("faults.major")]);
    }
    if !skewed || faults == Some(0) {
        return Verdict::RuledOut(evidence);
    }
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::PinExperts,
        gains: Vec::new(),
        confidence: Confidence::Medium,
    })
}
