//! Speculative decoding: rounds made up by hand.

use profinfer_analysis::Analysis;
use profinfer_analysis::findings::Findings;
use profinfer_analysis::ladder::Question;
use profinfer_analysis::phase::Phase::{self, *};
use profinfer_analysis::speculative::{Plain, PlainSource, Speculative};
use profinfer_trace::model::{DecodeFunction, Housekeeping, HousekeepingKind, Model};

use crate::models::calls::{Call, LARGE, call, model};

const DRAFT: u64 = 0x5000;
const TARGET: u64 = LARGE;

fn lasting(length: u64, call: Call) -> Call {
    Call { length, ..call }
}

/// A draft's calls of 10 ns each: first the unread tokens from `past` on, then one by one.
fn guesses(calls: &mut Vec<Call>, unread: u32, past: u32, more: u32) {
    calls.push(lasting(10, call(DRAFT, unread, &[1], past)));
    for i in 0..more {
        calls.push(lasting(10, call(DRAFT, 1, &[1], past + unread + i)));
    }
}

fn verify(calls: &mut Vec<Call>, length: u64, drafted: u32, past: u32) {
    calls.push(lasting(length, call(TARGET, drafted + 1, &[u64::from(drafted) + 1], past)));
}

/// Warm-ups and a prompt of 4 tokens; then rounds of 4, 4, 2, no and 4 draft tokens. Accepted are
/// 4, 1, none and none; the outcome of the last round is unknown.
pub(crate) fn calls() -> Vec<Call> {
    let mut c = vec![call(TARGET, 2, &[1], 0), call(DRAFT, 2, &[1], 0)];
    c.extend([call(TARGET, 4, &[0], 0), call(DRAFT, 4, &[1], 0)]);
    guesses(&mut c, 1, 4, 3);
    verify(&mut c, 100, 4, 4);
    guesses(&mut c, 5, 4, 3);
    verify(&mut c, 120, 4, 9);
    guesses(&mut c, 5, 9, 1);
    verify(&mut c, 90, 2, 11);
    guesses(&mut c, 1, 12, 0);
    verify(&mut c, 60, 0, 12);
    guesses(&mut c, 1, 13, 3);
    verify(&mut c, 110, 4, 13);
    c
}

fn only(calls: &[Call]) -> Speculative {
    let all = Analysis::compute(&model(calls, true)).speculative;
    assert_eq!(all.len(), 1, "{all:?}");
    all.into_iter().next().unwrap()
}

#[test]
fn counts_are_those_of_the_rounds() {
    let s = only(&calls());
    assert_eq!((s.draft.as_deref(), s.target.as_deref()), (Some("0x5000"), Some("0x9000")));
    assert_eq!((s.rounds, s.open_rounds, s.drafted), (5, 1, 4 + 4 + 2 + 4));
    // 5 + 2 + 1 + 1 tokens from four rounds; one of each round is the target's own.
    assert_eq!((s.emitted, s.accepted), (9, 5));
    assert_eq!(s.accepted_share, Some(5.0 / 10.0));
    assert_eq!(s.emitted_per_round, Some(9.0 / 4.0));
    let positions: Vec<_> = s.positions.iter().map(|p| (p.position, p.drafted, p.accepted)).collect();
    assert_eq!(positions, [(1, 3, 2), (2, 3, 1), (3, 2, 1), (4, 2, 1)]);
}

#[test]
fn costs_are_medians_and_decide_whether_it_wins() {
    let s = only(&calls());
    let sizes: Vec<_> = s.verified.iter().map(|v| (v.drafted, v.rounds, v.median_ns)).collect();
    assert_eq!(sizes, [(0, 1, 60), (2, 1, 90), (4, 3, 110)]);
    // One single token is no measure of all: it takes 30 (a third of 90) to 60 ns.
    let by = PlainSource::Bounds;
    assert_eq!(s.plain, Some(Plain { ns: 60, low_ns: 30, high_ns: 60, calls: 1, by }));
    assert_eq!(s.verified[2].verify_ratio, Some(110.0 / 60.0));
    // The draft's calls take 40, 40, 20, 40 ns for 4, 4, 2, 4 draft tokens.
    assert_eq!((s.draft_token_ns, s.draft_ratio), (Some(10), Some(10.0 / 60.0)));
    // (60 + 90 + 3 * 110 + 14 * 10) / 5 = 124 ns per round, which are 2.07 plain tokens; a round
    // gives 2.25. By the lower bound it does not win.
    let close = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-6 * b;
    assert!(close(s.break_even_per_round, 124.0 / 60.0), "{s:?}");
    assert_eq!(s.wins, None);
    assert!(close(s.tokens_per_s, 2.25e9 / 124.0) && close(s.plain_tokens_per_s, 1e9 / 60.0), "{s:?}");
}

