//! Requests by slot, computed by hand.

use profinfer_analysis::Analysis;
use profinfer_analysis::findings::{Findings, Requirement};
use profinfer_analysis::ladder::Question;
use profinfer_analysis::server::{Batches, Begin, Server};
use profinfer_trace::model::*;

use crate::models::graph::outer_graph;

/// A part: sequence, position, tokens, outputs.
pub(crate) type Part = (i32, i32, u32, u32);

const START: u64 = 1_000;

/// Calls with their start, duration and parts. For a call with no parts, the batch was lost.
pub(crate) fn model(calls: &[(u64, u64, &[Part])]) -> Model {
    let mut m = Model::default();
    m.session.start_ns = START;
    let thread = m.threads.find_or_add(1);
    for (i, (start, length, parts)) in (0..).zip(calls) {
        let d = &mut m.llama_calls;
        d.start_ns.push(START + start);
        d.duration_ns.push(*length);
        d.function.push(DecodeFunction::LlamaDecode);
        d.thread.push(thread);
        d.context.push(7);
        d.n_tokens.push(parts.iter().map(|p| p.2).sum::<u32>().max(1));
        d.status.push(0);
        let mut first = 0;
        for (seq, pos, n, outputs) in *parts {
            let p = &mut m.parts;
            p.decode.push(LlamaCallId(i));
            p.first.push(first);
            p.n.push(*n);
            p.seq.push(Some(*seq));
            p.n_seq.push(1);
            p.pos.push(Some(*pos));
            p.same.push(false);
            p.outputs.push(Some(*outputs));
            first += n;
        }
    }
    m
}

/// An edit of sequence and first position, up to the end.
fn edit(at: u64, kind: EditKind, (seq, from): (i32, i32), target: i32) -> Edit {
    Edit { pid: 0, at_ns: START + at, memory: 1, kind, seq, from, to: -1, target }
}

/// The same calls of an engine that has ended, which took this many outputs of these.
fn with_taken(calls: &[(u64, u64, &[Part])], taken: &[(u32, u32)]) -> Model {
    let mut m = model(calls);
    m.taken = taken.iter().map(|(call, outputs)| (LlamaCallId(*call), *outputs)).collect();
    m.health.end = Some(End {
        reason: EndReason::EngineEnded,
        frames: 0,
        bpf_run_ns: 0,
        bpf_runs: 0,
        agent_cpu_ns: 0,
        agent_rss_bytes: 0,
    });
    m
}

fn server(calls: &[(u64, u64, &[Part])]) -> Server {
    Analysis::compute(&model(calls)).server
}

/// Slot, how it begins, reused, prompt, outputs, TTFT, waited, TPOT.
type Figures = (i32, Begin, Option<u32>, Option<u64>, Option<u64>, Option<u64>, Option<u64>, Option<u64>);

fn figures(s: &Server) -> Vec<Figures> {
    let row = |r: &profinfer_analysis::server::SlotRequest| {
        (r.slot, r.begin, r.reused, r.prompt_tokens, r.output_tokens, r.ttft_ns, r.waited_ns, r.tpot_ns)
    };
    s.requests.iter().map(row).collect()
}

/// Two slots: the prompt of the second waits for a call of the first, and comes in two parts.
pub(crate) fn shared() -> Model {
    model(&[
        (0, 100, &[(0, 0, 8, 1)]),
        (110, 50, &[(0, 8, 1, 1), (1, 20, 6, 0)]),
        (170, 40, &[(0, 9, 1, 1)]),
        (220, 60, &[(0, 10, 1, 1), (1, 26, 4, 1)]),
        (300, 30, &[(1, 30, 1, 1)]),
    ])
}

