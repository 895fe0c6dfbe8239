//! Calls by the number of their sequences, and context shifts.

use profinfer_analysis::Analysis;
use profinfer_trace::model::{Layer, LlamaCallId};
use profinfer_views::words;

use crate::models::calls::{Call, call, model};
use crate::server::{self, Part};

#[test]
fn the_cost_of_a_call_by_the_number_of_its_sequences() {
    let one = |i: u64, seqs: i32, ns: u64| {
        let parts: Vec<Part> = (0..seqs).map(|seq| (seq, 8 + i as i32, 1, 1)).collect();
        (1_000 + i * 200, ns, parts)
    };
    let mut calls = vec![(0, 900, (0..3).map(|seq| (seq, 0, 8, 1)).collect::<Vec<Part>>())];
    calls.extend([one(0, 3, 120), one(1, 3, 150), one(2, 3, 130), one(3, 2, 110), one(4, 1, 100)]);
    let calls: Vec<(u64, u64, &[Part])> =
        calls.iter().map(|(at, ns, parts)| (*at, *ns, &parts[..])).collect();
    let steps = Analysis::compute(&server::model(&calls)).token.steps;
    let rows: Vec<_> = steps.iter().map(|s| (s.sequences, s.calls, s.median_ns, s.token_ns())).collect();
    // The prompt is no such call.
    assert_eq!(rows, [(1, 1, 100, 100), (2, 1, 110, 55), (3, 3, 130, 43)]);
}

#[test]
fn a_context_shift_is_counted_with_its_time() {
    let mut calls: Vec<Call> = (0..5).map(|i| call(1, 1, &[1], 8 + i)).collect();
    (calls[2].length, calls[2].rows) = (160, vec![1, 1]);
    let mut m = model(&calls, true);
    assert!(Analysis::compute(&m).token.context_shifts.is_empty());
    // The first of its two graphs has few nodes, and takes 50 ns.
    let graphs = &mut m.graph_calls;
    let of_call =
        |i: &usize| graphs.decode[*i] == Some(LlamaCallId(2)) && graphs.layer[*i] == Layer::Scheduler;
    let first = (0..graphs.len()).find(of_call).unwrap();
    graphs.n_nodes[first] = 2;
    // Its embedding reads by how much the cells move.
    graphs.n_past[first + 1] = Some(77);
    let token = Analysis::compute(&m).token;
    assert_eq!(
        token.calls.iter().map(|c| c.n_past).collect::<Vec<_>>(),
        (8..13).map(Some).collect::<Vec<_>>()
    );
    let shifts = token.context_shifts;
    let [s] = &shifts[..] else { panic!("{shifts:?}") };
    assert_eq!((s.shifts, s.graph_ns, s.median_ns, s.other_median_ns), (1, 50, 160, Some(100)));
    assert!(
        words::tokens::context_shifts(s)
            .starts_with("Context shift (keys rotated to new positions): 1 time, ")
    );
}
