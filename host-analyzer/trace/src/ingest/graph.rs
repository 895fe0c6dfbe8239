//! Graph calls, by start.

use std::collections::HashMap;

use profinfer_wire::record::graph::{GraphCall, Past, layer};
use profinfer_wire::record::token::Decode;

use super::damage::Damages;
use crate::model::{DamageKind, GraphCallId, GraphCalls, Layer, LlamaCallId, Text, ThreadId, TopologyId};

/// Calls in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<(GraphCall, ThreadId, u64)>,
    pasts: HashMap<u32, u32>,
}

impl Calls {
    pub(super) fn add(&mut self, record: GraphCall, thread: ThreadId, offset: u64) {
        self.calls.push((record, thread, offset));
    }

    pub(super) fn past(&mut self, record: Past) {
        self.pasts.insert(record.graph, record.n_past);
    }

    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Graphs of a process outside of calls and other graphs.
    pub(super) fn outermost(&self, pid: u32) -> impl Iterator<Item = (&GraphCall, &ThreadId)> {
        let outermost = move |r: &GraphCall| r.pid == pid && r.decode == 0 && r.parent == 0;
        self.calls.iter().filter(move |(r, ..)| outermost(r)).map(|(r, thread, _)| (r, thread))
    }

    /// Makes the outermost graphs of some processes calls, numbered from `first`. The context of a call is
    /// what `table` says of the topology of its first part.
    pub(super) fn as_calls(
        &mut self,
        pids: &[u32],
        first: u32,
        table: impl Fn(u32) -> u64,
    ) -> Vec<(Decode, ThreadId)> {
        let rows = pids.iter().flat_map(|pid| self.outermost(*pid));
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut made: Vec<(Decode, ThreadId)> = Vec::new();
        for ((r, thread), id) in rows.zip(first..=u32::MAX) {
            numbers.insert(r.id, id);
            made.push((
                Decode {
                    id,
                    pid: r.pid,
                    tid: r.tid,
                    function: 0,
                    context: 0,
                    start_ns: r.start_ns,
                    duration_ns: r.duration_ns,
                    n_tokens: Some(r.n_tokens),
                    status: 0,
                },
                *thread,
            ));
        }
        for (r, ..) in &mut self.calls {
            let Some(id) = numbers.get(&r.id).or_else(|| numbers.get(&r.parent)) else { continue };
            r.decode = *id;
            let call = &mut made[(*id - first) as usize].0;
            if call.context == 0 && call.n_tokens != Some(0) {
                call.context = table(r.topology);
            }
        }
        made
    }

    /// Tokens of the complete graphs inside each decode call.
    pub(super) fn tokens_by_decode(&self) -> HashMap<u32, u32> {
        let mut sums = HashMap::new();
        for (r, ..) in self.calls.iter().filter(|(r, ..)| r.layer == layer::SCHEDULER && r.decode != 0) {
            let sum: &mut u32 = sums.entry(r.decode).or_default();
            *sum = sum.saturating_add(r.n_tokens);
        }
        sums
    }

    /// Fills the table. Returns the ids by the numbers that span batches refer to.
    pub(super) fn finish(
        mut self,
        llama_calls: &HashMap<u32, LlamaCallId>,
        topologies: &HashMap<u32, TopologyId>,
        texts: &HashMap<u32, Text>,
        out: &mut GraphCalls,
        damages: &mut Damages,
    ) -> HashMap<u32, GraphCallId> {
        // A scheduler call begins before, or with, the backend calls inside it.
        self.calls.sort_by_key(|(r, ..)| (r.start_ns, r.layer, r.id));
        let ids: HashMap<u32, GraphCallId> =
            self.calls.iter().map(|(r, ..)| r.id).zip((0..).map(GraphCallId)).collect();
        for (r, thread, offset) in self.calls {
            let mut lost = |known: bool| {
                if !known {
                    damages.add(DamageKind::Unresolved, 1, 0, offset);
                }
            };
            let topology = topologies.get(&r.topology).copied();
            lost(r.topology == 0 || topology.is_some());
            let backend = texts.get(&r.backend).copied();
            lost(r.backend == 0 || backend.is_some());
            // A decode call that has not ended yet is not damage: the recording may end inside it.
            out.start_ns.push(r.start_ns);
            out.duration_ns.push(r.duration_ns);
            out.layer.push(if r.layer == layer::SCHEDULER { Layer::Scheduler } else { Layer::Backend });
            out.backend.push(backend.unwrap_or_default());
            out.topology.push(topology);
            out.n_nodes.push(r.n_nodes);
            out.n_tokens.push(r.n_tokens);
            out.n_past.push(self.pasts.get(&r.id).copied());
            out.thread.push(thread);
            out.decode.push(llama_calls.get(&r.decode).copied());
            out.parent.push(ids.get(&r.parent).copied());
        }
        ids
    }
}