#[test]
fn two_slots_share_the_calls() {
    let m = shared();
    let analysis = Analysis::compute(&m);
    let s = &analysis.server;
    assert_eq!(
        figures(s),
        [
            // First output at 100, the fourth at 280: 60 for each of three.
            (0, Begin::Prompt, Some(0), Some(8), Some(4), Some(100), Some(0), Some(60)),
            // From 110 to 280, with 110 in its own calls; then 330.
            (1, Begin::Prompt, Some(20), Some(10), Some(2), Some(170), Some(60), Some(50)),
        ]
    );
    // A call is divided by its tokens: 50 ns in 1 and 6 of them, 60 ns in 1 and 4.
    let costs: Vec<u64> = s.requests.iter().map(|r| r.cost_ns).collect();
    assert_eq!(costs, [100 + 7 + 40 + 12, 43 + 48 + 30]);
    assert_eq!(costs.iter().sum::<u64>(), m.llama_calls.duration_ns.iter().sum::<u64>());
    let c = &s.contexts[0];
    assert_eq!((c.slots.len(), c.spreads.requests, c.calls_not_whole), (2, 2, 0));
    assert_eq!(c.spreads.cost_ns, 280);
    assert_eq!(
        (c.spreads.ttft_ns.p50, c.spreads.ttft_ns.p90, c.spreads.ttft_ns.p99),
        (Some(100), Some(170), Some(170))
    );
    assert_eq!(
        c.batches,
        [
            Batches {
                sequences: 1,
                calls: 3,
                mixed_calls: 0,
                time_ns: 170,
                prompt_tokens: 8,
                answer_tokens: 2
            },
            Batches {
                sequences: 2,
                calls: 2,
                mixed_calls: 2,
                time_ns: 110,
                prompt_tokens: 10,
                answer_tokens: 2
            },
        ]
    );
    // The list of requests is by slot, too. The output of the prompt's call has no generating call.
    let requests: Vec<_> = analysis
        .token
        .requests
        .iter()
        .map(|r| (r.slot, r.prompt_tokens, r.ttft_ns, r.generated, r.tpot_ns))
        .collect();
    assert_eq!(requests, [(Some(0), 8, Some(100), 3, Some(60)), (Some(1), 10, Some(170), 1, Some(50))]);
}

/// With a single slot, the list of requests stays by calls.
#[test]
fn what_begins_a_request() {
    let s = server(&[
        (0, 10, &[(0, 0, 8, 1)]),
        (20, 10, &[(0, 8, 1, 1)]),
        // The conversation continues: nine tokens are cached.
        (40, 10, &[(0, 9, 5, 1)]),
        // The same prompt again: all but its last token are cached.
        (60, 10, &[(0, 13, 1, 1)]),
        (80, 10, &[(0, 14, 1, 1)]),
        // Another prompt, whose last token comes alone.
        (100, 10, &[(0, 2, 4, 0)]),
        (120, 10, &[(0, 6, 1, 1)]),
    ]);
    let begun: Vec<_> = figures(&s).into_iter().map(|f| (f.1, f.2, f.3, f.4)).collect();
    assert_eq!(
        begun,
        [
            (Begin::Prompt, Some(0), Some(8), Some(2)),
            (Begin::Prompt, Some(9), Some(5), Some(1)),
            (Begin::Back, Some(13), Some(1), Some(2)),
            (Begin::Prompt, Some(2), Some(5), Some(1)),
        ]
    );
    assert_eq!(s.requests[3].ttft_ns, Some(30));
    assert_eq!(s.requests[3].waited_ns, Some(10));
}

/// Verified draft tokens: positions go back to the first rejected one.
#[test]
fn verified_guesses_are_counted_by_positions() {
    let s = server(&[
        (0, 10, &[(0, 0, 8, 1)]),
        // Two of three draft tokens are accepted, then none of three; the result of the last call
        // is unknown.
        (20, 10, &[(0, 8, 4, 4)]),
        (40, 10, &[(0, 11, 4, 4)]),
        (60, 10, &[(0, 12, 4, 4)]),
    ]);
    // Outputs: one of the prompt, three, one, and at least one. Until 50, four after the first at
    // 10.
    assert_eq!(figures(&s), [(0, Begin::Prompt, Some(0), Some(8), Some(6), Some(10), Some(0), Some(10))]);
}

