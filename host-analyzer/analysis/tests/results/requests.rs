//! Requests of contexts whose batches show no sequences: by the positions in their graphs.

use profinfer_analysis::Analysis;
use profinfer_analysis::ladder::Question;
use profinfer_analysis::request::Request;
use profinfer_trace::model::*;
use profinfer_views::terminal::terminal;

/// A call: context, first position, tokens, start, duration, status.
type Row = (u64, Option<u32>, u32, u64, u64, i32);

fn requests(rows: &[Row]) -> Vec<Request> {
    Analysis::compute(&model(rows)).token.requests
}

fn model(rows: &[Row]) -> Model {
    let mut m = Model::default();
    let thread = m.threads.find_or_add(1);
    for (i, &(context, n_past, n_tokens, start, length, status)) in (0..).zip(rows) {
        let d = &mut m.llama_calls;
        d.start_ns.push(start);
        d.duration_ns.push(length);
        d.function.push(DecodeFunction::LlamaDecode);
        d.thread.push(thread);
        d.context.push(context);
        d.n_tokens.push(n_tokens);
        d.status.push(status);
        let g = &mut m.graph_calls;
        g.start_ns.push(start);
        g.duration_ns.push(length);
        g.layer.push(Layer::Backend);
        g.backend.push(Text::default());
        g.topology.push(None);
        g.n_nodes.push(0);
        g.n_tokens.push(n_tokens);
        g.n_past.push(n_past);
        g.thread.push(thread);
        g.decode.push(Some(LlamaCallId(i)));
        g.parent.push(None);
    }
    m
}

/// First call, tokens of the prompt, TTFT, generated tokens, TPOT.
type Figures = (u32, u64, Option<u64>, u64, Option<u64>);

fn figures(requests: &[Request]) -> Vec<Figures> {
    requests.iter().map(|r| (r.first_call, r.prompt_tokens, r.ttft_ns, r.generated, r.tpot_ns)).collect()
}

/// An encoder reads the prompts of 8 and 5 tokens; its decoder begins each answer at position 0.
#[test]
fn an_encoder_reads_the_prompt_of_its_decoder() {
    let mut m = model(&[
        (1, Some(0), 8, 100, 50, 0),
        (1, Some(0), 1, 160, 20, 0),
        (1, Some(1), 1, 190, 20, 0),
        (1, Some(2), 1, 220, 20, 0),
        (1, Some(0), 5, 300, 30, 0),
        (1, Some(0), 1, 340, 20, 0),
        (1, Some(1), 1, 370, 20, 0),
    ]);
    for encode in [0, 4] {
        m.llama_calls.function[encode] = DecodeFunction::LlamaEncode;
    }
    let a = Analysis::compute(&m);
    assert_eq!(figures(&a.token.requests), [(0, 8, Some(80), 2, Some(30)), (4, 5, Some(60), 1, Some(30))]);
    // The ladder also has the time until the next call, in which the first token is sampled.
    let ladder = a.ladder.rows.iter().find(|l| l.question == Question::FirstToken).unwrap();
    assert_eq!((ladder.units, ladder.measured_ns), (2, 80 + 10 + 60 + 10));
}

#[test]
fn a_prompt_in_parts_is_one_request() {
    // A server cuts a prompt before its last tokens; the parts may grow.
    let got = requests(&[
        (1, Some(0), 100, 0, 100, 0),
        (1, Some(100), 512, 101, 120, 0),
        (1, Some(612), 4, 222, 10, 0),
        (1, Some(616), 1, 240, 10, 0),
    ]);
    assert_eq!(figures(&got), [(0, 616, Some(232), 1, Some(18))]);
    assert_eq!(got[0].reused, Some(0));
}

#[test]
fn a_trial_call_is_no_request() {
    let got =
        requests(&[(1, Some(0), 2, 0, 10, 0), (1, Some(0), 5, 5_000, 20, 0), (1, Some(5), 1, 5_030, 10, 0)]);
    assert_eq!(figures(&got), [(1, 5, Some(20), 1, Some(20))]);
}

