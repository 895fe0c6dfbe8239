//! What the scheduler level shows about a stretch of a thread's time.

use std::cell::Cell;
use std::ops::Range;

use super::class::Class;
use crate::shared::seek::seek;
use crate::shared::throttled::ThrottledTimes;
use profinfer_trace::model::{Model, ThreadId, ThreadState};

/// Time of a thread without its CPU, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OffCpu {
    pub(super) preempted: u64,
    pub(super) throttled: u64,
    pub(super) waking: u64,
    /// Voluntary sleep: futex, timer, device.
    pub(super) sleeping: u64,
    /// Involuntary sleep: page fault, lock of the kernel, stopped by a signal or a debugger.
    pub(super) blocked: u64,
}

impl OffCpu {
    /// By class where the thread should compute, so that it did not want to sleep.
    pub(super) const fn claims(self) -> [(Class, u64); 5] {
        self.claims_of(Class::Blocked)
    }

    /// The same where voluntary sleep is of the class `sleep`. An application waits for its own
    /// work between tokens, and a thread that submitted work to a device waits for the device.
    pub(super) const fn claims_of(self, sleep: Class) -> [(Class, u64); 5] {
        [
            (Class::Preempted, self.preempted),
            (Class::Throttled, self.throttled),
            (Class::Waking, self.waking),
            (sleep, self.sleeping),
            (Class::Blocked, self.blocked),
        ]
    }

    /// Asleep for any reason.
    pub(super) const fn asleep(self) -> u64 {
        self.sleeping.saturating_add(self.blocked)
    }

    pub(super) fn total(self) -> u64 {
        self.claims().iter().fold(0, |sum, (_, ns)| sum.saturating_add(*ns))
    }
}

/// Finds the scheduler rows of a time. Empty without the scheduler level.
#[derive(Debug)]
pub(super) struct Scheduler<'a> {
    model: &'a Model,
    /// Rows of the states, by thread.
    states: Vec<Range<usize>>,
    /// Rows of the turns and of the interrupts, by CPU.
    turns: Vec<Range<usize>>,
    interrupts: Vec<Range<usize>>,
    throttled: ThrottledTimes,
    /// Where the last search ended, by thread, and of interrupts by CPU: the next one is close to it.
    last_states: Vec<Cell<usize>>,
    last_interrupts: Vec<Cell<usize>>,
}

/// The first of these rows that starts after `t`.
fn first_after(starts: &[u64], rows: &Range<usize>, last: &Cell<usize>, t: u64) -> usize {
    let mut at = last.get();
    let first = seek(&starts[rows.clone()], &mut at, |start| *start <= t);
    last.set(at);
    rows.start + first
}

/// Range of the rows of each key, in a column that is sorted by key.
fn ranges(keys: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (row, key) in keys.enumerate() {
        if found.len() <= key {
            found.resize(key + 1, row..row);
        }
        if found[key].is_empty() {
            found[key] = row..row;
        }
        found[key].end = row + 1;
    }
    found
}

impl<'a> Scheduler<'a> {
    pub(super) fn compute(model: &'a Model) -> Self {
        let s = &model.sched;
        let states = ranges(s.states.thread.iter().map(|t| t.0 as usize));
        let interrupts = ranges(s.interrupts.cpu.iter().map(|c| usize::from(*c)));
        Self {
            model,
            turns: ranges(s.turns.cpu.iter().map(|c| usize::from(*c))),
            last_states: vec![Cell::new(0); states.len()],
            last_interrupts: vec![Cell::new(0); interrupts.len()],
            throttled: ThrottledTimes::new(model),
            states,
            interrupts,
        }
    }

    /// Whether it has rows. Without rows there is nothing to look up for every span.
    pub(super) const fn has_rows(&self) -> bool {
        !(self.states.is_empty() && self.turns.is_empty() && self.interrupts.is_empty())
    }

    /// Time without a CPU of `thread` from `from` to `to`.
    pub(super) fn off_cpu(&self, thread: ThreadId, from: u64, to: u64) -> OffCpu {
        let mut off = OffCpu::default();
        let states = &self.model.sched.states;
        let thread = thread.0 as usize;
        let Some(rows) = self.states.get(thread) else { return off };
        let stretch =
            |i: usize| (states.start_ns[i], states.start_ns[i].saturating_add(states.duration_ns[i]));
        let first = first_after(&states.start_ns, rows, &self.last_states[thread], from);
        // The stretch that contains the start began before it.
        for i in first.saturating_sub(1).max(rows.start)..rows.end {
            let whole = stretch(i);
            if whole.0 >= to {
                break;
            }
            let (start, end) = (whole.0.max(from), whole.1.min(to));
            let ns = end.saturating_sub(start);
            match states.state[i] {
                ThreadState::Running => {}
                ThreadState::Preempted | ThreadState::Woken => {
                    let idle = self.idle(states.cpu[i], start, end).min(ns);
                    // A thread that is woken on an idle CPU waits only for that CPU.
                    let woken = idle > 0 && states.state[i] == ThreadState::Woken;
                    let pid = || self.model.threads.get(states.thread[i]).pid;
                    let waking = woken && !self.throttled.has(pid(), whole);
                    let of_idle = if waking { &mut off.waking } else { &mut off.throttled };
                    *of_idle = of_idle.saturating_add(idle);
                    off.preempted = off.preempted.saturating_add(ns - idle);
                }
                ThreadState::Sleeping => off.sleeping = off.sleeping.saturating_add(ns),
                ThreadState::Blocked | ThreadState::Stopped => {
                    off.blocked = off.blocked.saturating_add(ns);
                }
            }
        }
        off
    }

    /// Time for which a CPU was idle although a thread of the engine waited for it, ns.
    fn idle(&self, cpu: u16, from: u64, to: u64) -> u64 {
        let turns = &self.model.sched.turns;
        let Some(rows) = self.turns.get(usize::from(cpu)) else { return 0 };
        let first = rows.start + turns.start_ns[rows.clone()].partition_point(|start| *start <= from);
        let mut idle = 0_u64;
        for i in first.saturating_sub(1).max(rows.start)..rows.end {
            if turns.start_ns[i] >= to {
                break;
            }
            let is_idle =
                self.model.sched.tasks.get(turns.task[i].0 as usize).is_some_and(|task| task.tid == 0);
            if is_idle {
                let end = turns.start_ns[i].saturating_add(turns.duration_ns[i]).min(to);
                idle = idle.saturating_add(end.saturating_sub(turns.start_ns[i].max(from)));
            }
        }
        idle
    }

    /// Time of interrupts on a CPU from `from` to `to`, ns; nested interrupts count once.
    pub(super) fn interrupts(&self, cpu: Option<u16>, from: u64, to: u64) -> u64 {
        let all = &self.model.sched.interrupts;
        let cpu = cpu.map_or(usize::MAX, usize::from);
        let Some(rows) = self.interrupts.get(cpu) else { return 0 };
        let first = first_after(&all.start_ns, rows, &self.last_interrupts[cpu], from);
        let mut until = from;
        let mut sum = 0_u64;
        // A hard interrupt may be nested in a soft one, and both may have begun before.
        for i in first.saturating_sub(2).max(rows.start)..rows.end {
            if all.start_ns[i] >= to {
                break;
            }
            let end = all.start_ns[i].saturating_add(all.duration_ns[i]).min(to);
            sum = sum.saturating_add(end.saturating_sub(all.start_ns[i].max(until)));
            until = until.max(end);
        }
        sum
    }
}
