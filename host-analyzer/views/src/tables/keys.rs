//! Keys that rows of `ops` share: the thread in a graph call, the node, the work.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

use super::column::{Column, Values};
use profinfer_analysis::per_node::PerNode;
use profinfer_analysis::work::{Reader, Work, Works};
use profinfer_trace::model::{GraphCallId, Model, NodeIdx, ThreadId, TopologyId};

/// Things that rows share, and for each row the index of its thing.
pub(super) struct Shared<T> {
    list: Vec<T>,
    keys: Arc<[u32]>,
}

/// One thread in one graph call.
pub(super) struct Caller {
    pub(super) call: GraphCallId,
    pub(super) thread: ThreadId,
}

/// A node, and the last node that the same kernel computed too.
pub(super) struct Computed {
    pub(super) topology: TopologyId,
    pub(super) node: NodeIdx,
    pub(super) last: NodeIdx,
}

/// The keys of some rows.
pub(super) struct Keys {
    pub(super) callers: Shared<Caller>,
    pub(super) nodes: Shared<Computed>,
    pub(super) works: Shared<Work>,
}

impl<T> Shared<T> {
    /// A column that depends on this thing only.
    pub(super) fn column<'a, V: Copy + Eq + Hash>(
        &'a self,
        value: impl Fn(&'a T) -> Option<V>,
        list: impl FnOnce(Vec<V>) -> Values,
    ) -> Column {
        Column::coded(&self.keys, self.list.iter().map(value), list)
    }
}

/// Keys found so far.
#[derive(Default)]
struct Met {
    callers: Vec<Caller>,
    nodes: Vec<Computed>,
    works: Vec<Work>,
    key_of_work: HashMap<Work, u32>,
}

/// Keys of a node, and of its latest work.
struct Place {
    node: u32,
    work: Option<(Work, u32)>,
}

impl Keys {
    pub(super) fn new(model: &Model, works: &Works, rows: Range<usize>) -> Self {
        let spans = &model.spans;
        let mut met = Met::default();
        let [mut callers, mut nodes, mut done] = [(); 3].map(|()| Vec::with_capacity(rows.len()));
        let mut places = PerNode::new(model);
        let mut reader = Reader::new(model, works);
        for i in rows {
            let (call, thread) = (spans.graph_call[i], spans.thread[i]);
            callers.push(met.caller(call, thread));
            // The model promises that a span's graph call has a topology.
            let topology = model.graph_calls.topology[call.0 as usize].unwrap_or(TopologyId(0));
            let (node, last) = (spans.node[i], spans.last_node[i]);
            let place: &mut Place = places.get(Some(topology), node, last, || Place {
                node: met.node(Computed { topology, node, last }),
                work: None,
            });
            nodes.push(place.node);
            let work = reader.execution(call, node, last);
            let known = place.work.filter(|(latest, _)| *latest == work);
            let (_, key) = known.unwrap_or_else(|| (work, met.work(work)));
            place.work = Some((work, key));
            done.push(key);
        }
        let Met { callers: of_callers, nodes: of_nodes, works, .. } = met;
        Self {
            callers: Shared { list: of_callers, keys: callers.into() },
            nodes: Shared { list: of_nodes, keys: nodes.into() },
            works: Shared { list: works, keys: done.into() },
        }
    }
}

impl Met {
    /// The rows of one thread in one call are adjacent.
    fn caller(&mut self, call: GraphCallId, thread: ThreadId) -> u32 {
        if self.callers.last().is_none_or(|c| (c.call, c.thread) != (call, thread)) {
            self.callers.push(Caller { call, thread });
        }
        last(&self.callers)
    }

    fn node(&mut self, node: Computed) -> u32 {
        self.nodes.push(node);
        last(&self.nodes)
    }

    fn work(&mut self, work: Work) -> u32 {
        *self.key_of_work.entry(work).or_insert_with(|| {
            self.works.push(work);
            last(&self.works)
        })
    }
}

/// Key of the last thing.
fn last<T>(list: &[T]) -> u32 {
    u32::try_from(list.len() - 1).unwrap_or(u32::MAX)
}
