//! Threads that sleep, or do not, at barriers and between requests; and the application's time
//! between tokens.

use profinfer_analysis::findings::{Remedy, Requirement, Value};
use profinfer_trace::model::*;

use super::Answer::{Found, NotKnown, RuledOut, Silent};
use super::{PROCESS, answer, evidence, number, remedy, text};
use crate::models::planted::{Plant, TOKENS, each, state, tokens};

/// The worker begins `ns` late in each token; ten microseconds make 10450 ns.
fn late(ns: u64, policy: &str) -> Model {
    let mut m = tokens(0, ns, 0, true);
    number(&mut m, PROCESS, "environment.read", 1);
    text(&mut m, PROCESS, "env.OMP_WAIT_POLICY", policy);
    m
}

#[test]
fn threads_that_sleep_at_barriers() {
    let m = late(10_000, "PASSIVE");
    // 10110 ns, of which a spinning barrier takes 3 * 2000: 0.4 of 4110 to 1.3 of 7110.
    assert_eq!(answer(&m, "passive_wait"), Found(1_644, 9_243));
    assert_eq!(remedy(&m, "passive_wait"), Remedy::SpinAtBarriers);
    assert_eq!(evidence(&m, "passive_wait", "between_ns_per_token"), Some(Value::Nanoseconds(10_110)));
    assert_eq!(evidence(&m, "passive_wait", "operators_per_token"), Some(Value::Mean(3.0)));
    let others = [late(10_000, "active"), late(5_900, "passive")];
    assert_eq!(others.map(|m| answer(&m, "passive_wait")), [RuledOut, RuledOut]);
    // Whatever the environment contains: the worker falls asleep twice in each token.
    let mut asleep = late(10_000, "active");
    for call in 0..TOKENS as usize {
        let at = asleep.llama_calls.start_ns[call];
        state(&mut asleep, 1, at + 1, 5, ThreadState::Sleeping);
        state(&mut asleep, 1, at + 8, 5, ThreadState::Sleeping);
    }
    assert_eq!(answer(&asleep, "passive_wait"), Found(1_644, 9_243));
    assert_eq!(evidence(&asleep, "passive_wait", "sleeps_per_token"), Some(Value::Mean(2.0)));
    let fact = Requirement::Fact("environment.read");
    assert_eq!(answer(&tokens(0, 0, 0, false), "passive_wait"), NotKnown(vec![fact]));
}

#[test]
fn threads_that_spin_while_idle() {
    let with = |pause: u64, running: u64| {
        let mut m = tokens(0, 0, pause, false);
        let before = m.llama_calls.start_ns[TOKENS as usize - 2] + 400;
        state(&mut m, 1, before, running, ThreadState::Running);
        m
    };
    let m = with(199_999_950, 150_000_000);
    assert_eq!((answer(&m, "polling"), remedy(&m, "polling")), (Found(0, 0), Remedy::SleepWhenIdle));
    assert_eq!(evidence(&m, "polling", "pauses_ns"), Some(Value::Nanoseconds(200_000_000)));
    assert_eq!(evidence(&m, "polling", "running_in_pauses"), Some(Value::Share(0.75)));
    let others = [with(199_999_950, 90_000_000), with(90_000_000, 90_000_000)];
    assert_eq!(others.map(|m| answer(&m, "polling")), [RuledOut, Silent]);
    assert_eq!(answer(&tokens(0, 0, 0, false), "polling"), NotKnown(vec![Requirement::Level("sched")]));
}

#[test]
fn time_between_the_calls() {
    let with = |before: u64| each(|_| Plant { before, ..Plant::default() });
    let m = with(999_950);
    // A millisecond in each token: from 0.3 of it to the largest credible gain, 0.98 of the token
    // of 1000400 ns.
    assert_eq!((answer(&m, "sampling"), remedy(&m, "sampling")), (Found(300_000, 980_392), Remedy::Sampling));
    assert_eq!(evidence(&m, "sampling", "application_ns_per_token"), Some(Value::Nanoseconds(1_000_000)));
    // Most of the token, but what any application takes.
    assert_eq!(answer(&with(150_000), "sampling"), RuledOut);
    // The time of an application that sleeps in it is still the application's.
    let mut asleep = with(999_950);
    for call in 1..TOKENS as usize {
        let end = asleep.llama_calls.start_ns[call - 1] + 400;
        state(&mut asleep, 0, end + 1_000, 900_000, ThreadState::Sleeping);
    }
    assert_eq!(answer(&asleep, "sampling"), Found(300_000, 980_392));
}
