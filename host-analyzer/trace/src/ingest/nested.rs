//! Nested calls: unpacked on arrival, sorted at the end.

use std::collections::HashMap;

use profinfer_wire::record::nested::{NestedBatch, NestedCall};

use super::damage::Damages;
use crate::model::{DamageKind, GraphCallId, Model, NodeIdx, Text, ThreadId};

/// Calls in order of arrival: graph call, its start as the agent measured it (ns), and the offset
/// in the stream.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<(u32, u64, NestedCall, u64)>);

impl Calls {
    /// Unpacks a batch; returns the number of calls in it.
    pub(super) fn add(&mut self, r: &NestedBatch<'_>, offset: u64, damages: &mut Damages) -> u64 {
        let before = self.0.len();
        self.0.extend(r.iter().map(|call| (r.graph, r.base_ns, call, offset)));
        let count = self.0.len() - before;
        if count != usize::from(r.count) {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
        count as u64
    }

    /// Fills the table. Calls whose graph call, topology or texts never came are left out and
    /// counted.
    pub(super) fn finish(
        self,
        calls: &HashMap<u32, GraphCallId>,
        texts: &HashMap<u32, Text>,
        model: &mut Model,
        damages: &mut Damages,
    ) {
        let mut rows: Vec<(GraphCallId, ThreadId, u64, NestedCall, [Text; 2])> =
            Vec::with_capacity(self.0.len());
        for (graph, base_ns, call, offset) in self.0 {
            let known = calls.get(&graph).copied().filter(|g| {
                let topology = model.graph_calls.topology[g.0 as usize];
                topology.is_some_and(|s| call.node < model.topologies.get(s).n_nodes)
            });
            let text = |id: u32| texts.get(&id).copied();
            let (Some(graph), Some(function), Some(backend)) =
                (known, text(call.function), text(call.backend))
            else {
                damages.add(DamageKind::Unresolved, 1, 0, offset);
                continue;
            };
            let start_ns = base_ns.saturating_add(call.start_ns);
            rows.push((graph, model.threads.find_or_add(call.tid), start_ns, call, [function, backend]));
        }
        rows.sort_by_key(|(graph, thread, start_ns, call, _)| (*graph, *thread, *start_ns, call.depth));
        for (graph, thread, start_ns, call, [function, backend]) in rows {
            let out = &mut model.nested_calls;
            out.graph_call.push(graph);
            out.thread.push(thread);
            out.node.push(NodeIdx(call.node));
            out.function.push(function);
            out.backend.push(backend);
            out.depth.push(call.depth);
            out.start_ns.push(start_ns);
            out.duration_ns.push(call.duration_ns);
        }
    }
}
