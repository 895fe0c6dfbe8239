//! Threads that sleep, or do not, at barriers and between requests; and the application's time
//! between tokens.

use profinfer_analysis::findings::{Confidence, Remedy, Requirement, Value};
use profinfer_analysis::ladder::Question;
use profinfer_trace::model::*;

use super::Answer::{Found, NotKnown, RuledOut, Silent};
use super::{PROCESS, answer, confidence, evidence, findings, number, remedy, tell, text};
use crate::models::planted::{Plant, TOKENS, each, prompts, state, tokens};
use crate::models::small::{PID, call};

/// The worker sleeps until it begins its first operator, `ns` late, in each token.
fn late(ns: u64, policy: &str) -> Model {
    let mut m = tokens(0, ns, 0, true);
    number(&mut m, PROCESS, "environment.read", 1);
    text(&mut m, PROCESS, "env.OMP_WAIT_POLICY", policy);
    for call in 0..TOKENS as usize {
        let at = m.llama_calls.start_ns[call] + 25;
        state(&mut m, 1, at, ns, ThreadState::Sleeping);
    }
    m
}

#[test]
fn threads_that_sleep_at_barriers() {
    let m = late(10_000, "PASSIVE");
    // The time asleep, with 8.4 % of the 450 ns without it, and 7.8 % of itself, added as squares.
    assert_eq!(answer(&m, "passive_wait"), Found(9_219, 10_038));
    assert_eq!(remedy(&m, "passive_wait"), Remedy::SpinAtBarriers);
    assert_eq!(evidence(&m, "passive_wait", "lost_ns"), Some(Value::Nanoseconds(10_000)));
    assert_eq!(evidence(&m, "passive_wait", "operators"), Some(Value::Mean(3.0)));
    assert_eq!(answer(&late(8, "passive"), "passive_wait"), RuledOut);
    // It is not what the environment asks for, and it does not happen at most operators: something
    // else delays them.
    let seldom = late(10_000, "active");
    assert_eq!(answer(&seldom, "passive_wait"), Found(0, 0));
    assert_eq!(confidence(&seldom, "passive_wait"), Confidence::Low);
    // Whatever the environment contains: the worker falls asleep twice in each token. What it does
    // in between would not be without the sleep.
    let mut asleep = late(10_000, "active");
    for call in 0..TOKENS as usize {
        let at = asleep.llama_calls.start_ns[call];
        asleep.sched.states.duration_ns[call] -= 100;
        state(&mut asleep, 1, at + 25 + 9_950, 50, ThreadState::Sleeping);
    }
    sort(&mut asleep.sched.states);
    assert_eq!(answer(&asleep, "passive_wait"), Found(9_219, 10_038));
    assert_eq!(evidence(&asleep, "passive_wait", "sleeps"), Some(Value::Mean(2.0)));
    let needed = [Requirement::Level("sched"), Requirement::Fact("environment.read")];
    assert_eq!(answer(&tokens(0, 0, 0, false), "passive_wait"), NotKnown(needed.to_vec()));
}

/// A frozen thread seems to sleep. A reading in each token finds the control group frozen, or none does.
#[test]
fn a_frozen_control_group() {
    let with = |frozen| {
        let mut m = late(10_000, "active");
        number(&mut m, PROCESS, "cgroup.frozen", 0);
        for call in 0..TOKENS as usize {
            let at = m.llama_calls.start_ns[call] + 25;
            tell(&mut m, at + 5_000, PROCESS, "cgroup.frozen", FactValue::Number(frozen));
            tell(&mut m, at + 10_000, PROCESS, "cgroup.frozen", FactValue::Number(0));
        }
        m
    };
    let m = with(1);
    assert_eq!(answer(&m, "stopped"), Found(9_219, 10_038));
    assert_eq!(answer(&m, "passive_wait"), RuledOut);
    let first = m.llama_calls.start_ns[0] + 5_025 - m.session.start_ns;
    assert_eq!(evidence(&m, "stopped", "frozen_at"), Some(Value::Nanoseconds(first)));
    assert_eq!(answer(&with(0), "stopped"), RuledOut);
    assert_eq!(evidence(&with(0), "stopped", "frozen_at"), None);
}

