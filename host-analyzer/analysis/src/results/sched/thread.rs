//! Time of each thread by state.

use super::windows::{Window, Windows, within};
use profinfer_trace::model::{Model, ThreadState};

/// Time by state, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StateTimes {
    /// It had a CPU.
    pub running_ns: u64,
    /// It was taken off its CPU and wanted to continue.
    pub preempted_ns: u64,
    /// It was woken and had no CPU yet.
    pub woken_ns: u64,
    /// It slept interruptibly.
    pub sleeping_ns: u64,
    /// It slept uninterruptibly.
    pub blocked_ns: u64,
    /// It was stopped.
    pub stopped_ns: u64,
    /// Unknown, between the first and the last record of the thread.
    pub unknown_ns: u64,
}

impl StateTimes {
    fn of(&mut self, state: ThreadState) -> &mut u64 {
        match state {
            ThreadState::Running => &mut self.running_ns,
            ThreadState::Preempted => &mut self.preempted_ns,
            ThreadState::Woken => &mut self.woken_ns,
            ThreadState::Sleeping => &mut self.sleeping_ns,
            ThreadState::Blocked => &mut self.blocked_ns,
            ThreadState::Stopped => &mut self.stopped_ns,
        }
    }

    fn known(&self) -> u64 {
        let parts = [self.running_ns, self.preempted_ns, self.woken_ns];
        parts
            .into_iter()
            .chain([self.sleeping_ns, self.blocked_ns, self.stopped_ns])
            .fold(0, u64::saturating_add)
    }
}

/// One thread of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadTimes {
    /// Thread id of the kernel.
    pub tid: u32,
    /// Its process; 0 when not recorded.
    pub pid: u32,
    pub name: String,
    /// How often it was put on a CPU, including the CPU that it had at its first record.
    pub runs: u64,
    /// How often it was taken off its CPU although it wanted to continue.
    pub preemptions: u64,
    /// How often it ran on another CPU than before.
    pub migrations: u64,
    /// Time from its first to its last record.
    pub whole: StateTimes,
    /// Part of it in prefill calls of any thread.
    pub prefill: StateTimes,
    /// Part of it in decode calls of any thread.
    pub decode: StateTimes,
}

/// The threads that have stretches.
pub(super) fn threads(model: &Model, windows: &Windows) -> Vec<ThreadTimes> {
    let states = &model.sched.states;
    let mut rows = Vec::new();
    let mut start = 0;
    for same in states.thread.chunk_by(|a, b| a == b) {
        let range = start..start + same.len();
        start = range.end;
        let thread = model.threads.get(same[0]);
        let mut row = ThreadTimes {
            tid: thread.tid,
            pid: thread.pid,
            name: model.texts.get(thread.name).to_owned(),
            runs: 0,
            preemptions: 0,
            migrations: 0,
            whole: StateTimes::default(),
            prefill: StateTimes::default(),
            decode: StateTimes::default(),
        };
        let (mut ran_on, mut before) = (None, None);
        for i in range.clone() {
            let (from, state) = (states.start_ns[i], states.state[i]);
            let to = from.saturating_add(states.duration_ns[i]);
            *row.whole.of(state) += to - from;
            *row.prefill.of(state) += within(&windows.prefill, from, to);
            *row.decode.of(state) += within(&windows.decode, from, to);
            match state {
                ThreadState::Running => {
                    row.runs += 1;
                    row.migrations += u64::from(ran_on.is_some_and(|cpu| cpu != states.cpu[i]));
                    ran_on = Some(states.cpu[i]);
                }
                // A thread that migrates while it waits was preempted once.
                ThreadState::Preempted if before != Some(ThreadState::Preempted) => row.preemptions += 1,
                _ => {}
            }
            before = Some(state);
        }
        let last = range.end - 1;
        let whole: Window =
            (states.start_ns[range.start], states.start_ns[last].saturating_add(states.duration_ns[last]));
        row.whole.unknown_ns = (whole.1 - whole.0).saturating_sub(row.whole.known());
        row.prefill.unknown_ns =
            within(&windows.prefill, whole.0, whole.1).saturating_sub(row.prefill.known());
        row.decode.unknown_ns = within(&windows.decode, whole.0, whole.1).saturating_sub(row.decode.known());
        rows.push(row);
    }
    rows
}
