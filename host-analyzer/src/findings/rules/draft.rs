//! A draft model costs more than it brings.

use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Missing, Rule, Verdict};
use super::Remedy;

pub(super) const RULE: Rule = Rule {
    code: "draft",
    title: "The draft model does not pay",
    question: "Why is it slower with a draft model?",
    condition: "Fewer tokens come out of a round than the round costs, counted in tokens that the target makes alone in that time: a < c_v(k) + k α.",
    formula: "The mean time of a token with the draft less that of the target alone, 0.7 to 1.3 of it.",
    remedy: "Leave the draft model out, let it guess less (--spec-draft-n-max), or take a faster or a better one.",
    source: "llama.cpp #25908, #10455, #3919; on CPUs draft and target share one memory: -49 to -62 % were reported",
    needs: &[],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let Some(row) = case.analysis.speculative.iter().max_by_key(|s| s.rounds) else {
        return Verdict::DoesNotApply;
    };
    let mut evidence = Vec::new();
    let mut mean = |key, value: Option<f64>| {
        if let Some(value) = value {
            evidence.push(Evidence::new(key, Value::Mean(value), Place::Speculative));
        }
    };
    mean("emitted_per_round", row.emitted_per_round);
    mean("break_even_per_round", row.break_even_per_round);
    mean("tokens_per_s", row.tokens_per_s);
    mean("plain_tokens_per_s", row.plain_tokens_per_s);
    if let Some(share) = row.accepted_share {
        evidence.push(Evidence::new("accepted_share", Value::Share(share), Place::Speculative));
    }
    let (Some(wins), Some(with), Some(plain)) = (row.wins, row.tokens_per_s, row.plain_tokens_per_s) else {
        return Verdict::NotEnoughData(vec![Missing::PlainCalls]);
    };
    if wins || with <= 0.0 || plain <= with {
        return Verdict::RuledOut(evidence);
    }
    let saved = 1e9 / with - 1e9 / plain;
    let estimated = row.plain.is_none_or(|p| p.estimated);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::NoDraft,
        gain: Some(Gain::of((1e9 / with) as u64, saved * 0.7, saved * 1.3)),
        confidence: if estimated { Confidence::Medium } else { Confidence::High },
    })
}