/// The same, and thread 102 of the application has the engine read a prompt after the tokens, with thread 103, which lives
/// from `since` or that prompt on.
fn with_another_team(policy: &str, since: u64) -> Model {
    let mut m = late(10_000, policy);
    text(&mut m, PROCESS, "affinity", "0-1");
    for tid in [102, 103] {
        let thread = m.threads.find_or_add(tid);
        m.threads.describe(thread, PID, Text::default());
    }
    let start = m.llama_calls.start_ns[TOKENS as usize - 1] + 20_000;
    let rows = [2, 3].map(|thread| (thread, 0, 0, start + 30, 100, 10));
    call(&mut m, start, [400, 300, 250], 4, 0, &rows);
    m.llama_calls.thread[TOKENS as usize] = ThreadId(2);
    m.graph_calls.thread.iter_mut().rev().take(2).for_each(|thread| *thread = ThreadId(2));
    for thread in [1, 3] {
        state(&mut m, thread, start, 400, ThreadState::Running);
    }
    state(&mut m, 3, since.min(start), start - since.min(start), ThreadState::Sleeping);
    m
}

#[test]
fn threads_of_another_team_make_threads_sleep() {
    let both = |m: &Model| ["idle_team", "passive_wait"].map(|code| answer(m, code));
    // Three threads of two teams on two CPUs.
    let m = with_another_team("active", 0);
    // They do sleep.
    assert_eq!(both(&m), [Found(9_219, 10_038), NotKnown(vec![Requirement::Culprit])]);
    assert_eq!(remedy(&m, "idle_team"), Remedy::NoIdleTeam);
    // It is asked for, or the team begins later.
    assert_eq!(both(&with_another_team("passive", 0)), [RuledOut, Found(9_219, 10_038)]);
    assert_eq!(both(&with_another_team("active", u64::MAX)), [RuledOut, Found(0, 0)]);
}

#[test]
fn sleeps_of_prompts_are_per_prompt() {
    let mut m = prompts(late(10_000, "passive"));
    // Asleep between two prompts, too.
    let end = m.llama_calls.start_ns[0] + m.llama_calls.duration_ns[0];
    state(&mut m, 1, end + 10, 20, ThreadState::Sleeping);
    sort(&mut m.sched.states);
    let f = findings(&m);
    // Also where the sleep does not matter.
    let per_unit = |m: &Model| {
        let f = findings(m);
        let found = f.found.iter().map(|f| (f.rule, &f.found.evidence));
        let mut all = found.chain(f.ruled_out.iter().map(|(rule, evidence)| (*rule, evidence)));
        let (_, of) = all.find(|(rule, _)| rule.code == "passive_wait").unwrap();
        of.iter().find(|e| e.key == "lost_ns").unwrap().per
    };
    assert_eq!(per_unit(&m), Some(Question::Prompt));
    assert_eq!(per_unit(&prompts(late(8, "passive"))), Some(Question::Prompt));
    assert_eq!((f.headline.question, f.headline.calls), (Question::Prompt, TOKENS));
    let found = f.found.iter().find(|f| f.rule.code == "passive_wait").unwrap();
    assert_eq!(found.gain().unwrap().question, Question::Prompt);
    let evidence = |key| found.found.evidence.iter().find(|e| e.key == key).unwrap();
    assert_eq!(
        (evidence("sleeps").value.clone(), evidence("sleeps").per),
        (Value::Mean(1.0), Some(Question::Prompt))
    );
    assert_eq!(evidence("operators").value, Value::Mean(3.0));
}

/// The states of the worker in order of time.
fn sort(states: &mut ThreadStates) {
    let mut times: Vec<_> = states.start_ns.iter().copied().zip(states.duration_ns.iter().copied()).collect();
    times.sort_unstable();
    (states.start_ns, states.duration_ns) = times.into_iter().unzip();
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
    // A millisecond in each token of 1000400 ns, in none of them less.
    assert_eq!((answer(&m, "sampling"), remedy(&m, "sampling")), (Found(0, 1_000_000), Remedy::Sampling));
    assert_eq!(evidence(&m, "sampling", "application_ns_per_token"), Some(Value::Nanoseconds(1_000_000)));
    // Most of the token, but what any application takes.
    assert_eq!(answer(&with(150_000), "sampling"), RuledOut);
    // The time of an application that sleeps in it is still the application's.
    let mut asleep = with(999_950);
    for call in 1..TOKENS as usize {
        let end = asleep.llama_calls.start_ns[call - 1] + 400;
        state(&mut asleep, 0, end + 1_000, 900_000, ThreadState::Sleeping);
    }
    assert_eq!(answer(&asleep, "sampling"), Found(0, 1_000_000));
}
