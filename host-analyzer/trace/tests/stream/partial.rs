//! The limits of a model of a damaged stream: nothing that was not sent, and nothing missing
//! without a report.

use std::collections::HashSet;

use profinfer_trace::model::{DamageKind, Model};

use crate::received::Received;
use profinfer_trace::test_support::session::Sent;
use profinfer_trace::test_support::truth::{Call, Tensor, Truth};

/// Takes `key` out of `left`: found at most once.
fn take<T: std::hash::Hash + Eq + std::fmt::Debug>(left: &mut HashSet<T>, key: T, what: &str) {
    assert!(left.remove(&key), "{what} that was not sent, or twice: {key:?}");
}

/// Every row of the model was sent once. Each of its values is the sent one or unknown.
pub(crate) fn within(model: &Model, truth: &Truth) {
    let got = Received::new(model);
    let mut left: HashSet<_> = truth.spans.iter().cloned().collect();
    for (mut span, wait) in got.spans.clone() {
        let sent = truth.spans.iter().find(|s| (s.tid, s.start, s.node) == (span.tid, span.start, span.node));
        span.wait = sent.map_or(0, |s| s.wait);
        assert!(wait.is_none_or(|w| w == span.wait), "a wait of {wait:?} that was {}", span.wait);
        take(&mut left, span, "a span");
    }
    let mut left: HashSet<_> = truth.llama_calls.iter().cloned().collect();
    for mut decode in got.llama_calls.clone() {
        if decode.n_tokens == 0 {
            let sent = truth.llama_calls.iter().find(|d| d.start == decode.start);
            decode.n_tokens = sent.map_or(0, |d| d.n_tokens);
        }
        take(&mut left, decode, "a token call");
    }
    let mut left: HashSet<_> = truth.calls.iter().cloned().collect();
    for (call, backend) in got.calls.iter().zip(&got.backends) {
        let sent = truth.calls.iter().find(|c| (c.start, c.scheduler) == (call.start, call.scheduler));
        let sent = sent.unwrap_or_else(|| panic!("a call that was not sent: {call:?}"));
        link(call.decode, sent.decode);
        link(call.parent, sent.parent);
        if let Some(topology) = call.topology {
            let sent = sent.topology.unwrap_or_else(|| panic!("a topology where none was told"));
            same_topology(&got.topologies[topology].tensors, &truth.topologies[sent].tensors);
        }
        assert!(backend.is_empty() || !call.scheduler && backend == "CPU");
        let known =
            Call { decode: sent.decode, parent: sent.parent, topology: sent.topology, ..call.clone() };
        take(&mut left, known, "a call");
    }
    for topology in &got.topologies {
        let like = truth.topologies.iter().any(|s| {
            s.n_nodes == topology.n_nodes
                && topology.tensors.iter().zip(&s.tensors).all(|(got, sent)| fits(got, sent))
        });
        assert!(like, "a topology that was not sent: {topology:?}");
        assert!(
            !topology.complete || topology.tensors.iter().all(|t| t.ne != [0; 4]),
            "complete without a tensor"
        );
    }
}

fn link(got: Option<u64>, sent: Option<u64>) {
    assert!(got.is_none() || got == sent, "linked to {got:?} in place of {sent:?}");
}

fn same_topology(got: &[Tensor], sent: &[Tensor]) {
    assert_eq!(got.len(), sent.len());
    assert!(got.iter().zip(sent).all(|(got, sent)| fits(got, sent)));
}

/// A tensor, or one of which nothing arrived, or one of whose texts some did not.
fn fits(got: &Tensor, sent: &Tensor) -> bool {
    let text = |a: &str, b: &str| a.is_empty() || a == b;
    let lost = got.ne == [0; 4] && got.src.is_empty() && got.name.is_empty() && got.view_of.is_none();
    lost || (text(&got.name, &sent.name) && text(got.op, sent.op) && text(got.dtype, sent.dtype))
        && (got.role, got.ne, got.bytes, got.view_of, &got.src)
            == (sent.role, sent.ne, sent.bytes, sent.view_of, &sent.src)
}

/// Frames in the model, frames that are missing and those that are damaged but in sequence make up
/// what was sent, as far as the last one that arrived.
pub(crate) fn loss_is_named(model: &Model, sent: &Sent) {
    let h = &model.health;
    let count = |kind| h.damage.iter().find(|d| d.kind == kind).map_or(0, |d| d.count);
    let seen =
        h.frames + count(DamageKind::Gap) + count(DamageKind::Malformed) + count(DamageKind::UnknownKind);
    let all = sent.records.len() as u64;
    assert!(h.frames <= all, "{} frames of {all}", h.frames);
    if h.cut_short() {
        assert!(seen <= all, "{seen} of {all} frames accounted for");
    } else {
        assert_eq!(seen, all, "the end arrived, so every frame before it is counted");
    }
    if h.frames < all {
        assert!(!h.perfect());
        assert!(h.cut_short() || !h.damage.is_empty(), "frames are missing without a word");
    }
    let got = Received::new(model);
    let rows = |d: usize, c: usize, s: usize| d + c + s;
    let all = rows(sent.truth.llama_calls.len(), sent.truth.calls.len(), sent.truth.spans.len());
    if rows(got.llama_calls.len(), got.calls.len(), got.spans.len()) < all {
        assert!(!h.perfect(), "rows are missing without a word");
    }
    let unresolved = model.health.spans_received - model.spans.len() as u64;
    assert!(count(DamageKind::Unresolved) >= unresolved, "{unresolved} spans left out without a word");
}
