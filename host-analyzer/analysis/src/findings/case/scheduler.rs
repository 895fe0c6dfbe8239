//! What the scheduler level shows about the computing threads.

use std::collections::HashSet;

use super::Case;
use crate::shared::cpu_use::CpuUseIndex;
use profinfer_trace::model::{TaskId, ThreadId, ThreadState};

impl Case<'_> {
    /// Threads of the process that do not make the `llama_decode` calls.
    fn workers(&self) -> impl Iterator<Item = ThreadId> {
        let callers: HashSet<ThreadId> =
            self.calls.all.iter().map(|t| self.model.llama_calls.thread[t.call as usize]).collect();
        let own = self.model.threads.iter().filter(|(_, t)| t.pid == self.pid);
        own.map(|(id, _)| id).filter(move |id| !callers.contains(id))
    }

    /// Threads of the process compute, but none of the judged calls: another team.
    pub(in crate::findings) fn has_other_team(&self) -> bool {
        let own = |thread: ThreadId| self.model.threads.get(thread).pid == self.pid;
        self.model.spans.thread.iter().any(|thread| !self.computes(*thread) && own(*thread))
    }

    /// How often the threads fell asleep in the judged calls, per unit; `None` without the scheduler level.
    pub(in crate::findings) fn sleeps_per_unit(&self) -> Option<f64> {
        if !self.model.sched.recorded {
            return None;
        }
        let times = self.calls.times(self.model);
        let states = &self.model.sched.states;
        let inside = |ns: u64| {
            times[..times.partition_point(|(from, _)| *from <= ns)].last().is_some_and(|t| ns < t.1)
        };
        let sleeps = (0..states.len()).filter(|i| {
            states.state[*i] == ThreadState::Sleeping
                && inside(states.start_ns[*i])
                && self.model.threads.get(states.thread[*i]).pid == self.pid
        });
        Some(sleeps.count() as f64 / self.calls.units.max(1) as f64)
    }

    /// Total length of all pauses between `llama_decode` calls that are longer than `longer_ns`,
    /// and the time in them during which a worker ran (several workers count once); `None` without
    /// such a pause.
    pub(in crate::findings) fn pauses(&self, longer_ns: u64) -> Option<(u64, u64)> {
        let llama_calls = &self.model.llama_calls;
        let own =
            (0..llama_calls.len()).filter(|i| self.model.threads.get(llama_calls.thread[*i]).pid == self.pid);
        let mut calls: Vec<(u64, u64)> = own
            .map(|i| {
                (llama_calls.start_ns[i], llama_calls.start_ns[i].saturating_add(llama_calls.duration_ns[i]))
            })
            .collect();
        calls.sort_unstable();
        let gaps = calls.windows(2).map(|w| (w[0].1, w[1].0));
        let pauses: Vec<(u64, u64)> =
            gaps.filter(|(from, to)| to.saturating_sub(*from) > longer_ns).collect();
        if pauses.is_empty() {
            return None;
        }
        // Threads of another backend's driver may run for it.
        let driver = self.waits_for_backends();
        let own = |t: ThreadId| !driver || self.computes(t);
        let running = self.running(&pauses);
        let running = self.workers().filter(|t| own(*t)).map(|t| running[t.0 as usize]).max()?;
        Some((pauses.iter().map(|(from, to)| to - from).sum(), running))
    }

    /// Largest share of the judged calls' time in which a thread of the process ran that computed none of
    /// them; `None` without the scheduler level, or without operators, which show who computes.
    pub(in crate::findings) fn idle_runs(&self) -> Option<f64> {
        let times = self.calls.times(self.model);
        let all: u64 = times.iter().map(|(from, to)| to - from).sum();
        if !self.model.sched.recorded || !self.used.any() || all == 0 {
            return None;
        }
        let running = self.running(&times);
        let idle = self.workers().filter(|t| !self.computes(*t));
        let running = idle.map(|t| running[t.0 as usize]).max().unwrap_or(0);
        Some(running as f64 / all as f64)
    }

    /// How many of these CPUs other programs, and threads of the engine that compute nothing, had
    /// in the mean from the first call to the last; `None` if that was not recorded.
    pub(in crate::findings) fn taken(&self, cpus: &[u16]) -> Option<f64> {
        let index = CpuUseIndex::new(self.model)?;
        let calls = &self.model.llama_calls;
        let from = calls.start_ns.first().copied()?;
        let to = calls.start_ns.last().copied()?.saturating_add(*calls.duration_ns.last()?);
        let foreign = |task: TaskId| self.model.sched.tasks[task.0 as usize].tid != 0;
        let busy = |cpu: &u16| -> u64 {
            index.busy(*cpu, from, to).filter(|(task, _)| foreign(*task)).map(|(_, ns)| ns).sum()
        };
        let others: u64 = cpus.iter().map(busy).sum();
        let running = self.running(&[(from, to)]);
        let idle = self.workers().filter(|t| !self.computes(*t));
        let own: u64 = idle.map(|t| running[t.0 as usize]).sum();
        Some((others + own) as f64 / to.saturating_sub(from).max(1) as f64)
    }

    /// Time in which each thread ran `within` some times, which are disjoint and in order, ns.
    fn running(&self, within: &[(u64, u64)]) -> Vec<u64> {
        let states = &self.model.sched.states;
        let mut sums = vec![0; self.model.threads.len()];
        for i in (0..states.len()).filter(|i| states.state[*i] == ThreadState::Running) {
            let (start, end) = (states.start_ns[i], states.start_ns[i].saturating_add(states.duration_ns[i]));
            let first = within.partition_point(|(_, to)| *to <= start);
            let here = within[first..].iter().take_while(|(from, _)| *from < end);
            sums[states.thread[i].0 as usize] +=
                here.map(|(from, to)| end.min(*to).saturating_sub(start.max(*from))).sum::<u64>();
        }
        sums
    }
}
