//! Nodes and texts that slices refer to, in order of first use.

use std::collections::BTreeMap;

use serde::Serialize;

use super::number;
use profinfer_trace::model::{Model, NodeIdx, SpanId, Text, TopologyId};

/// Name, operator, description, type, the last tensor computed too, dimensions; all but the last
/// are texts.
#[derive(Serialize)]
pub(super) struct Node(usize, usize, usize, usize, Option<usize>, [u64; 4]);

pub(super) struct Nodes<'a> {
    pub(super) model: &'a Model,
    pub(super) texts: Vec<&'a str>,
    text_ids: BTreeMap<Text, usize>,
    pub(super) rows: Vec<Node>,
    row_ids: BTreeMap<(TopologyId, NodeIdx, NodeIdx), usize>,
}

impl<'a> Nodes<'a> {
    pub(super) const fn new(model: &'a Model) -> Self {
        Self {
            model,
            texts: Vec::new(),
            text_ids: BTreeMap::new(),
            rows: Vec::new(),
            row_ids: BTreeMap::new(),
        }
    }

    pub(super) fn text(&mut self, text: Text) -> usize {
        *self.text_ids.entry(text).or_insert_with(|| {
            self.texts.push(self.model.texts.get(text));
            self.texts.len() - 1
        })
    }

    /// Row of a span's node; -1 if its graph call has no topology, which the model rules out.
    pub(super) fn row(&mut self, SpanId(span): SpanId) -> i64 {
        let model: &'a Model = self.model;
        let spans = &model.spans;
        let i = span as usize;
        let Some(topology) = model.graph_calls.topology[spans.graph_call[i].0 as usize] else { return -1 };
        let key = (topology, spans.node[i], spans.last_node[i]);
        if let Some(id) = self.row_ids.get(&key) {
            return number(*id);
        }
        let topology = model.topologies.get(topology);
        let node = topology.node(spans.node[i]);
        let last = (spans.last_node[i] != spans.node[i]).then(|| topology.node(spans.last_node[i]).name);
        let row = Node(
            self.text(node.name),
            self.text(node.op),
            self.text(node.desc),
            self.text(node.dtype),
            last.map(|name| self.text(name)),
            node.ne,
        );
        self.rows.push(row);
        let id = self.rows.len() - 1;
        self.row_ids.insert(key, id);
        number(id)
    }
}
