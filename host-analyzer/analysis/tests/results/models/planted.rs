//! Tokens of two threads that arrive together at every barrier, and a planted delay in one of them
//! or in all.

use profinfer_trace::model::*;

use super::small::{self, PID, Row};

/// A delay of one thread in the first operator of the last of ten tokens, ns.
pub(crate) const DELAY: u64 = 2_000;
pub(crate) const TOKENS: u64 = 40;
const CALL: u64 = 400;

/// Tokens with two threads that arrive together. In the last token, the worker's first operator has
/// `work` more and starts `late`; `before` passes between the last two calls.
pub(crate) fn tokens(work: u64, late: u64, before: u64, every: bool) -> Model {
    each(|token| {
        let last = token == TOKENS - 1;
        let (work, late) = if last || every { (work, late) } else { (0, 0) };
        Plant { work, late, before: if last { before } else { 0 } }
    })
}

/// What one token has in addition to its own 450 ns: 50 before the call, in it 150 outside of the
/// graph, 110 between operators, 3 of the probes, and 137 of work.
#[derive(Default)]
pub(crate) struct Plant {
    /// Work of the worker in its first operator, ns.
    pub(crate) work: u64,
    /// How much later that operator begins, ns.
    pub(crate) late: u64,
    /// Time before the call, ns.
    pub(crate) before: u64,
}

/// Tokens with these additions.
pub(crate) fn each(plant: impl Fn(u64) -> Plant) -> Model {
    let mut m = Model::default();
    let (main, worker) = (m.threads.find_or_add(100), m.threads.find_or_add(101));
    for thread in [main, worker] {
        m.threads.describe(thread, PID, Text::default());
    }
    let topology = small::topology(&mut m.texts, 1, PID);
    m.topologies.rows.push(topology);
    m.session.cpus = 2;
    // A thread that works longer than this has something to do.
    m.health.probe_cost = Some(ProbeCost { pairs: 9, pair_ns: 1, inside_ns: 1 });
    let mut start = 1_000;
    for i in 0..TOKENS {
        let Plant { work, late, before } = plant(i);
        start += before;
        let (s, more) = (start, work + late);
        let wait = (10 + more) as u32;
        let rows: [Row; 6] = [
            (0, 0, 0, s + 30, 100, wait),
            (0, 2, 3, s + 140 + more, 20, 10),
            (0, 4, 4, s + 170 + more, 20, 80),
            (1, 0, 0, s + 30 + late, 100 + work, 10),
            (1, 2, 3, s + 140 + more, 20, 10),
            (1, 4, 4, s + 170 + more, 20, 80),
        ];
        small::call(&mut m, s, [CALL + more, 300 + more, 250 + more], 1, 0, &rows);
        start += CALL + more + 50;
    }
    m
}

/// The same calls as prompts of four tokens each.
pub(crate) fn prompts(mut m: Model) -> Model {
    m.llama_calls.n_tokens.fill(4);
    m.graph_calls.n_tokens.fill(4);
    m.graph_calls.n_past.iter_mut().flatten().for_each(|n| *n = 0);
    m
}

/// Start of the last token's first operator.
pub(crate) fn operator(m: &Model) -> u64 {
    m.llama_calls.start_ns[TOKENS as usize - 1] + 30
}

pub(crate) fn state(m: &mut Model, thread: u32, start: u64, length: u64, state: ThreadState) {
    m.sched.recorded = true;
    m.sched.states.thread.push(ThreadId(thread));
    m.sched.states.start_ns.push(start);
    m.sched.states.duration_ns.push(length);
    m.sched.states.state.push(state);
    m.sched.states.cpu.push(thread as u16);
}

/// Another task takes the worker's CPU.
pub(crate) fn taken(m: &mut Model, start: u64, length: u64) {
    state(m, 1, start, length, ThreadState::Preempted);
    if m.sched.tasks.is_empty() {
        let (none, name) = (Text::default(), m.texts.intern("hog"));
        m.sched.tasks.push(Task { tid: 4242, pid: 4242, name, command: none, cgroup: none });
    }
    turn(m, 1, start, length);
}

/// The first task has a CPU.
pub(crate) fn turn(m: &mut Model, cpu: u16, start: u64, length: u64) {
    let turns = &mut m.sched.turns;
    turns.cpu.push(cpu);
    turns.start_ns.push(start);
    turns.duration_ns.push(length);
    turns.task.push(TaskId(0));
}

/// A session in which another task takes the worker's CPU in every token, for [`DELAY`].
pub(crate) fn disturbed() -> Model {
    let mut m = tokens(DELAY, 0, 0, true);
    for call in 0..TOKENS as usize {
        let at = m.llama_calls.start_ns[call] + 50;
        taken(&mut m, at, DELAY);
    }
    m
}
