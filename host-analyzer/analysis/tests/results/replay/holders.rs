//! A wait behind a thread of the same engine is blamed on whoever had the other CPU.

use profinfer_analysis::Analysis;
use profinfer_analysis::replay::Cause;
use profinfer_trace::model::*;

use crate::findings::{PROCESS, number, text};
use crate::models::planted::{DELAY, TOKENS, state, tokens, turn};

/// In each token the worker waits for a CPU that the engine's other thread has. Both may use CPUs 0
/// and 1, and on CPU 0 the task of `holder` runs for `share` of the time.
fn shared(holder: Option<Task>, share: f64) -> Model {
    let mut m = tokens(DELAY, 0, 0, true);
    m.session.cpus = 2;
    text(&mut m, PROCESS, "affinity", "0-1");
    let none = Text::default();
    m.sched.tasks.push(Task { tid: 100, pid: 7, name: none, command: none, cgroup: none });
    m.sched.cpu_use_recorded = true;
    m.sched.tasks.extend(holder);
    for call in 0..TOKENS as usize {
        let at = m.llama_calls.start_ns[call] + 50;
        state(&mut m, 1, at, DELAY, ThreadState::Preempted);
        turn(&mut m, 1, at, DELAY);
        if m.sched.tasks.len() > 1 {
            let cpu_use = &mut m.sched.cpu_use;
            cpu_use.cpu.push(0);
            cpu_use.start_ns.push(at);
            cpu_use.duration_ns.push(DELAY);
            cpu_use.task.push(TaskId(1));
            cpu_use.busy_ns.push((DELAY as f64 * share) as u64);
        }
    }
    m
}

/// Causes of all decode tokens, ns per token.
fn causes(m: &Model) -> Vec<(String, u64)> {
    let a = Analysis::compute(m);
    let mut all = profinfer_analysis::replay::Amounts::default();
    a.replay.calls.iter().for_each(|c| all.add_all(&c.caused));
    let name = |cause: Cause| match cause {
        Cause::Program(id) => {
            format!("{} {:?}", a.replay.culprit(id).unwrap().pid, a.replay.culprit(id).unwrap().cpus)
        }
        other => format!("{other:?}"),
    };
    all.iter().map(|(cause, ns)| (name(cause), ns / TOKENS)).collect()
}

/// The engine's own variable binds both threads to CPU 1, and CPU 0 is free.
#[test]
fn threads_that_the_engine_bound_to_one_cpu_share_it() {
    let bound = |variable: Option<&str>| {
        let mut m = shared(None, 0.0);
        let at_ns = m.facts.rows.last().unwrap().at_ns;
        m.facts.rows.clear();
        text(&mut m, PROCESS, "affinity", "1");
        for (name, value) in variable.into_iter().map(|value| ("env.GOMP_CPU_AFFINITY", value)) {
            text(&mut m, PROCESS, name, value);
        }
        number(&mut m, PROCESS, "environment.read", 1);
        m.facts.rows.iter_mut().for_each(|fact| fact.at_ns = at_ns);
        for cpu in 0..2 {
            number(&mut m, FactScope::Cpu(cpu), "cpu.core", u64::from(cpu));
        }
        causes(&m)
    };
    let only = |variable| match &bound(variable)[..] {
        [(cause, _)] => cause.clone(),
        several => format!("{several:?}"),
    };
    assert_eq!(only(None), "TooManyThreads");
    for list in ["1 1", "1-1:1", "1,1"] {
        assert_eq!(only(Some(list)), "Placement", "{list}");
    }
    // A variable that does not bind it that way is not the reason.
    assert_eq!(["0", "all"].map(|list| only(Some(list))), ["TooManyThreads"; 2]);
}

fn task(pid: u32) -> Task {
    let none = Text::default();
    Task { tid: pid, pid, name: none, command: none, cgroup: none }
}

#[test]
fn the_program_that_had_the_other_cpu_is_to_blame_for_its_share() {
    assert_eq!(causes(&shared(Some(task(4242)), 1.0)), [("4242 [0]".to_owned(), DELAY)]);
    let three_quarters = causes(&shared(Some(task(4242)), 0.75));
    // Nobody is known to have had the rest of the window.
    assert_eq!(three_quarters, [("4242 [0]".to_owned(), 1_500), ("SharedCpu".to_owned(), 500)]);
}

