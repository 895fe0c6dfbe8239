//! The budget: sums that hold for every session. A delay planted in one token appears in its class
//! and nowhere else.

use profinfer_analysis::Analysis;
use profinfer_analysis::budget::{Budget, Class, Parts};
use profinfer_analysis::phase::Phases;
use profinfer_trace::model::*;
use proptest::prelude::*;

use crate::models::planted::{DELAY, TOKENS, operator, state, tokens};
use crate::models::rows::spec;
use profinfer_trace::test_support::tables::model;

fn sums_hold(budget: &Budget) -> Result<(), TestCaseError> {
    for token in &budget.tokens {
        prop_assert_eq!(token.wall.total(), token.time_ns);
    }
    for phase in &budget.phases {
        prop_assert_eq!(phase.wall.total(), phase.time_ns);
        prop_assert_eq!(phase.work.iter().map(|w| w.ns).sum::<u64>(), phase.wall.get(Class::Work));
        for thread in &phase.threads {
            prop_assert_eq!(thread.parts.total(), thread.time_ns);
        }
        let tokens = budget.tokens.iter().filter(|t| t.phase == phase.phase);
        prop_assert_eq!(tokens.map(|t| t.time_ns).sum::<u64>(), phase.time_ns);
    }
    Ok(())
}

/// Scheduler rows at any time, of any state.
fn disturb(m: &mut Model, rows: &[(u8, u64, u64, u8)]) {
    m.sched.recorded = true;
    let threads = m.threads.len() as u8;
    let mut rows: Vec<_> = rows
        .iter()
        .map(|(thread, start, length, state)| (thread % threads, *start, *length, state))
        .collect();
    rows.sort_unstable();
    let mut last = (0, 0);
    for (thread, start, length, state) in rows {
        // The model promises that rows of a thread do not overlap.
        if (thread, start) < last {
            continue;
        }
        last = (thread, start + length);
        m.sched.states.thread.push(ThreadId(u32::from(thread)));
        m.sched.states.start_ns.push(start);
        m.sched.states.duration_ns.push(length);
        m.sched.states.state.push(ThreadState::ALL[usize::from(*state) % 6]);
        m.sched.states.cpu.push(u16::from(thread));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Without scheduler rows, threads in step take a shorter code path. A row without effect
    /// forces the other path.
    #[test]
    fn threads_in_step_are_told_as_any_are(
        spec in spec(),
        cost in proptest::option::of((0_u64..5_000, 0_u64..3_000)),
        lost in proptest::option::of(any::<prop::sample::Index>()),
        moved in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..40_000, any::<bool>()), 0..3),
    ) {
        let mut m = model(&spec);
        m.health.probe_cost = cost.map(|(pair_ns, inside_ns)| ProbeCost { pairs: 9, pair_ns, inside_ns });
        if !m.spans.is_empty() {
            if let Some(at) = lost {
                let at = at.index(m.spans.len());
                m.spans.wait_ns[at] = WAIT_UNKNOWN;
            }
            for (at, by, longer) in moved {
                let at = at.index(m.spans.len());
                let times = if longer { &mut m.spans.work_ns } else { &mut m.spans.start_ns };
                times[at] = times[at].saturating_add(by);
            }
        }
        let quick = Budget::compute(&m, &Phases::compute(&m));
        let states = &mut m.sched.states;
        states.thread.push(ThreadId(0));
        states.start_ns.push(0);
        states.duration_ns.push(u64::MAX);
        states.state.push(ThreadState::Running);
        states.cpu.push(0);
        prop_assert_eq!(quick, Budget::compute(&m, &Phases::compute(&m)));
    }

    #[test]
    fn classes_sum_to_the_time_whatever_the_scheduler_says(
        spec in spec(),
        rows in prop::collection::vec((0_u8..6, 0_u64..3_000_000, 0_u64..500_000, any::<u8>()), 0..40),
        cost in proptest::option::of((0_u64..5_000, 0_u64..3_000)),
        lost in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let mut m = model(&spec);
        disturb(&mut m, &rows);
        m.health.probe_cost = cost.map(|(pair_ns, inside_ns)| ProbeCost { pairs: 9, pair_ns, inside_ns });
        for at in lost {
            if !m.spans.is_empty() {
                let at = at.index(m.spans.len());
                m.spans.wait_ns[at] = WAIT_UNKNOWN;
            }
        }
        sums_hold(&Analysis::compute(&m).budget)?;
    }
}

fn budget(m: &Model) -> Budget {
    let budget = Budget::compute(m, &Phases::compute(m));
    sums_hold(&budget).unwrap();
    budget
}

/// What the last token has more than the previous one.
fn more(budget: &Budget) -> Vec<(Class, i64)> {
    let [.., before, last] = budget.tokens.as_slice() else { panic!("no tokens") };
    difference(&last.wall, &before.wall)
}

fn difference(a: &Parts, b: &Parts) -> Vec<(Class, i64)> {
    let all = Class::ALL.into_iter().map(|c| (c, a.get(c) as i64 - b.get(c) as i64));
    all.filter(|(_, ns)| *ns != 0).collect()
}