/// A draft that guesses a block of tokens in one call, after it has read what the target verified.
#[test]
fn a_draft_of_blocks_is_a_pair() {
    let mut c = vec![call(TARGET, 4, &[1], 0), call(DRAFT, 4, &[0], 0)];
    let mut past = 4;
    for accepted in [3, 0, 2] {
        c.push(lasting(10, call(DRAFT, 4, &[4], past)));
        verify(&mut c, 100, 3, past);
        c.push(lasting(5, call(DRAFT, 4, &[0], past)));
        past += accepted + 1;
    }
    let s = only(&c);
    assert_eq!((s.rounds, s.open_rounds, s.drafted, s.accepted), (3, 1, 9, 3));
    let a = Analysis::compute(&model(&c, true));
    assert_eq!(a.token.draft.calls, 7);
    let requests: Vec<_> = a.token.requests.iter().map(|r| (r.prompt_tokens, r.generated)).collect();
    assert_eq!(requests, [(4, 6)]);
    // The first token is taken when the draft has read the prompt, too.
    let lengths = |i: usize| c[i].length;
    assert_eq!(a.token.requests[0].ttft_ns, Some(lengths(0) + 10 + lengths(1)));
}

/// EAGLE-3: an encoder of the draft reads the target's features, then the draft all tokens but one.
#[test]
fn a_draft_with_an_encoder_reads_the_prompt_in_two_calls() {
    let mut c = vec![call(TARGET, 8, &[1], 0), call(DRAFT, 8, &[8], 0), call(DRAFT, 7, &[0], 0)];
    let mut past = 8;
    for _ in 0..3 {
        guesses(&mut c, 1, past, 2);
        verify(&mut c, 100, 3, past);
        past += 2;
    }
    let mut m = model(&c, true);
    m.llama_calls.function[1] = DecodeFunction::LlamaEncode;
    let a = Analysis::compute(&m);
    let until = m.llama_calls.start_ns[2] + m.llama_calls.duration_ns[2];
    assert_eq!(a.token.requests[0].ttft_ns, Some(until - m.llama_calls.start_ns[0]));
    let first_token = a.ladder.of(Question::FirstToken).unwrap();
    assert!(first_token.measured_ns >= until - m.llama_calls.start_ns[0], "{first_token:?}");
}

#[test]
fn reading_the_prompt_is_no_guessing() {
    let mut c = Vec::new();
    for _ in 0..2 {
        c.extend([call(TARGET, 4, &[1], 0), call(DRAFT, 4, &[1], 0)]);
        guesses(&mut c, 1, 4, 3);
        verify(&mut c, 100, 4, 4);
    }
    let s = only(&c);
    assert_eq!((s.rounds, s.open_rounds, s.draft_token_ns), (2, 2, Some(10)));
    assert_eq!((s.accepted_share, s.emitted_per_round), (None, None));
}

#[test]
fn without_a_plain_token_the_time_of_one_is_estimated_or_bounded() {
    // Rounds of 4 and of 2 draft tokens, which take 100 and 80 ns: a token without a draft takes
    // 60.
    let mut c = vec![call(TARGET, 4, &[1], 0)];
    let mut past = 4;
    for _ in 0..3 {
        for (drafted, length) in [(4, 100), (2, 80)] {
            guesses(&mut c, 1, past, drafted - 1);
            verify(&mut c, length, drafted, past);
            past += 1;
        }
    }
    let s = only(&c);
    // Two draft tokens and one token in 80 ns: one token takes at least a third of that, and at
    // most all of it.
    let plain = |ns, by| Some(Plain { ns, low_ns: 26, high_ns: 80, calls: 0, by });
    assert_eq!((s.plain, s.wins), (plain(60, PlainSource::Line), Some(false)));
    // Two rounds of each are too few for a line.
    let two = 1 + 2 * (5 + 3);
    let s = only(&c[..two]);
    // A round takes (100 + 80) / 2 ns and three draft tokens of 10 ns, and gives one token: more
    // than 80 ns.
    assert_eq!((s.plain, s.wins), (plain(80, PlainSource::Bounds), Some(false)));
    assert_eq!((s.break_even_per_round, s.plain_tokens_per_s), (Some(120.0 / 80.0), Some(1e9 / 80.0)));
}

