//! Starts without ends, and filters: filtered spans are counted, and the others are the same as
//! without filters.

use profinfer_agent::bpf::ring::{Decode, Graph};
use profinfer_agent::request::capture::{Effective, Wanted};
use profinfer_agent::request::plan;
use profinfer_trace::model::Model;
use profinfer_wire::record::capture::Ends;
use profinfer_wire::record::filter::FilterOn;

use crate::engine::{ADD, GET_ROWS, MUL_MAT, T, chain, tensor};
use crate::run::{PID, Run, SpanRow, TID, decode_call, graph, head, sorted, spans};

fn run(wanted: &Wanted) -> Run {
    let effective = Effective::new(wanted, plan::levels("all").unwrap(), false);
    let mut run = Run::new();
    effective.emit(&mut run.lower.emit);
    run.lower.starts_only = effective.programs().starts_only;
    run.lower.filters = effective.filters;
    run.lower.capture_loss = Some(Default::default());
    run
}

fn filtered(on: FilterOn, text: &str) -> Run {
    run(&Wanted { filters: vec![(on, text.to_owned())], ..Wanted::default() })
}

fn filtered_spans(model: &Model) -> u64 {
    model.health.ledger.unwrap().spans_filtered
}

/// A graph of the CPU by its starts alone: threads in turn, a node every 10 ns, and the end 20 ns
/// after the last.
fn starts(run: &mut Run, start_ns: u64, key: u64, nodes: &[T], threads: u32) -> Vec<SpanRow> {
    let call = Graph { n_nodes: u32::try_from(nodes.len()).unwrap(), ..graph(head(TID), start_ns, key) };
    run.graph(call);
    let end_ns = start_ns + 10 * nodes.len() as u64 + 20;
    let mut rows = Vec::new();
    for (k, t) in (0..).zip(nodes) {
        for thread in 0..threads {
            let at = start_ns + 10 + 10 * k + u64::from(thread);
            run.op(head(TID + thread), start_ns, (t.address, t.address), (at, 0));
            let next = if k + 1 < nodes.len() as u64 { at + 10 } else { end_ns };
            rows.push((start_ns, TID + thread, t.name.clone(), t.name.clone(), at, next - at));
        }
    }
    run.graph(Graph { end_ns, ..call });
    rows
}

#[test]
fn a_start_ends_the_span_before_and_the_call_ends_the_last() {
    let mut run = run(&Wanted { ends: Ends::None, ..Wanted::default() });
    // More than one batch holds.
    let (few, many) = (chain(0x1000, "a", 3), chain(0x80_0000, "b", 3_000));
    run.topology(head(TID), 9, &few);
    run.topology(head(TID), 10, &many);
    let mut expected = vec![starts(&mut run, 1_000, 9, &few.0, 2)];
    expected.push(starts(&mut run, 5_000, 10, &many.0, 1));
    // Again: no state remains from the previous calls.
    expected.push(starts(&mut run, 90_000, 9, &few.0, 2));
    let model = run.finish();
    assert_eq!(spans(&model), sorted(expected));
    assert!(model.health.perfect(), "{:#?}", model.health);
}

#[test]
fn a_call_without_an_end_leaves_its_last_starts_at_the_edge() {
    let mut run = run(&Wanted { ends: Ends::None, ..Wanted::default() });
    let topology = chain(0x1000, "n", 3);
    run.topology(head(TID), 9, &topology);
    run.graph(graph(head(TID), 100, 9));
    run.op(head(TID), 100, (0x1000, 0x1000), (110, 0));
    run.op(head(TID), 100, (0x1100, 0x1100), (120, 0));
    let model = run.finish();
    assert_eq!((model.spans.len(), model.health.ledger.unwrap().spans_no_start), (0, 2));
}

#[test]
fn types_and_names() {
    for (on, text) in [(FilterOn::Op, "add"), (FilterOn::Name, "n-1,x*")] {
        let mut run = filtered(on, text);
        let (mut nodes, leafs) = chain(0x1000, "n", 4);
        nodes[1].op = ADD;
        run.topology(head(TID), 9, &(nodes.clone(), leafs));
        let all = run.compute(head(TID), 100, 9, &nodes);
        // A kernel passes if any of its nodes passes.
        run.graph(graph(head(TID), 500, 9));
        run.op(head(TID), 500, (0x1000, 0x1100), (510, 520));
        run.op(head(TID), 500, (0x1200, 0x1300), (530, 540));
        run.graph(Graph { end_ns: 600, ..graph(head(TID), 500, 9) });
        // The kernel side gets the others, once.
        let left_out = std::mem::take(&mut run.lower.left_out);
        assert_eq!(left_out, [(9, 0x1000), (9, 0x1200), (9, 0x1300)]);
        let model = run.finish();
        let fused = (500, TID, "n-0".to_owned(), "n-1".to_owned(), 510, 10);
        assert_eq!(spans(&model), sorted([vec![all[1].clone(), fused]]), "{on:?}");
        assert_eq!(filtered_spans(&model), 4);
        assert!(model.health.perfect(), "{:#?}", model.health);
    }
}

