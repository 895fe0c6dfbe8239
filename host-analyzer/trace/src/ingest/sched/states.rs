//! Converts switches, wake-ups and migrations to the states of the engine's threads.

use std::collections::BTreeMap;

use profinfer_wire::sched::{Happened, Left, SchedEvent, Who};

use super::gaps::known;
use crate::model::ThreadState;

/// A thread in one state on one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) tid: u32,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) state: ThreadState,
    pub(super) cpu: u16,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    since_ns: u64,
    state: ThreadState,
    cpu: u16,
}

#[derive(Debug)]
struct Machine<'a> {
    gaps: &'a [(u64, u64)],
    open: BTreeMap<u32, Open>,
    done: Vec<Stretch>,
}

/// All intervals, in the order in which they ended. `events` are in order of time. Intervals that
/// are still open at the end last until `end_ns`.
pub(super) fn stretches(events: &[SchedEvent], gaps: &[(u64, u64)], end_ns: u64) -> Vec<Stretch> {
    let mut machine = Machine { gaps, open: BTreeMap::new(), done: Vec::new() };
    let mut left_gaps = gaps.iter().peekable();
    for event in events {
        // After a gap a thread's state is unknown until its next event.
        while left_gaps.next_if(|(_, to)| *to <= event.at_ns).is_some() {
            machine.end_all(event.at_ns);
        }
        machine.event(event);
    }
    machine.end_all(end_ns);
    machine.done
}

impl Machine<'_> {
    fn event(&mut self, event: &SchedEvent) {
        let at = event.at_ns;
        match event.happened {
            // The thread is seen running without a switch to it.
            Happened::Switch { cpu, prev: Who::Thread(tid), next: Who::Thread(same), .. } if tid == same => {
                if !self.is(tid, ThreadState::Running, cpu) {
                    self.open(tid, at, ThreadState::Running, cpu);
                }
            }
            Happened::Switch { cpu, prev, left, next } => {
                self.others_ran_not(cpu, prev);
                if let Who::Thread(tid) = prev {
                    if self.is(tid, ThreadState::Running, cpu) {
                        self.close(tid, at);
                    }
                    self.open.remove(&tid);
                    if let Some(state) = state(left) {
                        self.open(tid, at, state, cpu);
                    }
                }
                if let Who::Thread(tid) = next {
                    // From sleep to a CPU without a wake-up: the wake-up was lost, and with it the
                    // end of the sleep.
                    let waited = [ThreadState::Preempted, ThreadState::Woken];
                    if waited.iter().any(|state| self.is(tid, *state, cpu)) {
                        self.close(tid, at);
                    }
                    self.open(tid, at, ThreadState::Running, cpu);
                }
            }
            Happened::Wake { cpu, tid } => match self.open.get(&tid).map(|o| o.state) {
                Some(ThreadState::Running | ThreadState::Preempted | ThreadState::Woken) => {}
                _ => {
                    self.close(tid, at);
                    self.open(tid, at, ThreadState::Woken, cpu);
                }
            },
            Happened::Migration { cpu, tid } => {
                if let Some(Open { state: state @ (ThreadState::Preempted | ThreadState::Woken), .. }) =
                    self.open.get(&tid).copied()
                {
                    self.close(tid, at);
                    self.open(tid, at, state, cpu);
                }
            }
            Happened::Gap { .. } => {}
        }
    }

    fn is(&self, tid: u32, state: ThreadState, cpu: u16) -> bool {
        self.open.get(&tid).is_some_and(|o| o.state == state && o.cpu == cpu)
    }

    /// A thread that was assumed to run on a CPU and is not the one that leaves it had left it
    /// unseen.
    fn others_ran_not(&mut self, cpu: u16, prev: Who) {
        self.open
            .retain(|tid, o| o.state != ThreadState::Running || o.cpu != cpu || prev == Who::Thread(*tid));
    }

    fn open(&mut self, tid: u32, since_ns: u64, state: ThreadState, cpu: u16) {
        self.open.insert(tid, Open { since_ns, state, cpu });
    }

    fn close(&mut self, tid: u32, at_ns: u64) {
        let Some(Open { since_ns, state, cpu }) = self.open.remove(&tid) else { return };
        if let Some((start_ns, end_ns)) = known(self.gaps, since_ns, at_ns) {
            self.done.push(Stretch { tid, start_ns, end_ns, state, cpu });
        }
    }

    fn end_all(&mut self, at_ns: u64) {
        let all: Vec<u32> = self.open.keys().copied().collect();
        all.into_iter().for_each(|tid| self.close(tid, at_ns));
    }
}

/// The state of a thread that left its CPU; `None` where it ended or its state is unknown.
const fn state(left: Left) -> Option<ThreadState> {
    match left {
        // A thread that yielded is still runnable.
        Left::Preempted | Left::Yielded => Some(ThreadState::Preempted),
        Left::Sleeping => Some(ThreadState::Sleeping),
        Left::Blocked => Some(ThreadState::Blocked),
        Left::Stopped => Some(ThreadState::Stopped),
        Left::Ended | Left::Other => None,
    }
}