/// What the session has more than the same one without the delay, for the main thread and the
/// worker.
fn more_by_thread(with: &Budget) -> [Vec<(Class, i64)>; 2] {
    let without = budget(&tokens(0, 0, 0, false));
    [0, 1].map(|i| difference(&with.phases[0].threads[i].parts, &without.phases[0].threads[i].parts))
}

const PLANTED: i64 = DELAY as i64;

#[test]
fn a_preempted_worker_delays_the_token_and_the_other_waits_for_it() {
    let mut m = tokens(DELAY, 0, 0, false);
    let at = operator(&m) + 20;
    state(&mut m, 1, at, DELAY, ThreadState::Preempted);
    let b = budget(&m);
    assert_eq!(more(&b), [(Class::Preempted, PLANTED)]);
    assert_eq!(
        more_by_thread(&b),
        [vec![(Class::WaitPreempted, PLANTED)], vec![(Class::Preempted, PLANTED)]]
    );
}

#[test]
fn a_preempted_thread_on_an_idle_cpu_is_throttled() {
    let mut m = tokens(DELAY, 0, 0, false);
    let at = operator(&m) + 20;
    state(&mut m, 1, at, DELAY, ThreadState::Preempted);
    m.sched.tasks.push(Task {
        tid: 0,
        pid: 0,
        name: Text::default(),
        command: Text::default(),
        cgroup: Text::default(),
    });
    m.sched.turns.cpu.push(1);
    m.sched.turns.start_ns.push(at - 5);
    m.sched.turns.duration_ns.push(DELAY + 10);
    m.sched.turns.task.push(TaskId(0));
    let b = budget(&m);
    assert_eq!(more(&b), [(Class::Throttled, PLANTED)]);
    assert_eq!(
        more_by_thread(&b),
        [vec![(Class::WaitThrottled, PLANTED)], vec![(Class::Throttled, PLANTED)]]
    );
}

#[test]
fn a_worker_that_sleeps_in_an_operator_is_blocked() {
    let mut m = tokens(DELAY, 0, 0, false);
    let at = operator(&m) + 20;
    state(&mut m, 1, at, DELAY, ThreadState::Blocked);
    let b = budget(&m);
    assert_eq!(more(&b), [(Class::Blocked, PLANTED)]);
    assert_eq!(more_by_thread(&b), [vec![(Class::WaitBlocked, PLANTED)], vec![(Class::Blocked, PLANTED)]]);
}

#[test]
fn an_interrupt_within_another_counts_once() {
    let mut m = tokens(DELAY, 0, 0, false);
    let at = operator(&m) + 20;
    m.sched.recorded = true;
    for (start, length, kind) in [
        (at, DELAY, InterruptKind::Soft),
        (at + 100, 500, InterruptKind::Hard),
        (at + 700, 500, InterruptKind::Hard),
    ] {
        m.sched.interrupts.cpu.push(1);
        m.sched.interrupts.start_ns.push(start);
        m.sched.interrupts.duration_ns.push(length);
        m.sched.interrupts.kind.push(kind);
        m.sched.interrupts.name.push(Text::default());
    }
    let b = budget(&m);
    assert_eq!(more(&b), [(Class::Interrupted, PLANTED)]);
    assert_eq!(
        more_by_thread(&b),
        [vec![(Class::WaitInterrupted, PLANTED)], vec![(Class::Interrupted, PLANTED)]]
    );
}

#[test]
fn a_worker_that_begins_late_had_to_wake_up() {
    let b = budget(&tokens(0, DELAY, 0, false));
    assert_eq!(more(&b), [(Class::WaitStartedLate, PLANTED)]);
    assert_eq!(
        more_by_thread(&b),
        [vec![(Class::WaitStartedLate, PLANTED)], vec![(Class::BetweenOperators, PLANTED)]]
    );
}

#[test]
fn without_the_scheduler_level_a_late_worker_is_uneven() {
    // Of two threads, each could take half of the excess.
    let b = budget(&tokens(DELAY, 0, 0, false));
    assert_eq!(more(&b), [(Class::Work, PLANTED / 2), (Class::WaitUneven, PLANTED / 2)]);
    assert_eq!(more_by_thread(&b), [vec![(Class::WaitUneven, PLANTED)], vec![(Class::Work, PLANTED)]]);
    assert!(!b.scheduler);
}

#[test]
fn a_worker_that_is_always_last_has_more_to_do() {
    let with = budget(&tokens(DELAY, 0, 0, true));
    let tokens_ns = PLANTED * TOKENS as i64;
    assert_eq!(
        more_by_thread(&with),
        [vec![(Class::WaitMoreRows, tokens_ns)], vec![(Class::Work, tokens_ns)]]
    );
}

#[test]
fn a_worker_on_a_slower_core_is_told_as_such() {
    let mut m = tokens(DELAY, 0, 0, true);
    let name = m.texts.intern("cpu.capacity");
    for (cpu, capacity) in [(0, 1024), (1, 530)] {
        let value = FactValue::Number(capacity);
        m.facts.rows.push(Fact { at_ns: 0, scope: FactScope::Cpu(cpu), name, value });
    }
    let tokens_ns = PLANTED * TOKENS as i64;
    assert_eq!(
        more_by_thread(&budget(&m)),
        [vec![(Class::WaitSlowerCore, tokens_ns)], vec![(Class::Work, tokens_ns)]]
    );
}

