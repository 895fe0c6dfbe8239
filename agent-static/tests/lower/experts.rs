//! Experts: selections of a router, in ranges, by token and rank.

use profinfer_agent::bpf::ring::{EXPERTS_MAX, Event, Experts, Graph};
use profinfer_trace::model::Model;

use crate::engine::{I32, MUL_MAT_ID, NONE, T, tensor};
use crate::run::{Run, TID, graph, head};

const USED: u32 = 4;
const TOKENS: u32 = 100;

/// A layer of 16 experts, of which each token uses four.
fn layer() -> (Vec<T>, Vec<T>) {
    let mut ids = tensor(0x9100, "ids", NONE, &[]);
    (ids.dtype, ids.ne) = (I32, [USED.into(), TOKENS.into(), 1, 1]);
    let mut weights = tensor(0x9000, "ffn_gate_exps.weight", NONE, &[]);
    weights.ne = [64, 64, 16, 1];
    let node = tensor(0x1000, "ffn_moe_gate", MUL_MAT_ID, &[0x9000, 0x9200, 0x9100]);
    (vec![node], vec![weights, ids, tensor(0x9200, "x", NONE, &[])])
}

fn expert(position: u32) -> i32 {
    (position * 7 % 16).cast_signed()
}

/// Sends the selection in ranges that fill a record; `unreadable` positions are what the kernel writes then.
fn select(run: &mut Run, call: u64, node: u64, unreadable: &[u32]) {
    for first in (0..USED * TOKENS).step_by(EXPERTS_MAX) {
        let positions = first..(first + EXPERTS_MAX as u32).min(USED * TOKENS);
        let id = |p: u32| if unreadable.contains(&p) { i32::MIN } else { expert(p) };
        let ids: Vec<u8> = positions.clone().flat_map(|p| id(p).to_ne_bytes()).collect();
        let mut head = head(TID);
        head.arg = positions.len() as u32;
        run.event(&Event::Experts(Experts { head, graph: call, node, first, n_used: USED, ids: &ids }));
    }
}

fn read(unreadable: &[u32]) -> Model {
    let mut run = Run::new();
    run.topology(head(TID), 1, &layer());
    let start = graph(head(TID), 1000, 1);
    run.graph(start);
    select(&mut run, 1000, 0x1000, unreadable);
    run.op(head(TID), 1000, (0x1000, 0x1000), (1010, 1020));
    run.graph(Graph { end_ns: 1100, ..start });
    run.finish()
}

fn selected(model: &Model) -> Vec<(u32, i32)> {
    let e = &model.experts;
    (0..e.len()).map(|i| (e.token[i] * USED + e.rank[i], e.expert[i].cast_signed())).collect()
}

#[test]
fn a_selection_is_sent_by_token_and_rank() {
    let model = read(&[]);
    let expected: Vec<(u32, i32)> = (0..USED * TOKENS).map(|p| (p, expert(p))).collect();
    assert_eq!(selected(&model), expected);
    let ledger = model.health.experts.unwrap();
    assert_eq!((ledger.chosen, ledger.sent, ledger.received), (400, 400, 400));
}

#[test]
fn unreadable_experts_do_not_shift_the_others() {
    let holes = [0, 5, 6, 63, 64, 399];
    let model = read(&holes);
    let expected: Vec<(u32, i32)> =
        (0..USED * TOKENS).filter(|p| !holes.contains(p)).map(|p| (p, expert(p))).collect();
    assert_eq!(selected(&model), expected);
    let ledger = model.health.experts.unwrap();
    assert_eq!((ledger.sent, ledger.unreadable), (394, 6));
}

#[test]
fn selections_without_a_known_graph_or_end_are_counted() {
    let mut run = Run::new();
    run.topology(head(TID), 1, &layer());
    // Unknown call, unknown node, a call without an end.
    select(&mut run, 77, 0x1000, &[]);
    run.graph(graph(head(TID), 1000, 1));
    select(&mut run, 1000, 0xbad, &[]);
    select(&mut run, 1000, 0x1000, &[]);
    let model = run.finish();
    let ledger = model.health.experts.unwrap();
    assert_eq!((ledger.chosen, ledger.sent, ledger.no_graph, model.experts.len()), (1200, 0, 1200, 0));
}
