//! Which threads of an engine compute together, and which only run.
//!
//! Engines without OpenMP may start new threads for each graph. So a thread says something only of
//! the graphs that were computed while it existed.

use std::collections::HashMap;

use crate::shared::tracing::Tracing;
use profinfer_trace::model::{Model, ThreadId, ThreadState};

#[derive(Debug, Default)]
pub(super) struct Computing {
    /// By thread: start and end of the captured graph calls in which it computed, sorted.
    calls: Vec<Vec<(u64, u64)>>,
    /// By thread, when it began, ns; 0 where it existed before.
    born: Vec<u64>,
    /// Most threads that computed a graph together, by process.
    pub(super) teams: HashMap<u32, usize>,
    /// By thread id of the kernel.
    threads: HashMap<u32, ThreadId>,
}

impl Computing {
    pub(super) fn new(model: &Model, tracing: &Tracing) -> Self {
        let mut calls = vec![Vec::new(); model.threads.len()];
        let mut teams = HashMap::new();
        // At the edge of a burst the operators of a thread may be missing.
        for (call, rows) in model.spans.by_call().filter(|(call, _)| tracing.whole(call.0 as usize)) {
            let (mut threads, mut pid) = (0, 0);
            for (thread, _) in model.spans.by_thread(rows) {
                threads += 1;
                pid = model.threads.get(thread).pid;
                calls[thread.0 as usize].push(model.graph_calls.bounds(call));
            }
            let most = teams.entry(pid).or_insert(0);
            *most = threads.max(*most);
        }
        calls.iter_mut().for_each(|c| c.sort_unstable());
        let threads = model.threads.iter().map(|(id, t)| (t.tid, id)).collect();
        Self { calls, born: born(model), teams, threads }
    }

    /// Whether another thread of the engine had no part in the graph that `thread` computes at some
    /// time, or computed last before it: an idle team, or a thread that polls. Unknown is no.
    pub(super) fn is_idle(&self, other: ThreadId, thread: ThreadId, at: u64) -> bool {
        let calls = &self.calls[thread.0 as usize];
        let before = calls.partition_point(|(start, _)| *start <= at);
        let Some(last) = before.checked_sub(1).map(|i| calls[i]) else { return false };
        let existed = at < last.1 || self.born[other.0 as usize] <= last.0;
        existed && self.calls[other.0 as usize].binary_search(&last).is_err()
    }

    /// The threads that began during the session.
    pub(super) fn newcomers(&self, model: &Model) -> Newcomers {
        let mut rows: HashMap<u32, Vec<(u64, ThreadId)>> = HashMap::new();
        for ((id, thread), born) in model.threads.iter().zip(&self.born).filter(|(_, born)| **born > 0) {
            rows.entry(thread.pid).or_default().push((*born, id));
        }
        rows.values_mut().for_each(|rows| rows.sort_unstable());
        Newcomers(rows)
    }

    /// The thread of this id, if it is known.
    pub(super) fn thread(&self, tid: u32) -> Option<ThreadId> {
        self.threads.get(&tid).copied()
    }

    /// The same for a task; one that was never seen has no thread here.
    pub(super) fn task_is_idle(&self, tid: u32, thread: ThreadId, at: u64) -> bool {
        match self.threads.get(&tid) {
            Some(other) => self.is_idle(*other, thread, at),
            None => !self.calls[thread.0 as usize].is_empty(),
        }
    }
}

/// Threads that began during a session, by process and time.
#[derive(Debug, Default)]
pub(super) struct Newcomers(HashMap<u32, Vec<(u64, ThreadId)>>);

impl Newcomers {
    /// Those of a process that began between two times, ns.
    pub(super) fn between(&self, pid: u32, (from, to): (u64, u64)) -> impl Iterator<Item = ThreadId> + '_ {
        let rows = self.0.get(&pid).map_or(&[][..], Vec::as_slice);
        let first = rows.partition_point(|(born, _)| *born < from);
        rows[first..].iter().take_while(move |(born, _)| *born < to).map(|(_, thread)| *thread)
    }
}

/// By thread, when it began, ns; 0 where it existed before the scheduler level was recorded. A thread that begins
/// waits for a CPU or runs; what the first switch of another shows is that it stops running.
fn born(model: &Model) -> Vec<u64> {
    let states = &model.sched.states;
    let mut first = vec![(u64::MAX, ThreadState::Preempted); model.threads.len()];
    for i in 0..states.len() {
        let row = &mut first[states.thread[i].0 as usize];
        if states.start_ns[i] < row.0 {
            *row = (states.start_ns[i], states.state[i]);
        }
    }
    let begins = |state| matches!(state, ThreadState::Woken | ThreadState::Running);
    first.into_iter().map(|(start, state)| if begins(state) { start } else { 0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_trace::model::{GraphCallId, NodeIdx, Spans};

    /// Thread 0 computes a graph at 100 with thread 1, while thread 2 exists. Thread 3 begins at 250.
    fn model() -> Model {
        let mut model = Model::default();
        for tid in 10..14 {
            let id = model.threads.find_or_add(tid);
            model.threads.describe(id, 7, Default::default());
        }
        model.spans = Spans {
            thread: vec![ThreadId(0), ThreadId(1)],
            graph_call: vec![GraphCallId(0); 2],
            node: vec![NodeIdx(0); 2],
            start_ns: vec![110; 2],
            work_ns: vec![10; 2],
            ..Spans::default()
        };
        (model.graph_calls.start_ns, model.graph_calls.duration_ns) = (vec![100], vec![100]);
        for (thread, at) in [(0, 10), (1, 20), (2, 30), (3, 250)] {
            let states = &mut model.sched.states;
            states.thread.push(ThreadId(thread));
            states.start_ns.push(at);
            states.duration_ns.push(5);
            states.state.push(ThreadState::Running);
            states.cpu.push(0);
        }
        model
    }

    fn computing(model: &Model) -> Computing {
        Computing::new(model, &Tracing::compute(model))
    }

    #[test]
    fn a_thread_that_began_after_the_last_captured_graph_may_compute() {
        let of_model = computing(&model());
        let idle = |thread, at| of_model.is_idle(ThreadId(thread), ThreadId(0), at);
        assert_eq!([1, 2, 3].map(|thread| idle(thread, 300)), [false, true, false]);
        // While that graph is computed, it has no part in it.
        assert_eq!([1, 2, 3].map(|thread| idle(thread, 150)), [false, true, true]);
        // Before the first graph nothing is known.
        assert!(!idle(2, 90));
        assert_eq!([12, 13, 99].map(|tid| of_model.task_is_idle(tid, ThreadId(0), 300)), [true, false, true]);
    }

    #[test]
    fn a_thread_whose_first_record_is_that_it_loses_its_cpu_existed_before() {
        let mut model = model();
        model.sched.states.state[3] = ThreadState::Preempted;
        let computing = computing(&model);
        assert!(computing.is_idle(ThreadId(3), ThreadId(0), 300));
        assert_eq!(computing.newcomers(&model).between(7, (250, 251)).count(), 0);
    }

    #[test]
    fn newcomers_of_a_process_by_time() {
        let model = model();
        let newcomers = computing(&model).newcomers(&model);
        let between = |pid, from, to| newcomers.between(pid, (from, to)).map(|t| t.0).collect::<Vec<_>>();
        assert_eq!(between(7, 20, 250), [1, 2]);
        assert_eq!(between(7, 250, 251), [3]);
        assert!(between(8, 0, 300).is_empty());
    }
}
