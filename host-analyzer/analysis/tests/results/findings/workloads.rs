//! Sessions that are not one chat: several sequences at a time, texts that are only read, prompts that
//! were cached.

use profinfer_analysis::Analysis;
use profinfer_analysis::findings::{Remedy, Requirement, Texts};
use profinfer_analysis::ladder::Question;
use profinfer_analysis::phase::Phase;
use profinfer_trace::model::Model;

use super::Answer::{Found, NotKnown, RuledOut, Silent};
use super::{answer, findings, remedy};
use crate::server::{Part, model};

/// Calls with their start, duration and parts.
type Call = (u64, u64, Vec<Part>);

fn session(calls: &[Call]) -> Model {
    let calls: Vec<(u64, u64, &[Part])> =
        calls.iter().map(|(at, length, parts)| (*at, *length, &parts[..])).collect();
    model(&calls)
}

/// Prompts of four sequences, and then 40 tokens of each; a call takes 100 ns, sampling 20.
fn four() -> Vec<Call> {
    let parts = |pos, n| (0..4).map(|seq| (seq, pos, n, 1)).collect();
    let answers = (0..40).map(|i| (1_000 + i * 120, 100, parts(8 + i as i32, 1)));
    std::iter::once((0, 900, parts(0, 8))).chain(answers).collect()
}

#[test]
fn four_sequences_at_a_time() {
    let m = session(&four());
    let h = findings(&m).headline;
    assert_eq!((h.phase, h.tokens, h.sequences, h.token_ns), (Phase::BatchDecode, 40, Some(4.0), Some(122)));
    // The first follows the prompts after 100 ns.
    assert_eq!(h.tokens_per_s, Some(4.0 * 1e9 / 122.0));
    let a = Analysis::compute(&m);
    let ladder = |question| a.ladder.rows.iter().find(|l| l.question == question).unwrap();
    let decode = ladder(Question::Decode);
    assert_eq!(
        (decode.units, decode.tokens, decode.unit_ns(), decode.tokens_per_s()),
        (40, 160, 122, h.tokens_per_s)
    );
    // A prompt for each sequence, in one call.
    assert_eq!(ladder(Question::Prompt).units, 4);
    // A client that comes alone for a while does not change what the figures are of.
    let mut calls = four();
    calls.extend((0..20).map(|i| (9_000 + i * 60, 50, vec![(0, 48 + i as i32, 1, 1)])));
    let h = findings(&session(&calls)).headline;
    assert_eq!((h.tokens, h.sequences), (40, Some(4.0)));
}

#[test]
fn guesses_are_no_sequences() {
    // Four tokens of one sequence, all with an output.
    let calls = (0..20).map(|i| (1_000 + i * 120, 100, vec![(0, 8 + 4 * i as i32, 4, 4)]));
    let m = session(&std::iter::once((0, 900, vec![(0, 0, 8, 1)])).chain(calls).collect::<Vec<_>>());
    let h = findings(&m).headline;
    assert_eq!((h.phase, h.sequences), (Phase::Decode, None));
}

/// Texts of these lengths, one per call. A call takes 600 ns and 10 per token.
fn texts(lengths: &[u32]) -> Model {
    let call = |(i, n): (usize, &u32)| (i as u64 * 10_000, 600 + 10 * u64::from(*n), vec![(0, 0, *n, *n)]);
    session(&lengths.iter().enumerate().map(call).collect::<Vec<_>>())
}

#[test]
fn texts_that_are_only_read() {
    let m = texts(&[20, 30, 40, 50, 20, 30, 40, 50]);
    let h = findings(&m).headline;
    assert_eq!((h.tokens, h.token_ns, h.tokens_per_s), (0, None, None));
    let all_ns = 8.0 * 600.0 + 280.0 * 10.0;
    assert_eq!(
        h.texts,
        Some(Texts {
            texts: 8,
            reads: 8,
            tokens: 280,
            calls: 8,
            tokens_per_s: Some(280.0 * 1e9 / all_ns),
            texts_per_s: Some(8.0 * 1e9 / all_ns),
            median_ns: Some(900),
        })
    );
    // In one call, the eight texts take 600 ns once and not eight times: 525 ns less for each. Another
    // session differs by 7.8 % of the 425 ns that are left and of these 525: by 53 ns.
    assert_eq!(answer(&m, "text_batches"), Found(472, 578));
    assert_eq!(remedy(&m, "text_batches"), Remedy::LargerBatches { tokens: 512 });
    // Nothing is read again: the texts are of their own.
    assert_eq!(answer(&m, "prefix"), Silent);
    assert_eq!(answer(&texts(&[300; 9]), "text_batches"), RuledOut);
    assert_eq!(answer(&texts(&[30; 9]), "text_batches"), NotKnown(vec![Requirement::TextLengths]));
    assert_eq!(answer(&session(&four()), "text_batches"), Silent);
}

