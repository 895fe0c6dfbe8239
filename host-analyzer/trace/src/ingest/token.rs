//! Decode calls, by start.

use std::collections::HashMap;

use profinfer_wire::record::token::{Decode, function};

use super::graph::Calls;
use crate::model::{DecodeFunction, Level, LlamaCallId, LlamaCalls, Model, ThreadId, Topology, TopologyId};

/// Calls in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Tokens(Vec<(Decode, ThreadId, DecodeFunction)>);

impl Tokens {
    pub(super) fn add(&mut self, record: Decode, thread: ThreadId) {
        let function = match record.function {
            function::LLAMA_DECODE => DecodeFunction::LlamaDecode,
            function::LLAMA_PROCESS => DecodeFunction::LlamaProcess,
            function::LLAMA_ENCODE => DecodeFunction::LlamaEncode,
            _ => DecodeFunction::Unknown,
        };
        self.0.push((record, thread, function));
    }

    /// Adds the outermost graphs of the processes that have no token level, as calls.
    pub(super) fn add_graphs(
        &mut self,
        calls: &mut Calls,
        model: &Model,
        topologies: &HashMap<u32, TopologyId>,
    ) {
        let probes = |pid: u32, level: Level| {
            model.session.probes.iter().filter(move |p| p.pid == pid && p.level == Some(level))
        };
        let attached = |pid: u32, level: Level| probes(pid, level).any(|p| p.attached);
        // Without a probe of the token level, attached or not, nobody asked for it. If one is attached, a single
        // graph may be that of a call that had begun before.
        let blind = |pid: &u32| {
            let called = self.0.iter().any(|(r, ..)| r.pid == *pid);
            let known = attached(*pid, Level::Token) && calls.outermost(*pid).count() < 2;
            !called && !known && probes(*pid, Level::Token).next().is_some() && attached(*pid, Level::Graph)
        };
        let pids: Vec<u32> = model.session.processes.iter().map(|p| p.pid).filter(blind).collect();
        let first = self.0.iter().map(|(r, ..)| r.id).max().unwrap_or(0).saturating_add(1);
        let table = |topology: u32| {
            topologies.get(&topology).map_or(0, |id| table_of_tokens(model, model.topologies.get(*id)))
        };
        for (call, thread) in calls.as_calls(&pids, first, table) {
            self.0.push((call, thread, DecodeFunction::Graph));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Fills the table. Returns the ids by the numbers that graph calls refer to. If graph calls
    /// may be missing (`calls_lost`), their tokens are not summed, because the sum would be wrong.
    pub(super) fn finish(
        mut self,
        calls: &Calls,
        calls_lost: bool,
        out: &mut LlamaCalls,
    ) -> HashMap<u32, LlamaCallId> {
        self.0.sort_by_key(|(r, ..)| (r.start_ns, r.id));
        let in_graphs = if calls_lost { HashMap::new() } else { calls.tokens_by_decode() };
        let mut ids = HashMap::with_capacity(self.0.len());
        for ((r, thread, function), id) in self.0.into_iter().zip((0..).map(LlamaCallId)) {
            ids.insert(r.id, id);
            out.start_ns.push(r.start_ns);
            out.duration_ns.push(r.duration_ns);
            out.function.push(function);
            out.thread.push(thread);
            out.context.push(r.context);
            let seen = in_graphs.get(&r.id).copied().filter(|n| *n > 0);
            out.n_tokens.push(seen.or(r.n_tokens).unwrap_or(0));
            out.status.push(r.status);
        }
        ids
    }
}

/// Address of the table in which a graph looks up its tokens: the first source of its first node. 0 if it
/// begins otherwise.
fn table_of_tokens(model: &Model, topology: &Topology) -> u64 {
    let first = topology.nodes.first().filter(|n| model.texts.get(n.op) == "GET_ROWS");
    let table = first.and_then(|n| n.src.iter().find(|(slot, _)| *slot == 0));
    table.map_or(0, |(_, table)| topology.node(*table).data)
}
