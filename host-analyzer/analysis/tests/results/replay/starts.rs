//! Waits of a program until its first call, where the scheduler level saw its threads.

use profinfer_analysis::ladder::{Ladder, Question, StepKind};
use profinfer_analysis::replay::Cause;
use profinfer_trace::model::*;

use super::questions::{ladders, of, sample, step};
use crate::models::planted::{state, tokens, turn};
use crate::models::small::PID;

/// CPU 1 or 2 is idle for a time.
fn idle(m: &mut Model, cpu: u16, start: u64, length: u64) {
    if m.sched.tasks.is_empty() {
        let none = Text::default();
        m.sched.tasks.push(Task { tid: 0, pid: 0, name: none, command: none, cgroup: none });
    }
    turn(m, cpu, start, length);
}

/// The ladder of the start.
fn ladder(m: &Model) -> Ladder {
    of(&ladders(m), Question::StartUp).unwrap().clone()
}

/// A start with a main thread that has a CPU for 300 ns and waits for one for 200.
fn start(held_ns: u64) -> Model {
    let mut m = tokens(0, 0, 0, false);
    let main = m.threads.find_or_add(PID);
    m.threads.describe(main, PID, Text::default());
    let of = |s| StartSample { pid: PID, exec_ns: 0, ..s };
    m.start_ups = vec![
        of(sample(0, StartMoment::EngineLoaded, 0, 0, 0, 0)),
        of(sample(1_000, StartMoment::FirstCall, 300, 200, 0, held_ns)),
    ];
    m
}

/// The agent sees a stop when the last thread is stopped, and that one has no CPU.
#[test]
fn a_stop_that_lasts_because_a_thread_has_no_cpu_is_no_probe() {
    let mut m = start(150);
    state(&mut m, 1, 400, 50, ThreadState::Preempted);
    state(&mut m, 1, 450, 150, ThreadState::Stopped);
    state(&mut m, 1, 700, 60, ThreadState::Preempted);
    state(&mut m, 2, 100, 200, ThreadState::Preempted);
    state(&mut m, 2, 400, 200, ThreadState::Stopped);
    state(&mut m, 2, 700, 200, ThreadState::Sleeping);
    idle(&mut m, 1, 400, 50);
    idle(&mut m, 1, 700, 60);
    idle(&mut m, 2, 100, 200);
    let start = ladder(&m);
    let of = |kind| step(&start, kind);
    assert_eq!(of(StepKind::Caused(Cause::Throttled)), 200 + 50 + 60, "{start:?}");
    assert_eq!(of(StepKind::Probes), 150, "{start:?}");
    assert_eq!(of(StepKind::Caused(Cause::Agent)), 0, "{start:?}");
    assert_eq!(of(StepKind::Caused(Cause::Asleep)), 1_000 - 300 - 310 - 150, "{start:?}");
}

/// The agent counts the stop of another thread, while the main thread goes on.
#[test]
fn time_on_a_cpu_is_no_stop() {
    let m = start(900);
    let start = ladder(&m);
    let of = |kind| step(&start, kind);
    assert_eq!(of(StepKind::Probes), 500, "{start:?}");
    assert_eq!(of(StepKind::Loading) + of(StepKind::PageFaults), 300, "{start:?}");
}

/// The kernel adds a wait when the thread has a CPU again, here in the second sample.
#[test]
fn a_wait_is_of_all_samples_in_which_it_lasted() {
    let mut m = start(0);
    let middle = StartSample { at_ns: 500, moment: StartMoment::Sample, wait_ns: Some(0), ..m.start_ups[1] };
    m.start_ups.insert(1, middle);
    m.start_ups[2].wait_ns = Some(650);
    let start = ladder(&m);
    let of = |kind| step(&start, kind);
    assert_eq!(of(StepKind::Caused(Cause::UnknownHolder)), 650, "{start:?}");
    assert_eq!(of(StepKind::Caused(Cause::Asleep)), 50, "{start:?}");
}

/// Its control group is frozen before the first call.
#[test]
fn a_frozen_start_is_stopped() {
    let mut m = start(0);
    state(&mut m, 2, 400, 300, ThreadState::Sleeping);
    let name = m.texts.intern("cgroup.frozen");
    for (at_ns, value) in [(100, 0), (450, 1), (650, 0)] {
        let value = FactValue::Number(value);
        m.facts.rows.push(Fact { at_ns, scope: FactScope::Process(PID), name, value });
    }
    let start = ladder(&m);
    let of = |kind| step(&start, kind);
    // From the sleep in which the first reading finds it to the reading that does no longer.
    assert_eq!(of(StepKind::Caused(Cause::Stopped)), 250, "{start:?}");
    assert_eq!(of(StepKind::Caused(Cause::Asleep)), 1_000 - 500 - 250, "{start:?}");
}
