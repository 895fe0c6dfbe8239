//! The spans of one graph call, node by node.

use std::ops::Range;

use crate::model::{NodeIdx, Spans};

/// Which spans of a graph call belong to the same node: the rows are in the order in which nodes first come, and the spans of a row in
/// their own.
#[derive(Debug, Default)]
pub(super) struct Gather {
    /// Row by span, from the call's first span on.
    pub(super) of_span: Vec<u32>,
    /// The spans row by row, and by row where they end.
    members: Vec<usize>,
    ends: Vec<usize>,
    /// Used again from call to call: row by node.
    row_of_node: Vec<u32>,
}

pub(super) const NONE: u32 = u32::MAX;

impl Gather {
    /// Reads the spans of one graph call.
    pub(super) fn read(&mut self, spans: &Spans, rows: Range<usize>) {
        match in_step(spans, rows.clone()) {
            Some(nodes) => self.read_in_step(rows, nodes),
            None => self.sort(&spans.node, rows),
        }
    }

    /// The spans of each row.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[usize]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let members = &self.members[start..*end];
            start = *end;
            members
        })
    }

    /// Row and span of the k-th node of a thread are k; nothing has to be looked up.
    fn read_in_step(&mut self, rows: Range<usize>, nodes: usize) {
        let threads = rows.len() / nodes;
        self.of_span.clear();
        for _ in 0..threads {
            self.of_span.extend(0..u32::try_from(nodes).unwrap_or(NONE));
        }
        self.members.clear();
        self.ends.clear();
        for first in rows.start..rows.start + nodes {
            self.members.extend((0..threads).map(|thread| first + thread * nodes));
            self.ends.push(self.members.len());
        }
    }

    /// A counting sort, as there are as many nodes as spans of a thread.
    fn sort(&mut self, nodes: &[NodeIdx], rows: Range<usize>) {
        let Self { of_span, row_of_node, members, ends } = self;
        of_span.clear();
        ends.clear();
        for node in nodes[rows.clone()].iter().map(|node| node.0 as usize) {
            if row_of_node.len() <= node {
                row_of_node.resize(node + 1, NONE);
            }
            let row = &mut row_of_node[node];
            if *row == NONE {
                *row = u32::try_from(ends.len()).unwrap_or(NONE);
                ends.push(0);
            }
            ends[*row as usize] += 1;
            of_span.push(*row);
        }
        // From counts to where each row begins; filling it moves that on to its end.
        let mut next = 0;
        for end in ends.iter_mut() {
            next += std::mem::replace(end, next);
        }
        members.clear();
        members.resize(rows.len(), 0);
        for (i, row) in rows.clone().zip(of_span) {
            let at = &mut ends[*row as usize];
            members[*at] = i;
            *at += 1;
        }
        for node in &nodes[rows] {
            row_of_node[node.0 as usize] = NONE;
        }
    }
}

/// How many nodes each thread computed, if all computed the same ones in the order of the graph. It is so in nearly every call.
fn in_step(spans: &Spans, rows: Range<usize>) -> Option<usize> {
    let (threads, nodes) = (&spans.thread[rows.clone()], &spans.node[rows]);
    let first = threads.chunk_by(|a, b| a == b).next()?.len();
    let (own, _) = nodes.split_at(first);
    let ascending = own.windows(2).all(|pair| pair[0] < pair[1]);
    let one_thread_each = || threads.chunks(first).all(|part| part.iter().all(|t| *t == part[0]));
    let same_nodes = || nodes.chunks(first).all(|part| part == own);
    (ascending && same_nodes() && one_thread_each()).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ThreadId;

    fn spans(threads: &[(u32, &[u32])]) -> Spans {
        let mut spans = Spans::default();
        for (thread, nodes) in threads {
            spans.thread.extend(nodes.iter().map(|_| ThreadId(*thread)));
            spans.node.extend(nodes.iter().map(|node| NodeIdx(*node)));
        }
        spans
    }

    fn rows(gather: &Gather) -> (Vec<Vec<usize>>, Vec<u32>) {
        (gather.rows().map(<[usize]>::to_vec).collect(), gather.of_span.clone())
    }

    #[test]
    fn spans_of_a_node_are_side_by_side() {
        let spans = spans(&[(0, &[9, 4, 6]), (1, &[4, 9]), (2, &[6, 7, 6])]);
        let mut gather = Gather::default();
        gather.read(&spans, 1..8);
        let expected = vec![vec![1, 3], vec![2, 5, 7], vec![4], vec![6]];
        assert_eq!(rows(&gather), (expected, vec![0, 1, 0, 2, 1, 3, 1]));
    }

    #[test]
    fn threads_are_in_step_if_they_compute_the_same_nodes_in_order() {
        let step = |threads: &[(u32, &[u32])]| {
            let spans = spans(threads);
            in_step(&spans, 0..spans.node.len())
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

    /// Whatever threads are in step is sorted to the same rows by the general way.
    #[test]
    fn both_ways_give_the_same() {
        let mut random = 1_u64;
        let mut below = |n: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % n
        };
        let (mut quick, mut sorted) = (Gather::default(), Gather::default());
        let mut in_steps = 0;
        for _ in 0..2000 {
            let mut nodes: Vec<u32> = (0..40).filter(|_| below(3) > 0).collect();
            let mut found = Spans::default();
            for thread in 0..=below(4) {
                if below(8) == 0 {
                    nodes.rotate_left(below(3) as usize);
                }
                let skipped = if below(8) == 0 { below(40) } else { 40 };
                for (k, node) in nodes.iter().enumerate() {
                    if k as u64 != skipped {
                        found.thread.push(ThreadId(thread as u32));
                        found.node.push(NodeIdx(*node));
                    }
                }
            }
            let all = 0..found.node.len();
            in_steps += u32::from(in_step(&found, all.clone()).is_some());
            quick.read(&found, all.clone());
            sorted.sort(&found.node, all);
            assert_eq!(rows(&quick), rows(&sorted));
        }
        assert!((500..1900).contains(&in_steps), "{in_steps}");
    }
}