/// What no later call shows, the engine's removal of the rejected guesses does.
#[test]
fn the_last_guesses_of_an_answer_count_as_far_as_they_stay() {
    let calls: [(u64, u64, &[Part]); 3] =
        [(0, 10, &[(0, 0, 8, 1)]), (20, 10, &[(0, 8, 4, 4)]), (50, 10, &[(0, 0, 5, 1)])];
    let outputs = |cuts: &[(u64, i32, i32)]| {
        let mut m = model(&calls);
        m.edits = cuts.iter().map(|(at, seq, from)| edit(*at, EditKind::Cut, (*seq, *from), -1)).collect();
        let a = Analysis::compute(&m);
        let guesses =
            a.speculative.iter().map(|s| (s.drafted, s.accepted, s.open_rounds)).collect::<Vec<_>>();
        (a.server.requests[0].output_tokens, a.server.requests[0].tpot_ns, guesses)
    };
    // The token before the guesses, and two of three: with the engine's own token, three outputs more.
    assert_eq!(outputs(&[(31, 0, 11)]), (Some(4), Some(7), vec![(3, 2, 0)]));
    assert_eq!(outputs(&[(31, 0, 12)]).0, Some(5), "all are accepted");
    // Nothing removed; another sequence; during the call; after the next call; before the guesses.
    let open = (Some(2), None, vec![(3, 0, 1)]);
    for cuts in [&[][..], &[(31, 1, 11)], &[(25, 0, 11)], &[(70, 0, 11)], &[(31, 0, 8)]] {
        assert_eq!(outputs(cuts), open, "{cuts:?}");
    }
}

/// An engine that ends after its last guesses cuts nothing. It took the outputs of the guesses that it accepted,
/// and the one after them.
#[test]
fn the_last_guesses_count_as_far_as_their_outputs_are_taken() {
    let calls: [(u64, u64, &[Part]); 3] =
        [(0, 10, &[(0, 0, 8, 1)]), (20, 10, &[(0, 8, 4, 4)]), (40, 10, &[(0, 10, 4, 4)])];
    let of = |taken: &[(u32, u32)]| {
        let a = Analysis::compute(&with_taken(&calls, taken));
        (a.server.requests[0].output_tokens, a.speculative[0].accepted, a.speculative[0].open_rounds)
    };
    assert_eq!(of(&[(0, 1), (1, 2), (2, 3)]), (Some(6), 3, 0));
    assert_eq!(of(&[(0, 1), (1, 2), (2, 4)]), (Some(7), 4, 0));
    // None is recorded; one, which may be all at once; more than there are.
    assert_eq!(of(&[]), (Some(4), 1, 1));
    assert_eq!(of(&[(0, 1), (1, 2), (2, 1)]), (Some(4), 1, 1));
    assert_eq!(of(&[(0, 1), (1, 2), (2, 5)]), (Some(4), 1, 1));
}

/// A server keeps prompts in memory. All but the last token of one may come back into a sequence that had
/// fewer.
#[test]
fn a_prompt_that_comes_back_from_memory() {
    let begun = |calls: &[(u64, u64, &[Part])]| -> Vec<_> {
        server(calls)
            .requests
            .iter()
            .map(|r| (r.slot, r.begin, r.reused, r.prompt_tokens, r.output_tokens))
            .collect()
    };
    let calls: [(u64, u64, &[Part]); 5] = [
        (0, 5, &[(0, 0, 2, 1)]),
        (10, 10, &[(0, 0, 8, 1)]),
        (30, 10, &[(0, 8, 1, 1)]),
        (60, 10, &[(0, 39, 1, 1)]),
        (80, 10, &[(0, 40, 1, 1)]),
    ];
    let first = (0, Begin::Prompt, Some(0), Some(8), Some(2));
    assert_eq!(begun(&calls), [first, (0, Begin::Back, Some(39), Some(1), Some(2))]);
    // Without the engine's warm-up, earlier calls may be missing.
    assert_eq!(begun(&calls[1..]), [first, (0, Begin::Unseen, None, None, Some(2))]);
    // A copy of another sequence, which goes on at the same position.
    let copied: [(u64, u64, &[Part]); 3] = [calls[0], calls[1], (30, 10, &[(0, 8, 1, 1), (1, 8, 1, 1)])];
    assert_eq!(begun(&copied), [first, (1, Begin::Unseen, None, None, Some(1))]);
}