#[test]
fn a_worker_that_is_stopped_before_it_begins_is_blocked_and_one_that_sleeps_there_is_late() {
    let with = |of| {
        let mut m = tokens(0, DELAY, 0, false);
        let at = operator(&m);
        state(&mut m, 1, at, DELAY, of);
        budget(&m)
    };
    let b = with(ThreadState::Stopped);
    assert_eq!(more(&b), [(Class::Blocked, PLANTED)]);
    assert_eq!(more_by_thread(&b), [vec![(Class::WaitBlocked, PLANTED)], vec![(Class::Blocked, PLANTED)]]);
    let b = with(ThreadState::Sleeping);
    assert_eq!(more(&b), [(Class::WaitStartedLate, PLANTED)]);
    assert_eq!(
        more_by_thread(&b),
        [vec![(Class::WaitStartedLate, PLANTED)], vec![(Class::Blocked, PLANTED)]]
    );
}

#[test]
fn an_application_may_sleep_but_not_be_stopped() {
    let with = |of| {
        let mut m = tokens(0, 0, DELAY, false);
        let at = m.llama_calls.start_ns[TOKENS as usize - 1] - DELAY;
        state(&mut m, 0, at, DELAY, of);
        more(&budget(&m))
    };
    assert_eq!(with(ThreadState::Sleeping), [(Class::Application, PLANTED)]);
    assert_eq!(with(ThreadState::Stopped), [(Class::Blocked, PLANTED)]);
    assert_eq!(with(ThreadState::Blocked), [(Class::Blocked, PLANTED)]);
}

#[test]
fn a_thread_that_sleeps_in_an_operator_of_another_backend_waits_for_that() {
    let with = |of| {
        let mut m = tokens(0, 0, 0, false);
        let gpu = m.texts.intern("GPU");
        m.graph_calls.backend.iter_mut().for_each(|backend| *backend = gpu);
        let plain = budget(&m);
        let at = operator(&m) + 20;
        state(&mut m, 0, at, 50, of);
        let with = budget(&m);
        let wall = difference(&with.tokens.last().unwrap().wall, &plain.tokens.last().unwrap().wall);
        assert_eq!(difference(&with.phases[0].threads[0].parts, &plain.phases[0].threads[0].parts), wall);
        wall
    };
    assert_eq!(with(ThreadState::Sleeping), [(Class::Work, -50), (Class::OtherBackend, 50)]);
    assert_eq!(with(ThreadState::Stopped), [(Class::Work, -50), (Class::Blocked, 50)]);
}

#[test]
fn time_before_a_call_is_the_applications() {
    let b = budget(&tokens(0, 0, DELAY, false));
    assert_eq!(more(&b), [(Class::Application, PLANTED)]);
    assert_eq!(
        more_by_thread(&b),
        [vec![(Class::Application, PLANTED)], vec![(Class::Application, PLANTED)]]
    );
}

#[test]
fn time_of_a_call_outside_of_graphs_is_their_preparation() {
    let mut m = tokens(0, 0, 0, false);
    let last = TOKENS as usize - 1;
    m.llama_calls.duration_ns[last] += DELAY;
    let b = budget(&m);
    assert_eq!(more(&b), [(Class::GraphPreparation, PLANTED)]);
}

#[test]
fn probes_are_taken_out_of_the_work_and_of_what_follows_it() {
    let mut m = tokens(0, 0, 0, false);
    let plain = budget(&m);
    m.health.probe_cost = Some(ProbeCost { pairs: 9, pair_ns: 7, inside_ns: 4 });
    let with = budget(&m);
    let n = TOKENS as i64;
    assert_eq!(
        difference(&with.phases[0].wall, &plain.phases[0].wall),
        [(Class::Work, -9 * n), (Class::BetweenOperators, -9 * n), (Class::Probes, 18 * n)]
    );
}

#[test]
fn what_is_not_seen_is_unknown() {
    let mut m = tokens(0, 0, 0, false);
    let last_of_worker = m.spans.len() - 1;
    m.spans.wait_ns[last_of_worker] = WAIT_UNKNOWN;
    let b = budget(&m);
    assert_eq!(more_by_thread(&b)[1], [(Class::BetweenOperators, -80), (Class::Unknown, 80)]);
}

#[test]
fn an_operator_whose_thread_is_preempted_is_bound_by_interference() {
    let bound = |m: &Model| {
        let a = Analysis::compute(m);
        let row = a.op.operators.iter().position(|o| o.op == "MUL_MAT").unwrap();
        a.bound[row].by
    };
    assert_eq!(bound(&crate::models::planted::disturbed()), profinfer_analysis::bound::Kind::Interference);
    assert_ne!(bound(&tokens(0, 0, 0, false)), profinfer_analysis::bound::Kind::Interference);
}
