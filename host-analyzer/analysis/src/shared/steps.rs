//! Graph calls whose threads are in step: all threads computed the same nodes, in graph order.
//!
//! Nearly every call is so, and then nothing has to be sorted or looked up.

use std::ops::Range;

use profinfer_trace::model::{NodeIdx, Spans, ThreadId};

/// Layout of the spans of such a call: thread by thread, and node by node within a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Steps {
    first: usize,
    /// Nodes per thread.
    nodes: usize,
    threads: usize,
}

impl Steps {
    /// The layout of the spans of one graph call; `None` if its threads are not in step.
    pub(crate) fn new(spans: &Spans, rows: Range<usize>) -> Option<Self> {
        let nodes = in_step(&spans.thread[rows.clone()], &spans.node[rows.clone()])?;
        Some(Self { first: rows.start, nodes, threads: rows.len() / nodes })
    }

    /// The threads, in order.
    pub(crate) fn threads(self, spans: &Spans) -> impl Iterator<Item = ThreadId> {
        (0..self.threads).map(move |n| spans.thread[self.first + n * self.nodes])
    }

    /// Number of threads.
    pub(crate) const fn count(self) -> usize {
        self.threads
    }

    /// Number of nodes per thread.
    pub(crate) const fn nodes(self) -> usize {
        self.nodes
    }

    /// The spans of the `n`-th thread, node by node.
    pub(crate) const fn of_thread(self, n: usize) -> Range<usize> {
        self.first + n * self.nodes..self.first + (n + 1) * self.nodes
    }

    /// The spans of the `k`-th node, thread by thread.
    pub(crate) fn of_node(self, k: usize) -> impl Iterator<Item = usize> + Clone {
        (self.first + k..).step_by(self.nodes).take(self.threads)
    }
}

/// Number of nodes per thread; spans are in the order of threads. The loop has no early exit,
/// because nearly all calls are in step and the compiler then compares several nodes at once.
fn in_step(threads: &[ThreadId], nodes: &[NodeIdx]) -> Option<usize> {
    let first = threads.partition_point(|thread| *thread <= threads[0]);
    let own = &nodes[..first];
    let ascending = own.windows(2).fold(true, |so_far, pair| so_far & (pair[0] < pair[1]));
    let same = |part: &[NodeIdx]| {
        part.len() == first && part.iter().zip(own).fold(true, |so_far, (a, b)| so_far & (a == b))
    };
    let of_one_thread = |part: &[ThreadId]| part[0] == part[part.len() - 1];
    let in_step =
        first > 0 && ascending && threads.chunks(first).all(of_one_thread) && nodes.chunks(first).all(same);
    in_step.then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_in_step_if_they_compute_the_same_nodes_in_order() {
        let step = |threads: &[(u32, &[u32])]| {
            let of = |(thread, nodes): &(u32, &[u32])| vec![ThreadId(*thread); nodes.len()];
            let ids: Vec<ThreadId> = threads.iter().flat_map(of).collect();
            let nodes: Vec<NodeIdx> =
                threads.iter().flat_map(|(_, nodes)| nodes.iter().copied().map(NodeIdx)).collect();
            in_step(&ids, &nodes)
        };
        assert_eq!(step(&[(0, &[1, 3, 4]), (1, &[1, 3, 4])]), Some(3));
        assert_eq!(step(&[(5, &[2])]), Some(1));
        assert_eq!(step(&[]), None);
        assert_eq!(step(&[(0, &[1, 3]), (1, &[1, 4])]), None);
        assert_eq!(step(&[(0, &[1, 3]), (1, &[1])]), None);
        assert_eq!(step(&[(0, &[3, 1]), (1, &[3, 1])]), None);
        assert_eq!(step(&[(0, &[1, 1]), (1, &[1, 1])]), None);
        // A thread that ran the nodes of two.
        assert_eq!(step(&[(0, &[1, 2]), (1, &[1]), (2, &[2])]), None);
    }
}
