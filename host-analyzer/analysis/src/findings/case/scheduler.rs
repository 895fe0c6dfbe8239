//! What the scheduler level shows about the decode threads.

use super::Case;
use profinfer_trace::model::{ThreadId, ThreadState};

impl Case<'_> {
    /// Threads of the decoding process, and whether each makes the `llama_decode` calls.
    fn threads(&self) -> Vec<(ThreadId, bool)> {
        let callers: Vec<ThreadId> =
            self.tokens.iter().map(|t| self.model.llama_calls.thread[t.call as usize]).collect();
        let own = self.model.threads.iter().filter(|(_, t)| t.pid == self.pid);
        own.map(|(id, _)| (id, callers.contains(&id))).collect()
    }

    /// How often the threads fell asleep per decode token; `None` without the scheduler level.
    pub(in crate::findings) fn sleeps_per_token(&self) -> Option<f64> {
        if !self.model.sched.recorded {
            return None;
        }
        let (from, to) = self.decode_time();
        let threads = self.threads();
        let states = &self.model.sched.states;
        let sleeps = (0..states.len()).filter(|i| {
            states.state[*i] == ThreadState::Sleeping
                && (from..to).contains(&states.start_ns[*i])
                && threads.iter().any(|(t, _)| *t == states.thread[*i])
        });
        Some(sleeps.count() as f64 / self.headline.tokens.max(1) as f64)
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
        let workers = self.threads().into_iter().filter(|(_, calls)| !calls).map(|(t, _)| t);
        let running = workers.map(|thread| self.running(thread, &pauses)).max()?;
        Some((pauses.iter().map(|(from, to)| to - from).sum(), running))
    }

    fn running(&self, thread: ThreadId, within: &[(u64, u64)]) -> u64 {
        let states = &self.model.sched.states;
        let rows = (0..states.len())
            .filter(|i| states.thread[*i] == thread && states.state[*i] == ThreadState::Running);
        rows.map(|i| {
            let (start, end) = (states.start_ns[i], states.start_ns[i].saturating_add(states.duration_ns[i]));
            within.iter().map(|(from, to)| end.min(*to).saturating_sub(start.max(*from))).sum::<u64>()
        })
        .sum()
    }
}
