//! Graphs outside of the model's calls: those of an encoder of images or sound, which has its own scheduler.

use profinfer_trace::model::Model;

/// The outermost graphs outside of calls, by process and start.
#[derive(Debug, Default)]
pub(crate) struct OuterGraphs(Vec<(u32, u64, u64)>);

impl OuterGraphs {
    pub(crate) fn compute(model: &Model) -> Self {
        let calls = &model.graph_calls;
        let outer = |i: &usize| calls.decode[*i].is_none() && calls.parent[*i].is_none();
        let row = |i: usize| {
            let start = calls.start_ns[i];
            let pid = model.threads.get(calls.thread[i]).pid;
            (pid, start, start.saturating_add(calls.duration_ns[i]))
        };
        let mut rows: Vec<_> = (0..calls.len()).filter(outer).map(row).collect();
        rows.sort_unstable();
        Self(rows)
    }

    /// Processes that have any, each as often as it has one.
    pub(crate) fn processes(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().map(|(pid, ..)| *pid)
    }

    /// Start and end of those of a process that begin in a stretch of time, cut at its end, ns.
    pub(crate) fn within(&self, pid: u32, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self.0.partition_point(|(p, start, _)| (*p, *start) < (pid, from));
        let inside = self.0[first..].iter().take_while(move |(p, start, _)| *p == pid && *start < to);
        inside.map(move |(_, start, end)| (*start, (*end).min(to)))
    }
}