/// The last token of a prompt may have a call of its own, and the last token of an answer one that nobody takes
/// an output of.
#[test]
fn outputs_that_nobody_takes_are_none() {
    let calls: [(u64, u64, &[Part]); 5] = [
        (0, 100, &[(0, 0, 8, 1)]),
        (110, 20, &[(0, 8, 1, 1)]),
        (140, 20, &[(0, 9, 1, 1)]),
        (170, 20, &[(0, 10, 1, 1)]),
        (200, 20, &[(0, 11, 1, 1)]),
    ];
    let of = |m: &Model| figures(&Analysis::compute(m).server);
    let all = [(0, Begin::Prompt, Some(0), Some(8), Some(5), Some(100), Some(0), Some(30))];
    assert_eq!(of(&model(&calls)), all);
    assert_eq!(of(&with_taken(&calls, &[0, 1, 2, 3, 4].map(|i| (i, 1)))), all);
    // The output of its ninth token begins the answer, 130 after its begin, of which 10 between its calls.
    let two = [(0, Begin::Prompt, Some(0), Some(9), Some(3), Some(130), Some(10), Some(30))];
    assert_eq!(of(&with_taken(&calls, &[1, 2, 3].map(|i| (i, 1)))), two);
    // The engine still runs: an output of the last call may be taken after the session.
    let mut running = with_taken(&calls, &[1, 2, 3].map(|i| (i, 1)));
    running.health.end = None;
    assert_eq!(of(&running)[0].4, Some(4));
    // Most tokens seem to be without effect: their outputs are taken in ways that are not seen.
    assert_eq!(of(&with_taken(&calls, &[(1, 1)])), all);
}

/// Several answers to one prompt: its sequence is copied after its last call.
#[test]
fn a_copied_prompt_has_several_answers() {
    let calls: [(u64, u64, &[Part]); 4] = [
        (0, 5, &[(0, 0, 2, 1)]),
        (10, 40, &[(0, 0, 8, 1)]),
        (60, 10, &[(0, 8, 1, 1), (1, 8, 1, 1)]),
        (80, 10, &[(0, 9, 1, 1), (1, 9, 1, 1)]),
    ];
    let of = |edits: &[Edit]| {
        let mut m = model(&calls);
        m.edits = edits.to_vec();
        let a = Analysis::compute(&m);
        let outputs = |r: &profinfer_analysis::request::Request| r.generated + u64::from(r.ttft_ns.is_some());
        (figures(&a.server), a.token.requests.iter().map(outputs).collect::<Vec<_>>())
    };
    let first = (0, Begin::Prompt, Some(0), Some(8), Some(3), Some(40), Some(0), Some(20));
    let second = (1, Begin::Copied, Some(8), Some(0), Some(3), Some(40), Some(0), Some(20));
    assert_eq!(of(&[edit(55, EditKind::Copy, (0, -1), 1)]), (vec![first, second], vec![3, 3]));
    // Of another sequence; before the prompt; from a later position; after the answer began.
    let unseen = (1, Begin::Unseen, None, None, Some(2), None, None, Some(20));
    for (at, seq, from) in [(55, 2, -1), (7, 0, -1), (55, 0, 3), (75, 0, -1)] {
        let copy = edit(at, EditKind::Copy, (seq, from), 1);
        assert_eq!(of(&[copy]).0, [first, unseen], "{copy:?}");
    }
    // A part of the prompt.
    let part = Edit { to: 5, ..edit(55, EditKind::Copy, (0, 0), 1) };
    assert_eq!(of(&[part]).0, [first, unseen]);
}

