//! Which threads of an engine compute together, and which only run.

use std::collections::HashMap;

use profinfer_trace::model::{Model, ThreadId};

#[derive(Debug, Default)]
pub(super) struct Computing {
    /// By thread: the starts of the graph calls in which it computed, sorted.
    starts: Vec<Vec<u64>>,
    /// Most threads that computed a graph together, by process.
    pub(super) teams: HashMap<u32, usize>,
    /// By thread id of the kernel.
    threads: HashMap<u32, ThreadId>,
}

impl Computing {
    pub(super) fn new(model: &Model) -> Self {
        let mut starts = vec![Vec::new(); model.threads.len()];
        let mut teams = HashMap::new();
        for (call, rows) in model.spans.by_call() {
            let (mut threads, mut pid) = (0, 0);
            for (thread, _) in model.spans.by_thread(rows) {
                threads += 1;
                pid = model.threads.get(thread).pid;
                starts[thread.0 as usize].push(model.graph_calls.start_ns[call.0 as usize]);
            }
            let most = teams.entry(pid).or_insert(0);
            *most = threads.max(*most);
        }
        starts.iter_mut().for_each(|s| s.sort_unstable());
        Self { starts, teams, threads: model.threads.iter().map(|(id, t)| (t.tid, id)).collect() }
    }

    /// Whether another thread of the engine had no part in the graph that `thread` computes at some
    /// time, or computed last before it: an idle team, or a thread that polls. Unknown is no.
    pub(super) fn is_idle(&self, other: ThreadId, thread: ThreadId, at: u64) -> bool {
        let starts = &self.starts[thread.0 as usize];
        let before = starts.partition_point(|start| *start <= at);
        let Some(last) = before.checked_sub(1).map(|i| starts[i]) else { return false };
        self.starts[other.0 as usize].binary_search(&last).is_err()
    }

    /// The thread of this id, if it computed.
    pub(super) fn thread(&self, tid: u32) -> Option<ThreadId> {
        self.threads.get(&tid).copied()
    }

    /// The same for a task; one that never computed has no thread here.
    pub(super) fn task_is_idle(&self, tid: u32, thread: ThreadId, at: u64) -> bool {
        match self.threads.get(&tid) {
            Some(other) => self.is_idle(*other, thread, at),
            None => !self.starts[thread.0 as usize].is_empty(),
        }
    }
}
