//! Meetings of threads: the operators of one graph call in the order in which their barriers open.

use std::ops::Range;

use crate::shared::gather::Gather;
use crate::shared::steps::Steps;
use profinfer_trace::model::{NodeIdx, Spans};

/// One operator of a graph call, and the barrier after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Meeting {
    pub(super) node: NodeIdx,
    /// Last end of work, when the barrier opens, ns.
    pub(super) release: u64,
    /// Its spans, in [`Meetings::members`].
    members: Range<usize>,
}

/// The meetings of one graph call. Reused from call to call.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    pub(super) rows: Vec<Meeting>,
    members: Vec<usize>,
    gather: Gather,
}

/// End of work of a span, ns.
#[inline]
pub(super) fn end(spans: &Spans, i: usize) -> u64 {
    spans.start_ns[i].saturating_add(spans.work_ns[i])
}

impl Meetings {
    /// Reads the spans of one graph call.
    pub(super) fn read(&mut self, spans: &Spans, rows: Range<usize>) {
        self.rows.clear();
        self.members.clear();
        if rows.is_empty() {
            return;
        }
        if let Some(steps) = Steps::new(spans, rows.clone()) {
            for k in 0..steps.nodes() {
                self.add(spans, steps.of_node(k));
            }
        } else {
            let mut gather = std::mem::take(&mut self.gather);
            gather.read(&spans.node, rows);
            gather.rows().for_each(|members| self.add(spans, members.iter().copied()));
            self.gather = gather;
        }
        let in_order = self.rows.windows(2).all(|pair| pair[0].release <= pair[1].release);
        if !in_order {
            self.rows.sort_by_key(|m| m.release);
        }
    }

    fn add(&mut self, spans: &Spans, of_node: impl Iterator<Item = usize>) {
        let first = self.members.len();
        self.members.extend(of_node);
        let members = first..self.members.len();
        let own = &self.members[members.clone()];
        let Some(one) = own.first() else { return };
        let release = own.iter().map(|i| end(spans, *i)).max().unwrap_or(0);
        self.rows.push(Meeting { node: spans.node[*one], release, members });
    }

    /// The spans of a meeting.
    pub(super) fn members(&self, m: &Meeting) -> &[usize] {
        &self.members[m.members.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_trace::model::ThreadId;

    #[test]
    fn meetings_are_in_the_order_in_which_barriers_open() {
        // Node 5 before node 3, and the second thread did only node 3.
        let spans = Spans {
            thread: [0, 0, 1].map(ThreadId).to_vec(),
            node: [3, 5, 3].map(NodeIdx).to_vec(),
            start_ns: vec![30, 10, 31],
            work_ns: vec![5, 9, 6],
            ..Spans::default()
        };
        let mut meetings = Meetings::default();
        meetings.read(&spans, 0..3);
        let rows: Vec<_> = meetings.rows.iter().map(|m| (m.node.0, m.release, meetings.members(m))).collect();
        assert_eq!(rows, [(5, 19, &[1][..]), (3, 37, &[0, 2][..])]);
    }
}