/// A program tries its batches before it measures: a text without any output, after which it clears the memory.
#[test]
fn a_trial_of_the_program_is_no_request() {
    let calls: [(u64, u64, &[Part]); 3] =
        [(0, 10, &[(0, 0, 16, 0)]), (20, 10, &[(0, 0, 8, 1)]), (40, 10, &[(0, 8, 1, 1)])];
    let prompts = |calls: &[(u64, u64, &[Part])], edits: &[Edit]| -> Vec<_> {
        let mut m = model(calls);
        m.edits = edits.to_vec();
        Analysis::compute(&m).server.requests.iter().map(|r| r.prompt_tokens).collect()
    };
    let clear = |at| [edit(at, EditKind::Clear, (-1, -1), -1)];
    assert_eq!(prompts(&calls, &clear(12)), [Some(8)]);
    // It is kept for later; or it has an output, which is of use.
    assert_eq!(prompts(&calls, &clear(32)), [Some(16), Some(8)]);
    let used = [(0, 10, &[(0, 0, 16, 1)][..]), calls[1], calls[2]];
    assert_eq!(prompts(&used, &clear(12)), [Some(16), Some(8)]);
}

/// The tokens of an image have one position (M-RoPE), and the text behind it begins after its height.
#[test]
fn an_image_is_a_part_of_its_prompt() {
    let calls: [(u64, u64, &[Part]); 4] = [
        (0, 10, &[(0, 0, 36, 0)]),
        (20, 30, &[(0, 36, 9, 0)]),
        (60, 10, &[(0, 39, 50, 1)]),
        (80, 10, &[(0, 89, 1, 1)]),
    ];
    let mut m = model(&calls);
    m.parts.same[1] = true;
    let requests = Analysis::compute(&m).server.requests;
    let of: Vec<_> = requests.iter().map(|r| (r.prompt_tokens, r.output_tokens, r.ttft_ns)).collect();
    assert_eq!(of, [(Some(95), Some(2), Some(70))]);
    // An encoder computes the image between the first two parts, which is no wait; another one the image at the
    // beginning of the next prompt, whose time to the first token begins there.
    m.parts.same[1] = true;
    for (start, length) in [(11, 8), (200, 60)] {
        outer_graph(&mut m, START + start, length);
    }
    let d = &mut m.llama_calls;
    d.start_ns.push(START + 270);
    d.duration_ns.push(10);
    d.function.push(DecodeFunction::LlamaDecode);
    d.thread.push(ThreadId(0));
    d.context.push(7);
    d.n_tokens.push(20);
    d.status.push(0);
    let p = &mut m.parts;
    p.decode.push(LlamaCallId(4));
    p.first.push(0);
    p.n.push(20);
    p.seq.push(Some(0));
    p.n_seq.push(1);
    p.pos.push(Some(0));
    p.same.push(false);
    p.outputs.push(Some(1));
    let requests = Analysis::compute(&m).server.requests;
    let of: Vec<_> = requests.iter().map(|r| (r.ttft_ns, r.encode_ns, r.waited_ns)).collect();
    assert_eq!(of, [(Some(70), 8, Some(12)), (Some(80), 60, Some(10))]);
    // A text of other positions is another prompt.
    m.parts.same[1] = false;
    assert_eq!(Analysis::compute(&m).server.requests.len(), 3);
}

/// An engine that was started and not asked anything.
#[test]
fn a_warm_up_alone_is_no_request() {
    let analysis = Analysis::compute(&model(&[(0, 10, &[(0, 0, 2, 1)])]));
    assert_eq!((analysis.server.requests.len(), analysis.token.warm_up.calls), (0, 1));
    assert_eq!((analysis.token.prefill.calls, analysis.token.decode.calls), (0, 0));
}

/// A prompt, and two calls with a token that all sequences share: in sequence 3 four guesses follow it, the others
/// collect what may be guessed later. Two guesses of the first call are accepted.
fn lookahead() -> Model {
    let mut m = model(&[
        (0, 10, &[(0, 0, 8, 1)]),
        (20, 10, &[(0, 8, 1, 1), (3, 9, 4, 4), (1, 9, 4, 0), (1, 13, 1, 1)]),
        (40, 10, &[(0, 11, 1, 1), (3, 12, 4, 4), (1, 12, 4, 0), (1, 16, 1, 1)]),
    ]);
    (m.parts.n_seq[1], m.parts.n_seq[5]) = (4, 4);
    m
}

