//! Operators that take longer from some token on, while no thread lacks a CPU.

use profinfer_analysis::Analysis;
use profinfer_analysis::ladder::{Question, StepKind};
use profinfer_analysis::replay::{CallReplay, Cause};
use profinfer_trace::model::Model;

use super::sums_are_exact;
use crate::models::duty::thin;
use crate::models::planted::{Plant, TOKENS, each};

/// The token from which on the operators take longer.
const FROM: usize = 20;

/// The operators of later tokens take this much longer, on both threads together, ns.
fn slower(work: u64) -> Model {
    each(|token| Plant { work: if token >= FROM as u64 { work } else { 0 }, ..Plant::default() })
}

fn decode(a: &Analysis) -> Vec<&CallReplay> {
    a.replay.calls.iter().filter(|c| c.call.0 > 0).collect()
}

#[test]
fn what_slower_operators_take_longer_is_no_usual_work() {
    let m = slower(1_000);
    sums_are_exact(&m);
    let a = Analysis::compute(&m);
    let calls = decode(&a);
    let (before, after) = calls.split_at(FROM - 1);
    assert!(before.iter().all(|c| c.caused.is_empty()));
    let usual = before[0].usual.work;
    for c in after {
        assert!(c.usual.work.abs_diff(usual) <= 1, "{} {usual}", c.usual.work);
        // The threads computed 1000 ns longer together: 500 in the mean. The rest is an uneven split.
        assert!(c.caused.get(Cause::LowerSpeed).abs_diff(500) <= 1, "{:?}", c.caused);
    }
    let [change] = a.replay.speed_changes[..] else { panic!("{:?}", a.replay.speed_changes) };
    assert_eq!(change.call, after[0].call);
    let weights = before[0].weights_ns;
    assert_eq!((change.before_ns, change.after_ns), (weights, weights + 500));
    assert!(0 < weights && weights < usual && after.iter().all(|c| c.weights_ns.abs_diff(weights) <= 1));
    let ladder = a.ladder.of(Question::Decode).unwrap();
    let step = ladder.sum(|kind| kind == StepKind::Caused(Cause::LowerSpeed));
    assert!(step.abs_diff(500 * (TOKENS as i64 - FROM as i64)) <= TOKENS, "{step}");
}

#[test]
fn the_same_work_has_one_speed() {
    let a = Analysis::compute(&slower(10));
    assert_eq!(a.replay.speed_changes, []);
    assert!(decode(&a).iter().all(|c| c.caused.is_empty()));
}

/// What is not explained in untraced calls: their usual work is the mean of slow and fast ones.
#[test]
fn untraced_calls_are_as_slow_as_those_around_them() {
    let mut m = slower(1_000);
    thin(&mut m, &[0..30, 33..TOKENS as usize]);
    sums_are_exact(&m);
    let a = Analysis::compute(&m);
    let untraced: Vec<_> = decode(&a).into_iter().filter(|c| !c.traced).collect();
    assert_eq!(untraced.len(), 3);
    for c in untraced {
        let slower = c.caused.get(Cause::LowerSpeed);
        assert!(slower > 0 && c.unexplained_ns == 0, "{c:?}");
    }
}
