//! Guesses without a draft model that seldom hit.

use super::super::{Case, Rule, Verdict};
use super::{ANY, draft};

pub(super) const RULE: Rule = Rule {
    code: "speculation",
    topic: "guesses from n-grams",
    title: "Guesses that seldom hit",
    question: "Why is it slower with n-gram speculation, or with prompt lookup?",
    condition: "Calls with several tokens of one sequence go on by fewer tokens than they cost: a call with k guesses takes longer than single tokens for what comes out of it. The positions of the next call, or what the engine removes after the last one, show how many guesses hit. If the command line asks for such guesses and no batch has any, that is the answer: 0 batches with guesses.",
    formula: "As for a draft model, without the time of a draft.",
    remedy: "Guess fewer tokens (--spec-draft-n-max), or generate without guesses where the text does not repeat itself.",
    source: "llama.cpp examples/lookup; docs/speculative.md (draftless speculation)",
    questions: ANY,
    requires: &[],
    steps: draft::guessing,
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    draft::verdict(case, |row| row.draft.is_none(), |words| draft::has_type(words, "ngram"))
}