#[test]
fn an_idle_cpu_is_a_matter_of_placement() {
    assert_eq!(causes(&shared(None, 0.0)), [("Placement".to_owned(), DELAY)]);
    // The idle task is no program.
    assert_eq!(causes(&shared(Some(task(0)), 1.0)), [("Placement".to_owned(), DELAY)]);
}

#[test]
fn without_a_record_nobody_is_to_blame() {
    let mut m = shared(Some(task(4242)), 1.0);
    m.sched.cpu_use_recorded = false;
    assert_eq!(causes(&m), [("SharedCpu".to_owned(), DELAY)]);
}

#[test]
fn one_cpu_for_two_threads_is_too_few() {
    let mut m = shared(Some(task(4242)), 1.0);
    m.facts = Facts::default();
    text(&mut m, PROCESS, "affinity", "1");
    // One CPU does the 100 ns of both threads one after the other.
    assert_eq!(causes(&m), [("TooManyThreads".to_owned(), DELAY - 100)]);
}

/// Somebody bound it to one CPU while it ran.
#[test]
fn a_cpu_that_the_engine_could_use_before_is_a_matter_of_placement() {
    let mut m = shared(None, 0.0);
    text(&mut m, PROCESS, "affinity", "1");
    assert_eq!(causes(&m), [("Placement".to_owned(), DELAY)]);
}

/// Another engine has the CPU: its threads are in no window of other tasks.
#[test]
fn another_engine_is_a_program() {
    let mut m = shared(None, 0.0);
    runs_on_cpu_0(&mut m, 900, 90);
    assert_eq!(causes(&m), [("90 [0]".to_owned(), DELAY)]);
}

/// A thread of the engine that computes nothing and spins: the windows of the use of the CPUs name it
/// too, but its runs are those of the engine.
#[test]
fn a_spinning_thread_of_the_same_engine_is_no_program() {
    let mut m = shared(Some(Task { tid: 555, ..task(7) }), 1.0);
    runs_on_cpu_0(&mut m, 555, 7);
    assert_eq!(causes(&m), [("IdleTeam".to_owned(), DELAY)]);
}

/// A thread of an engine has CPU 0 during the waits.
fn runs_on_cpu_0(m: &mut Model, tid: u32, pid: u32) {
    let thread = m.threads.find_or_add(tid);
    m.threads.describe(thread, pid, Text::default());
    for call in 0..TOKENS as usize {
        let at = m.llama_calls.start_ns[call] + 50;
        state(m, thread.0, at, DELAY, ThreadState::Running);
        m.sched.states.cpu.pop();
        m.sched.states.cpu.push(0);
    }
    by_thread(&mut m.sched.states);
}

/// The rows by thread, then start.
fn by_thread(s: &mut ThreadStates) {
    let mut order: Vec<usize> = (0..s.thread.len()).collect();
    order.sort_by_key(|i| (s.thread[*i], s.start_ns[*i]));
    s.thread = order.iter().map(|i| s.thread[*i]).collect();
    s.start_ns = order.iter().map(|i| s.start_ns[*i]).collect();
    s.duration_ns = order.iter().map(|i| s.duration_ns[*i]).collect();
    s.state = order.iter().map(|i| s.state[*i]).collect();
    s.cpu = order.iter().map(|i| s.cpu[*i]).collect();
}

/// Before Linux 6.18 it is in the queue of an idle CPU and does not run.
#[test]
fn a_thread_that_is_woken_while_its_group_is_throttled_waits_for_the_group() {
    const LATE: u64 = 2_000_000;
    let causes = |throttled: bool| {
        let mut m = tokens(0, LATE, 0, true);
        m.sched.tasks.push(task(0));
        for call in 0..TOKENS as usize {
            let at = m.llama_calls.start_ns[call] + 30;
            state(&mut m, 1, at, LATE, ThreadState::Woken);
            turn(&mut m, 1, at, LATE);
        }
        let name = m.texts.intern("cgroup.throttled_ns");
        let end = m.llama_calls.start_ns[TOKENS as usize - 1] + 2 * LATE;
        for (at_ns, total) in [(0, 0), (end, if throttled { end / 2 } else { 0 })] {
            m.facts.rows.push(Fact { at_ns, scope: PROCESS, name, value: FactValue::Number(total) });
        }
        causes(&m)
    };
    let only = |name: &str| vec![(name.to_owned(), LATE)];
    assert_eq!(causes(true), only("Throttled"));
    assert_eq!(causes(false), only("WakeUp"));
}
