//! A draft that costs more than it gains. Rounds of 140 ns: 100 to verify four draft tokens, 10 for
//! each of them.

use profinfer_analysis::findings::{Remedy, Requirement, Value};
use profinfer_analysis::ladder::Question;
use profinfer_trace::model::{Model, Process};
use profinfer_views::words;

use super::Answer::{Found, Noisy, NotKnown, RuledOut, Silent};
use super::{answer, evidence, findings, remedy};
use crate::models::calls::{Call, LARGE, call, model};
use crate::models::planted::tokens;
use crate::speculative::always;

/// The target also runs single tokens of `plain_ns`, at the end of a session with rounds in which
/// `accepted` draft tokens are accepted.
fn with_plain(accepted: u32, plain_ns: u64) -> Model {
    let mut calls = always(accepted, 20);
    let past = 4 + 20 * (accepted + 1);
    let plain = call(LARGE, 1, &[1], past);
    // In a row: the first follows no draft tokens.
    calls.extend((past..past + 8).map(|n_past| Call { length: plain_ns, n_past, ..plain.clone() }));
    model(&calls, true)
}

#[test]
fn a_draft_that_is_never_right() {
    let m = model(&always(0, 20), true);
    // A token in 140 ns, and the prompt of the draft; alone the target takes 20 to 100. The time between the calls stays.
    // Another session differs by 7.8 % of what is left.
    assert_eq!((answer(&m, "draft"), remedy(&m, "draft")), (Found(44, 126), Remedy::NoDraft));
    let said = |key| evidence(&m, "draft", key);
    assert_eq!(said("plain_token_at_least"), Some(Value::Nanoseconds(20)));
    assert_eq!(said("plain_token_at_most"), Some(Value::Nanoseconds(100)));
    assert_eq!(said("break_even_per_round_at_least"), Some(Value::Mean(1.4)));
    assert_eq!(said("emitted_per_round"), Some(Value::Mean(1.0)));
    assert_eq!(said("accepted_share"), Some(Value::Share(0.0)));
}

#[test]
fn what_the_bounds_do_not_decide_is_noisy() {
    // Two tokens per round, 70 ns each.
    assert_eq!(answer(&model(&always(1, 20), true), "draft"), Noisy);
}

#[test]
fn plain_tokens_decide() {
    // Twenty rounds of 140 ns give 40 tokens. With eight plain ones, and the prompt of the draft, that is
    // (2800 + 400 + 100) / 48 per token, 50 of which are those of a plain one. Another session differs by 7.8 % of what is left.
    assert_eq!(answer(&with_plain(1, 50), "draft"), Found(13, 25));
    assert_eq!(answer(&with_plain(1, 90), "draft"), RuledOut);
    assert_eq!(evidence(&with_plain(1, 90), "draft", "plain_tokens_per_s"), Some(Value::Mean(1e9 / 90.0)));
}

#[test]
fn without_rounds_nothing_is_known_and_without_a_draft_nothing_is_said() {
    assert_eq!(answer(&tokens(0, 0, 0, false), "draft"), Silent);
    // Each round begins a new prompt, so that no outcome is known.
    let mut c = Vec::new();
    for _ in 0..3 {
        c.extend(always(0, 1));
    }
    assert_eq!(answer(&model(&c, true), "draft"), NotKnown(vec![Requirement::Rounds]));
}

#[test]
fn the_headline_is_of_the_tokens_that_came_out() {
    let f = findings(&model(&always(1, 20), true));
    // The draft reads the prompt after its target. Then follow four of its calls of 10 ns and one
    // of 100, with 10 ns after each. Each round gives two tokens. The outcome of the last one is unknown:
    // it is left out.
    let token = (4 * 20 + 110) / 2;
    assert!(f.headline.token_ns.unwrap().abs_diff(token) <= 2, "{:?}, {token}", f.headline);
    assert!(f.headline.drafted && f.headline.tokens == 0 && f.headline.threads == 1);
    let said = words::findings::headline(&f.headline);
    assert!(said.starts_with("Decode: ") && said.contains("t/s with speculation on 1 thread, "), "{said}");
    assert!(!findings(&tokens(0, 0, 0, false)).headline.drafted);
}