#[test]
fn the_same_position_again_is_a_repetition() {
    let row = |start| (1, Some(0), 16, start, 10, 0);
    let got = requests(&[row(0), row(11), row(24)]);
    assert_eq!(
        got.iter().map(|r| (r.first_call, r.prompt_tokens)).collect::<Vec<_>>(),
        [(0, 16), (1, 16), (2, 16)]
    );
}

#[test]
fn a_prompt_after_an_answer_is_the_next_request() {
    let got = requests(&[
        (1, Some(0), 4, 0, 10, 0),
        (1, Some(4), 1, 20, 10, 0),
        (1, Some(5), 1, 40, 20, 0),
        // The conversation goes on.
        (1, Some(6), 3, 1_000, 50, 0),
        (1, Some(9), 1, 1_060, 10, 0),
    ]);
    assert_eq!(figures(&got), [(0, 4, Some(10), 2, Some(25)), (3, 3, Some(50), 1, Some(20))]);
    assert_eq!(got.iter().map(|r| (r.index, r.reused)).collect::<Vec<_>>(), [(0, Some(0)), (1, Some(6))]);
}

#[test]
fn equal_prompts_of_which_only_the_last_token_is_read() {
    let got = requests(&[
        (1, Some(0), 9, 0, 10, 0),
        (1, Some(9), 1, 20, 10, 0),
        (1, Some(8), 1, 1_000, 10, 0),
        (1, Some(9), 1, 1_020, 10, 0),
    ]);
    assert_eq!(figures(&got), [(0, 9, Some(10), 1, Some(20)), (2, 1, Some(10), 1, Some(20))]);
    assert_eq!(got[1].reused, Some(8));
}

#[test]
fn contexts_have_their_own_requests() {
    let got = requests(&[
        (1, Some(0), 4, 0, 10, 0),
        (2, Some(0), 4, 10, 5, 0),
        (2, Some(4), 1, 16, 2, 0),
        (2, Some(5), 1, 20, 2, 0),
        (1, Some(4), 3, 30, 12, 0),
        (1, Some(7), 1, 50, 2, 0),
    ]);
    assert_eq!(figures(&got), [(0, 7, Some(42), 1, Some(10)), (1, 4, Some(5), 2, Some(4))]);
}

#[test]
fn failed_calls_count_for_nothing() {
    let rows = [(1, Some(0), 4, 0, 10, 0), (1, Some(4), 1, 20, 10, 1), (1, Some(4), 1, 40, 20, 0)];
    let token = Analysis::compute(&model(&rows)).token;
    assert_eq!(figures(&token.requests), [(0, 4, Some(10), 1, Some(50))]);
    assert_eq!((token.failed_calls, token.decode.calls, token.calls.len()), (1, 1, 3));
}

#[test]
fn an_answer_whose_prompt_was_not_seen_has_no_ttft() {
    let got =
        requests(&[(1, Some(30), 1, 0, 10, 0), (1, Some(31), 1, 12, 10, 0), (1, Some(32), 1, 25, 10, 0)]);
    // Two intervals: 10 to 22, 22 to 35.
    assert_eq!(figures(&got), [(0, 0, None, 3, Some(13))]);
    assert_eq!(figures(&requests(&[(1, Some(30), 1, 0, 10, 0)])), [(0, 0, None, 1, None)]);
}

#[test]
fn without_positions_there_are_no_requests() {
    assert_eq!(requests(&[(1, None, 8, 0, 10, 0), (1, None, 1, 20, 10, 0)]), []);
    assert_eq!(requests(&[(1, Some(0), 0, 0, 10, 0)]), []);
    let unknown = |rows: &[Row]| Analysis::compute(&model(rows)).token.requests_unknown;
    let calls = [(1, None, 8, 0, 10, 0), (1, None, 1, 20, 10, 0)];
    assert!(unknown(&calls));
    let m = model(&calls);
    let mut text = Vec::new();
    terminal(&m, &Analysis::compute(&m), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("requests: unknown, because neither the batches nor the graphs"), "{text}");
    // With positions they are known; a trial call, and one that failed, are no requests.
    assert!(!unknown(&[(1, Some(0), 8, 0, 10, 0)]) && !unknown(&[(1, None, 8, 0, 10, 1)]) && !unknown(&[]));
}