/// Codes of all rules with a verdict.
fn listed(m: &Model) -> Vec<&'static str> {
    let f = findings(m);
    let others = f.ruled_out.iter().chain(&f.noisy).map(|(rule, _)| rule.code);
    let not_known = f.not_known.iter().map(|(rule, _)| rule.code);
    others.chain(not_known).chain(f.found.iter().map(|f| f.rule.code)).collect()
}

/// No rule lacks calls.
fn has_enough_calls(m: &Model) -> bool {
    let lacks = |missing: &Vec<Requirement>| missing.iter().any(|r| matches!(r, Requirement::Calls(_)));
    !findings(m).not_known.iter().any(|(_, missing)| lacks(missing))
}

#[test]
fn rules_judge_the_calls_of_what_a_session_does() {
    let read = texts(&[20; 24]);
    let h = findings(&read).headline;
    assert_eq!((h.question, h.calls), (Question::Prompt, 24));
    assert!(has_enough_calls(&read));
    // Nothing is generated: no rule on that is listed, and others are.
    let codes = listed(&read);
    assert!(
        ["sampling", "bandwidth", "long_context", "migrations", "paging"].iter().all(|c| !codes.contains(c))
    );
    assert!(["heat", "clock_limit", "mixed_cores"].iter().all(|c| codes.contains(c)), "{codes:?}");
    assert_eq!(
        answer(&texts(&[20; 15]), "fake_numa"),
        NotKnown(vec![Requirement::Calls(16), Requirement::Fact("numa.nodes")])
    );
    // Few tokens after many prompts: the prompts; a few tokens alone are what the session does.
    let mut calls: Vec<Call> = (0..20).map(|i| (i * 1_000, 600, vec![(0, 0, 20, 1)])).collect();
    calls.extend((0..4).map(|i| (20_000 + i * 100, 90, vec![(0, 20 + i as i32, 1, 1)])));
    assert_eq!(findings(&session(&calls)).headline.question, Question::Prompt);
    assert_eq!(findings(&session(&calls[18..])).headline.question, Question::Decode);
}

#[test]
fn a_text_that_is_scored_in_several_batches_is_one_prompt() {
    // Four batches of 128 tokens: outputs for the second half, as llama-perplexity wants them; and a rest of one
    // token at the end of a chat's prompt.
    let text = |at: u64| {
        (0..4)
            .map(move |i| (at + i * 1_000, 900, vec![(0, 128 * i as i32, 128, if i < 2 { 0 } else { 128 })]))
    };
    let m = session(&text(0).chain(text(10_000)).collect::<Vec<_>>());
    let a = Analysis::compute(&m);
    let prompt = a.ladder.rows.iter().find(|l| l.question == Question::Prompt).unwrap();
    assert_eq!((prompt.units, prompt.measured_ns), (2, 2 * 4 * 900));
    assert!(a.ladder.rows.iter().all(|l| l.question != Question::Decode));
    assert_eq!(findings(&m).headline.texts.map(|t| (t.texts, t.tokens)), Some((2, 1_024)));
    let chat = session(&[
        (0, 900, vec![(0, 0, 64, 0)]),
        (1_000, 100, vec![(0, 64, 1, 1)]),
        (1_200, 90, vec![(0, 65, 1, 1)]),
    ]);
    let phases = Analysis::compute(&chat).phases.llama_calls;
    assert_eq!(phases, [Phase::Prefill, Phase::Prefill, Phase::Decode]);
}

#[test]
fn time_between_requests_is_not_sampling() {
    // Each prompt but the first is cached except for its last token, and comes 5 us later.
    let mut calls: Vec<Call> = vec![(0, 900, vec![(0, 0, 8, 1)])];
    for request in 0..4 {
        let at = 10_000 * request;
        if request > 0 {
            calls.push((at, 100, vec![(0, 7, 1, 1)]));
        }
        calls.extend((0..8).map(|i| (at + 1_000 + i * 110, 100, vec![(0, 8 + i as i32, 1, 1)])));
    }
    let m = session(&calls);
    let a = Analysis::compute(&m);
    assert_eq!(
        a.token.requests.iter().map(|r| (r.prompt_tokens, r.generated)).collect::<Vec<_>>(),
        [(8, 8), (1, 8), (1, 8), (1, 8)]
    );
    let h = findings(&m).headline;
    assert_eq!(h.tokens, 32);
    // One follows the prompt after 100 ns, three its last token after 900.
    assert_eq!(h.token_ns, Some((28 * 110 + 200 + 3 * 1_000) / 32));
}