/// Rounds of four draft tokens in 100 ns with `accepted` accepted tokens each. A draft token takes
/// 10 ns, so a round takes 140.
pub(crate) fn always(accepted: u32, rounds: u32) -> Vec<Call> {
    let mut c = vec![call(TARGET, 4, &[0], 0), call(DRAFT, 4, &[1], 0)];
    let mut past = 4;
    for _ in 0..rounds {
        guesses(&mut c, 1, past, 3);
        verify(&mut c, 100, 4, past);
        past += accepted + 1;
    }
    c
}

#[test]
fn bounds_tell_whether_it_wins_unless_they_disagree() {
    // A plain token takes 20 to 100 ns: 1 token in 140 ns loses by both; 2 and 4 lose by the lower
    // bound only.
    let wins = |accepted| only(&always(accepted, 20)).wins;
    assert_eq!([0, 1, 3].map(wins), [Some(false), None, None]);
    // One draft token verified in 100 ns means at least 50 ns per token. With nine in 100 ns, all
    // accepted, 12 tokens come in 300 ns.
    let mut c = vec![call(TARGET, 4, &[0], 0), call(DRAFT, 4, &[1], 0)];
    let mut past = 4;
    for drafted in [1, 9, 1, 9, 1] {
        guesses(&mut c, 1, past, drafted - 1);
        verify(&mut c, 100, drafted, past);
        past += drafted + 1;
    }
    assert_eq!(only(&c).wins, Some(true));
}

/// Rounds of 140 ns in which two of four guesses are accepted, and eight single tokens of 60 ns. After each
/// verification the state of the sequence is copied for so long.
fn with_copies(copy: u64) -> Model {
    let mut c = always(2, 20);
    let past = 4 + 20 * 3;
    c.extend((past..past + 8).map(|n_past| lasting(60, call(TARGET, 1, &[1], n_past))));
    let mut m = model(&c, true);
    let d = &m.llama_calls;
    let verifications: Vec<(u64, u32)> = (0..d.len())
        .filter(|i| d.context[*i] == TARGET && d.n_tokens[*i] == 5)
        .map(|i| (d.start_ns[i] + d.duration_ns[i], m.threads.get(d.thread[i]).tid))
        .collect();
    let later = |start: &mut u64| {
        let copies = verifications.iter().filter(|(end, _)| end <= start).count() as u64;
        *start += copies * copy;
    };
    m.llama_calls.start_ns.iter_mut().for_each(later);
    m.graph_calls.start_ns.iter_mut().for_each(later);
    m.spans.start_ns.iter_mut().for_each(later);
    for (before, (end, tid)) in (0..).zip(&verifications) {
        m.housekeeping.push(Housekeeping {
            pid: 7,
            tid: *tid,
            kind: HousekeepingKind::SaveState,
            start_ns: end + before * copy,
            duration_ns: copy,
            bytes: 1,
        });
    }
    m
}

/// A round lasts until the next verification, so copies of the state in it decide whether it pays off, in the
/// table as in the finding.
#[test]
fn copies_of_states_are_a_part_of_the_round() {
    let (without, with) = (with_copies(0), with_copies(100));
    let of = |m: &Model| Analysis::compute(m).speculative.remove(0);
    // Three tokens in 140 ns, or in 240; alone they take 180.
    let close = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-6 * b;
    let s = of(&without);
    assert_eq!((s.wins, s.copies_ns, s.replay_ns), (Some(true), 0, 0));
    assert!(close(s.break_even_per_round, 140.0 / 60.0), "{s:?}");
    let s = of(&with);
    assert_eq!((s.wins, s.copies_ns, s.replay_ns), (Some(false), 100, 0));
    assert!(close(s.break_even_per_round, 240.0 / 60.0) && close(s.tokens_per_s, 3e9 / 240.0), "{s:?}");
    let found = |m: &Model| {
        let findings = Findings::compute(m, &Analysis::compute(m));
        findings.found.iter().any(|f| f.rule.code == "draft")
    };
    assert_eq!((found(&without), found(&with)), (false, true));
}

