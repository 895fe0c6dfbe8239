//! Which `llama_decode` calls make a request.

use profinfer_analysis::Analysis;
use profinfer_analysis::request::Request;
use profinfer_trace::model::*;

/// A call: context, tokens, start, duration, status, topology of its graph.
type Row = (u64, u32, u64, u64, i32, Option<u32>);

fn requests(rows: &[Row]) -> Vec<Request> {
    Analysis::compute(&model(rows)).token.requests
}

fn model(rows: &[Row]) -> Model {
    let mut m = Model::default();
    let thread = m.threads.find_or_add(1);
    let topologies = rows.iter().filter_map(|r| r.5).max().map_or(0, |s| s + 1);
    let empty = Topology { pid: 1, n_nodes: 0, nodes: Vec::new(), complete: true };
    m.topologies.rows = vec![empty; topologies as usize];
    for (i, &(context, n_tokens, start, length, status, topology)) in (0..).zip(rows) {
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
        g.topology.push(topology.map(TopologyId));
        g.n_nodes.push(0);
        g.n_tokens.push(n_tokens);
        g.n_past.push(None);
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

#[test]
fn a_prompt_in_parts_is_one_request() {
    let got = requests(&[
        (1, 512, 0, 100, 0, Some(0)),
        (1, 512, 101, 120, 0, Some(1)),
        (1, 7, 222, 10, 0, Some(2)),
        (1, 1, 240, 10, 0, Some(3)),
    ]);
    assert_eq!(figures(&got), [(0, 1_031, Some(232), 1, Some(18))]);
}

#[test]
fn a_warm_up_call_is_a_request_of_its_own() {
    let got =
        requests(&[(1, 2, 0, 10, 0, Some(0)), (1, 5, 5_000, 20, 0, Some(1)), (1, 1, 5_030, 10, 0, None)]);
    assert_eq!(figures(&got), [(0, 2, Some(10), 0, None), (1, 5, Some(20), 1, Some(20))]);
}

#[test]
fn the_same_graph_again_is_a_repetition() {
    let got =
        requests(&[(1, 16, 0, 10, 0, Some(4)), (1, 16, 11, 12, 0, Some(4)), (1, 16, 24, 9, 0, Some(4))]);
    assert_eq!(got.iter().map(|r| r.ttft_ns).collect::<Vec<_>>(), [Some(10), Some(12), Some(9)]);
}

#[test]
fn without_graphs_equal_parts_are_one_prompt() {
    let got = requests(&[(1, 16, 0, 10, 0, None), (1, 16, 11, 12, 0, None)]);
    assert_eq!(figures(&got), [(0, 32, Some(23), 0, None)]);
}

#[test]
fn a_prompt_after_an_answer_is_the_next_request() {
    let got = requests(&[
        (1, 4, 0, 10, 0, None),
        (1, 1, 20, 10, 0, None),
        (1, 1, 40, 20, 0, None),
        (1, 3, 1_000, 50, 0, None),
        (1, 1, 1_060, 10, 0, None),
    ]);
    assert_eq!(figures(&got), [(0, 4, Some(10), 2, Some(25)), (3, 3, Some(50), 1, Some(20))]);
    assert_eq!(got.iter().map(|r| r.index).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn contexts_have_their_own_requests() {
    // A draft and a target: their calls alternate on one thread.
    let got = requests(&[
        (1, 4, 0, 10, 0, Some(0)),
        (2, 4, 10, 5, 0, Some(1)),
        (2, 1, 16, 2, 0, None),
        (2, 1, 20, 2, 0, None),
        (1, 3, 30, 12, 0, Some(2)),
    ]);
    assert_eq!(
        figures(&got),
        [(0, 4, Some(10), 0, None), (1, 4, Some(5), 2, Some(4)), (4, 3, Some(12), 0, None)]
    );
}

#[test]
fn failed_calls_count_for_nothing() {
    let rows = [(1, 4, 0, 10, 0, None), (1, 1, 20, 10, 1, None), (1, 1, 40, 20, 0, None)];
    let token = Analysis::compute(&model(&rows)).token;
    assert_eq!(figures(&token.requests), [(0, 4, Some(10), 1, Some(50))]);
    assert_eq!((token.failed_calls, token.decode.calls, token.calls.len()), (1, 1, 3));
}

#[test]
fn an_answer_whose_prompt_was_not_seen_has_no_ttft() {
    let got = requests(&[(1, 1, 0, 10, 0, None), (1, 1, 12, 10, 0, None), (1, 1, 25, 10, 0, None)]);
    // Two intervals: 10 to 22, 22 to 35.
    assert_eq!(figures(&got), [(0, 0, None, 3, Some(13))]);
    assert_eq!(figures(&requests(&[(1, 1, 0, 10, 0, None)])), [(0, 0, None, 1, None)]);
}

#[test]
fn calls_of_unknown_size_are_in_no_request() {
    assert_eq!(requests(&[(1, 0, 0, 10, 0, None)]), []);
}
