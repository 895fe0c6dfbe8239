//! The spans of one graph call, node by node.

use std::ops::Range;

use profinfer_trace::model::NodeIdx;

/// Which spans of a graph call belong to the same node. Rows are in the order in which nodes first
/// appear, and the spans of a row keep their order.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    /// Row by span, from the call's first span on.
    pub(crate) of_span: Vec<u32>,
    /// The spans row by row, and the end of each row.
    members: Vec<usize>,
    ends: Vec<usize>,
    /// Row by node. Reused from call to call.
    row_of_node: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Gather {
    /// The spans of each row.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[usize]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let members = &self.members[start..*end];
            start = *end;
            members
        })
    }

    /// Reads the spans of one graph call by a counting sort, because there are as many nodes as
    /// spans per thread.
    pub(crate) fn read(&mut self, nodes: &[NodeIdx], rows: Range<usize>) {
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
        // Turns counts into the start of each row. Filling a row moves that on to its end.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(gather: &Gather) -> (Vec<Vec<usize>>, Vec<u32>) {
        (gather.rows().map(<[usize]>::to_vec).collect(), gather.of_span.clone())
    }

    #[test]
    fn spans_of_a_node_are_side_by_side() {
        // Three threads; the call's spans begin with the second one.
        let nodes = [9, 4, 6, 4, 9, 6, 7, 6].map(NodeIdx);
        let mut gather = Gather::default();
        gather.read(&nodes, 1..8);
        let expected = vec![vec![1, 3], vec![2, 5, 7], vec![4], vec![6]];
        assert_eq!(rows(&gather), (expected, vec![0, 1, 0, 2, 1, 3, 1]));
    }
}
