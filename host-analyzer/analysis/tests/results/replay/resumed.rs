//! A thread that loses its CPU in the middle of an operator computes slower after it.

use profinfer_analysis::Analysis;
use profinfer_analysis::replay::Cause;
use profinfer_trace::model::Model;

use super::sums_are_exact;
use crate::models::planted::{Plant, each, taken};

/// How long another task has the worker's CPU, ns.
const AWAY: u64 = 200;
/// How much longer the worker computes then, ns.
const LONGER: u64 = 300;

/// In every fourth token.
fn preempted() -> Model {
    let disturbed = |token: u64| token.is_multiple_of(4);
    let work = AWAY + LONGER;
    let mut m = each(|token| Plant { work: if disturbed(token) { work } else { 0 }, ..Plant::default() });
    for call in (0..m.llama_calls.len()).filter(|call| disturbed(*call as u64)) {
        let at = m.llama_calls.start_ns[call] + 80;
        taken(&mut m, at, AWAY);
    }
    m
}

#[test]
fn it_belongs_to_what_took_the_cpu() {
    let m = preempted();
    sums_are_exact(&m);
    let a = Analysis::compute(&m);
    let program = |caused: Cause| matches!(caused, Cause::Program(_));
    for c in &a.replay.calls {
        let caused: u64 = c.caused.iter().filter(|(cause, _)| program(*cause)).map(|(_, ns)| ns).sum();
        let expected = if c.call.0.is_multiple_of(4) { AWAY + LONGER } else { 0 };
        assert_eq!(caused, expected, "{:?}", c.caused);
        assert_eq!(c.usual.work, a.replay.calls[1].usual.work);
    }
}