#[test]
fn branches_of_one_text_are_one_request() {
    let mut m = lookahead();
    let of = |m: &Model| Analysis::compute(m);
    // Nothing shows what the last call gives, so the time ends before it.
    let begins = (0, Begin::Prompt, Some(0), Some(8));
    let with = |outputs, tpot| {
        [(begins.0, begins.1, begins.2, begins.3, Some(outputs), Some(10), Some(0), Some(tpot))]
    };
    assert_eq!(figures(&of(&m).server), with(5, 7));
    // The engine cuts all sequences after the accepted ones: two tokens come out.
    m.edits = vec![edit(52, EditKind::Cut, (-1, 13), 0)];
    let analysis = of(&m);
    assert_eq!(figures(&analysis.server), with(6, 8));
    assert!(analysis.server.contexts[0].branches && analysis.server.contexts[0].slots.len() == 1);
    let [search] = &analysis.speculative[..] else { panic!("{:?}", analysis.speculative) };
    let counts = (search.rounds, search.open_rounds, search.drafted, search.accepted, search.emitted);
    assert_eq!((counts, search.plain, search.wins), ((2, 0, 8, 3, 5), None, None));
    let findings = Findings::compute(&m, &analysis);
    let verdict = findings.not_known.iter().find(|(rule, _)| rule.code == "speculation");
    assert_eq!(verdict.unwrap().1, [Requirement::PlainTokens]);
    let decode = analysis.ladder.of(Question::Decode).unwrap();
    assert_eq!((decode.units, decode.measured_ns), (5, 40));
    // It ends after the last call, of which it took three outputs.
    m.edits.clear();
    m.taken = vec![(LlamaCallId(0), 1), (LlamaCallId(1), 3), (LlamaCallId(2), 3)];
    assert_eq!(figures(&of(&m).server), with(7, 7));
}

/// Sequences of their own, and a prompt that all share, which has one output, at its end.
#[test]
fn sequences_without_a_common_answer_are_requests() {
    let mut m = lookahead();
    (m.parts.n_seq[1], m.parts.n_seq[5], m.parts.n_seq[0]) = (1, 1, 3);
    let server = Analysis::compute(&m).server;
    assert!(server.requests.len() > 1 && !server.contexts[0].branches, "{server:?}");
}

#[test]
fn what_was_not_seen_is_not_told() {
    // It was answering already, so its prompt is unknown.
    let s = server(&[(0, 10, &[(3, 50, 1, 1)]), (20, 10, &[(3, 51, 1, 1)])]);
    assert_eq!(figures(&s), [(3, Begin::Unseen, None, None, Some(2), None, None, Some(20))]);
    // The batch of a call was lost: positions still show the number of output tokens.
    let s = server(&[
        (0, 10, &[(0, 0, 8, 1)]),
        (20, 10, &[(0, 8, 1, 1)]),
        (40, 10, &[]),
        (60, 10, &[(0, 10, 1, 1)]),
    ]);
    assert_eq!(figures(&s), [(0, Begin::Prompt, Some(0), Some(8), Some(4), Some(10), Some(0), Some(20))]);
    assert_eq!(s.contexts[0].calls_not_whole, 1);
    // For a prompt, the lost part is unknown, and so is which request waited for which.
    let s = server(&[(0, 10, &[(0, 0, 8, 0)]), (20, 10, &[]), (40, 10, &[(0, 16, 8, 1)])]);
    assert_eq!(figures(&s), [(0, Begin::Prompt, Some(0), None, Some(1), Some(50), None, None)]);
    // It never answered.
    let s = server(&[(0, 10, &[(0, 0, 8, 0)])]);
    assert_eq!(figures(&s), [(0, Begin::Prompt, Some(0), Some(8), None, None, None, None)]);
}