#[test]
fn layers_by_name_or_by_source() {
    let mut run = filtered(FilterOn::Layer, "3");
    let weight = tensor(0x9000, "blk.3.ffn_up.weight", 0, &[]);
    let other = tensor(0x9100, "blk.2.ffn_up.weight", 0, &[]);
    let nodes = vec![
        tensor(0x1000, "l_out-2", ADD, &[0x9100]),
        tensor(0x1100, "node_1", MUL_MAT, &[0x1000, 0x9000]),
        tensor(0x1200, "norm-3", ADD, &[0x1100]),
        tensor(0x1300, " (copy)", ADD, &[0x1000]),
        tensor(0x1400, "result_norm", ADD, &[0x1200]),
    ];
    run.topology(head(TID), 9, &(nodes.clone(), vec![weight, other]));
    let all = run.compute(head(TID), 100, 9, &nodes);
    let model = run.finish();
    assert_eq!(spans(&model), sorted([vec![all[1].clone(), all[2].clone()]]));
    assert_eq!(filtered_spans(&model), 3);
}

/// A decode call with this many tokens and a graph of four nodes.
fn token(run: &mut Run, start_ns: u64, n_tokens: i32, topology: &[T]) -> Vec<SpanRow> {
    let decode = decode_call(head(TID), start_ns, n_tokens);
    run.decode(decode);
    let rows = run.compute(head(TID), start_ns + 5, 9, topology);
    run.decode(Decode { end_ns: start_ns + 90, ..decode });
    rows
}

#[test]
fn calls_by_number() {
    // Calls of 5, 1, 1, 1, 7, 1, 1 tokens.
    let cases: [(FilterOn, &str, &[usize]); 3] = [
        (FilterOn::Token, "2-3,5", &[2, 3, 6]),
        (FilterOn::Request, "2", &[4, 5, 6]),
        (FilterOn::Request, "1", &[0, 1, 2, 3]),
    ];
    for (on, text, kept) in cases {
        let mut run = filtered(on, text);
        let topology = chain(0x1000, "n", 4);
        run.topology(head(TID), 9, &topology);
        let calls: Vec<_> = (1..)
            .zip([5, 1, 1, 1, 7, 1, 1])
            .map(|(k, n)| token(&mut run, 1_000 * k, n, &topology.0))
            .collect();
        let model = run.finish();
        assert_eq!(spans(&model), sorted(kept.iter().map(|k| calls[*k].clone())), "{on:?} {text}");
        assert_eq!(filtered_spans(&model), 4 * (7 - kept.len() as u64));
        assert_eq!(model.llama_calls.len(), 7, "the calls are complete");
        assert!(model.health.perfect(), "{:#?}", model.health);
    }
}

#[test]
fn tokens_by_their_graphs_if_the_call_has_no_number() {
    let mut run = filtered(FilterOn::Token, "1");
    let topology = chain(0x1000, "n", 2);
    run.topology(head(TID), 9, &topology);
    for (k, n) in [(1, 6), (2, 1), (3, 1)] {
        let decode = decode_call(head(TID), 1_000 * k, -1);
        run.decode(decode);
        let call = Graph { first_op: GET_ROWS, first_ne1: n, ..graph(head(TID), 1_000 * k + 5, 9) };
        run.graph(call);
        run.op(head(TID), 1_000 * k + 5, (0x1000, 0x1000), (1_000 * k + 10, 1_000 * k + 20));
        run.graph(Graph { end_ns: 1_000 * k + 50, ..call });
        run.decode(Decode { end_ns: 1_000 * k + 60, ..decode });
    }
    let model = run.finish();
    let expected = (2_005, TID, "n-0".to_owned(), "n-0".to_owned(), 2_010, 10);
    assert_eq!(spans(&model), [expected]);
    assert_eq!((filtered_spans(&model), PID), (2, PID));
}