#[test]
fn a_draft_is_in_no_headline_and_its_target_has_the_request() {
    let a = Analysis::compute(&model(&calls(), true));
    let of = |context: u64| -> Vec<Phase> {
        let name = format!("{context:#x}");
        a.token.calls.iter().filter(|c| c.context.as_ref() == Some(&name)).map(|c| c.phase).collect()
    };
    assert_eq!(of(TARGET), [WarmUp, Prefill, BatchDecode, BatchDecode, BatchDecode, Decode, BatchDecode]);
    assert!(of(DRAFT)[1..].iter().all(|p| *p == Draft), "{:?}", of(DRAFT));
    assert_eq!((a.token.prefill.tokens, a.token.decode.calls), (4, 1));
    // The prompt's last token comes with the first guesses. 4 + 2 + 1 more, the plain token, and at least
    // one of the last round.
    let requests: Vec<_> = a.token.requests.iter().map(|r| (r.prompt_tokens, r.generated)).collect();
    assert_eq!(requests, [(5, 9)]);
}

#[test]
fn two_models_that_take_turns_are_no_pair() {
    // Each answers one token at a time, or reads a prompt of which only the last token has logits.
    let mut c = Vec::new();
    for i in 0..6 {
        c.push(call(DRAFT, 1, &[1], 10 + i));
        c.push(call(DRAFT, 1, &[1], 11 + i));
        c.push(call(TARGET, 2, &[1], 10 + i));
        c.push(call(TARGET, 1, &[1], 12 + i));
    }
    assert_eq!(Analysis::compute(&model(&c, true)).speculative, []);
    // Where it is unknown which tokens have logits, nothing is verification.
    assert_eq!(Analysis::compute(&model(&calls(), false)).speculative, []);
    // The verifying context is never the smaller of the two.
    let swap = |c: &Call| Call { context: if c.context == DRAFT { TARGET } else { DRAFT }, ..c.clone() };
    let swapped: Vec<Call> = calls().iter().map(swap).collect();
    assert_eq!(Analysis::compute(&model(&swapped, true)).speculative, []);
}

/// A recurrent state: after a rejected guess, the accepted tokens are computed again at the position where
/// the verification began.
#[test]
fn accepted_tokens_that_are_computed_again_count_once() {
    let mut c = vec![call(TARGET, 4, &[0], 0), call(DRAFT, 4, &[1], 0)];
    // Of 4 guesses, 1, 4 and none are accepted.
    let mut past = 4;
    for accepted in [1, 4, 0] {
        guesses(&mut c, 1, past, 3);
        verify(&mut c, 100, 4, past);
        if accepted < 4 {
            c.push(lasting(30, call(TARGET, accepted + 1, &[1], past)));
        }
        past += accepted + 1;
    }
    guesses(&mut c, 1, past, 3);
    verify(&mut c, 100, 4, past);
    let s = only(&c);
    assert_eq!((s.rounds, s.open_rounds, s.drafted, s.emitted, s.accepted), (4, 1, 16, 8, 5));
    // Two of four rounds compute again what they accepted, for 30 ns.
    assert_eq!(s.replay_ns, 15);
    let drafted = s.draft_token_ns.unwrap() as f64 * 4.0;
    assert!((s.tokens_per_s.unwrap() - 8.0 / 3.0 * 1e9 / (100.0 + drafted + 15.0)).abs() < 1.0, "{s:?}");
    assert_eq!(
        s.verified.iter().map(|v| (v.drafted, v.rounds, v.median_ns)).collect::<Vec<_>>(),
        [(4, 4, 100)]
    );
    // An engine may also verify them again, together with the token that it did not have before.
    let again: Vec<Call> = c
        .iter()
        .cloned()
        .map(|c| if c.length == 30 { Call { rows: vec![u64::from(c.n_tokens)], ..c } } else { c })
        .collect();
    let of = only(&again);
    // Of the round with one accepted guess, none was; that without had one token.
    assert_eq!((of.emitted, of.accepted), (8, 4));
    let a = Analysis::compute(&model(&c, true));
    assert_eq!(a.token.prefill.tokens, 4);
    let requests: Vec<_> = a.token.requests.iter().map(|r| (r.prompt_tokens, r.generated)).collect();
    assert_eq!(requests, [(5, 8)]);
}