#[test]
fn rounds_are_the_calls_of_a_session_that_always_guesses() {
    let m = model(&always(1, 20), true);
    let f = findings(&m);
    // The prompt of the draft, and twenty rounds of four calls of it and a verification, less the last one, whose outcome is unknown.
    assert_eq!(f.headline.question, Question::Decode);
    assert_eq!((f.headline.tokens, f.headline.calls), (0, 1 + 19 * 5));
    let lacks = |missing: &Vec<Requirement>| missing.iter().any(|r| matches!(r, Requirement::Calls(_)));
    assert!(!f.not_known.iter().any(|(_, missing)| lacks(missing)), "{:?}", f.not_known);
    // 10 ns between two calls, of which a round has five; two tokens come out of it.
    let Some(Value::Nanoseconds(ns)) = evidence(&m, "sampling", "application_ns_per_token") else { panic!() };
    assert!(ns.abs_diff(25) <= 1, "{ns}");
}

/// One context, whose calls have five tokens in 400 ns and go on by as many as `emitted` says; then
/// two single tokens of 100 ns.
fn guesses(emitted: fn(u32) -> u32) -> Model {
    let mut past = 4;
    let mut calls = vec![call(LARGE, 4, &[1], 0)];
    for round in 0..20 {
        calls.push(Call { length: 400, ..call(LARGE, 5, &[5], past) });
        past += emitted(round);
    }
    calls.extend((past..past + 8).map(|n_past| call(LARGE, 1, &[1], n_past)));
    model(&calls, true)
}

#[test]
fn guesses_without_a_draft() {
    // A guess hits in every other round: 30 tokens in 20 rounds of 400 ns, and eight of 100 ns, are 232 ns per
    // token. Other sessions differ by 7.8 % of 100, and of 132.
    let m = guesses(|round| 1 + round % 2);
    assert_eq!(answer(&m, "speculation"), Found(119, 145));
    let f = findings(&m);
    assert!(f.headline.drafted && f.headline.token_ns.unwrap() >= 231, "{:?}", f.headline);
    assert_eq!(remedy(&m, "speculation"), Remedy::NoDraft);
    assert_eq!(evidence(&m, "speculation", "accepted_share"), Some(Value::Share(0.125)));
    assert_eq!(answer(&m, "draft"), Silent);
    // All guesses hit: 80 ns per token.
    assert_eq!(answer(&guesses(|_| 5), "speculation"), RuledOut);
    // Parallel sequences go on by one token each.
    assert_eq!(answer(&guesses(|_| 1), "speculation"), Silent);
}

#[test]
fn guesses_that_were_asked_for_and_never_made() {
    let with = |command: &str| {
        let mut m = tokens(0, 0, 0, false);
        let name = String::new();
        m.session.processes =
            vec![Process { pid: 7, name: name.clone(), command: command.to_owned(), engine_version: name }];
        m
    };
    let ngram = with("llama-server -m a.gguf --spec-type ngram-mod,ngram-cache");
    assert_eq!((answer(&ngram, "speculation"), answer(&ngram, "draft")), (RuledOut, Silent));
    assert_eq!(evidence(&ngram, "speculation", "batches_with_guesses"), Some(Value::Count(0)));
    for command in ["llama-server -md b.gguf", "llama-server --spec-type draft-mtp"] {
        let draft = with(command);
        assert_eq!((answer(&draft, "speculation"), answer(&draft, "draft")), (Silent, RuledOut), "{command}");
    }
    let none = with("llama-server -m ngram.gguf --spec-draft-n-max 3");
    assert_eq!((answer(&none, "speculation"), answer(&none, "draft")), (Silent, Silent));
}