/// Guesses with a recurrent state: what was accepted is computed again.
#[test]
fn accepted_tokens_that_are_computed_again_are_no_prompt() {
    let s = server(&[
        (0, 100, &[(0, 0, 8, 1)]),
        (110, 50, &[(0, 8, 4, 4)]),
        (170, 20, &[(0, 8, 2, 2)]),
        (200, 50, &[(0, 10, 4, 4)]),
        (260, 10, &[(0, 10, 1, 1)]),
        (280, 10, &[(0, 11, 1, 1)]),
    ]);
    // The prompt's output, one at 8 and 9 each, one at 10, and one at 11.
    let only: Vec<_> = figures(&s).into_iter().map(|f| (f.1, f.3, f.4)).collect();
    assert_eq!(only, [(Begin::Prompt, Some(8), Some(5))]);
}

/// A program that reads a prompt in batches of 16 asks for an output of each.
#[test]
fn a_prompt_that_is_cut_is_one_request() {
    let s = server(&[
        (0, 100, &[(0, 0, 16, 1)]),
        (101, 100, &[(0, 16, 16, 1)]),
        (202, 40, &[(0, 32, 5, 1)]),
        (250, 10, &[(0, 37, 1, 1)]),
    ]);
    assert_eq!(figures(&s), [(0, Begin::Prompt, Some(0), Some(37), Some(2), Some(242), Some(2), Some(18))]);
    // Short parts take little more time than what is between them.
    let short = server(&[
        (0, 10, &[(0, 0, 4, 1)]),
        (12, 10, &[(0, 4, 4, 1)]),
        (24, 10, &[(0, 8, 4, 1)]),
        (36, 5, &[(0, 12, 2, 1)]),
        (50, 10, &[(0, 14, 1, 1)]),
    ]);
    assert_eq!(figures(&short)[0].3, Some(14));
    assert_eq!(short.requests.len(), 1);
    // A client that answers after a while; a longer text.
    let later = server(&[(0, 100, &[(0, 0, 16, 1)]), (210, 100, &[(0, 16, 16, 1)])]);
    let longer = server(&[(0, 100, &[(0, 0, 16, 1)]), (101, 100, &[(0, 16, 30, 1)])]);
    assert_eq!([later, longer].map(|s| s.requests.len()), [2, 2]);
}

/// With logits for all tokens, and the same positions again: the steps of a diffusion model. Without
/// logits these are texts of one length.
#[test]
fn a_text_that_is_read_again_and_again() {
    let calls: Vec<(u64, u64, &[Part])> = (0..6).map(|i| (i * 100, 90, &[(0, 0, 64, 64)][..])).collect();
    let mut m = model(&calls);
    assert_eq!(Analysis::compute(&m).server.requests.len(), 6);
    crate::models::calls::with_logits(&mut m, 64);
    let s = Analysis::compute(&m).server;
    assert_eq!(
        s.requests.iter().map(|r| (r.prompt_tokens, r.reads, r.output_tokens)).collect::<Vec<_>>(),
        [(Some(64), 6, Some(0))]
    );
    let h = profinfer_analysis::findings::Findings::compute(&m, &Analysis::compute(&m)).headline;
    assert_eq!(h.texts.map(|t| (t.texts, t.reads, t.tokens)), Some((1, 6, 384)));
}

/// Batches without sequences belong to no slot.
#[test]
fn without_sequences_there_are_no_slots() {
    let mut m = model(&[(0, 10, &[(0, 0, 8, 1)])]);
    m.parts.seq = vec![None];
    let server = Analysis::compute(&m).server;
    assert_eq!((&server.contexts[..], &server.requests[..]), (&[][..], &[][..]));
    // The position shows the only sequence's request.
    assert_eq!(server.single.iter().map(|r| r.prompt_tokens).collect::<Vec<_>>(), [Some(8)]);
    let mut m = model(&[(0, 10, &[(0, 0, 8, 1)])]);
    m.parts.n_seq = vec![2];
    assert!(Analysis::compute(&m).server.requests.is_empty(), "a prompt that several share is nobody's own");
}
