//! Graph level: running graph calls and their spans.

use std::rc::Rc;

use profinfer_wire::record::Record;
use profinfer_wire::record::control::level;
use profinfer_wire::record::graph::{GraphCall, Past, layer};

use super::batch::{Batch, Learning};
use super::expert::Selections;
use super::topology::Known;
use super::{Lower, backend};
use crate::bpf::ring::{self, WalkFailure};
use crate::link::output::Weight;

/// Running graph calls.
#[derive(Debug, Default)]
pub struct Graphs {
    last_id: u32,
    pub(super) open: Vec<Open>,
    /// Batches whose memory is reused.
    pub(super) pool: Vec<Batch>,
    /// Lists of batches whose memory is reused.
    pub(super) lists: Vec<Vec<Batch>>,
    /// Remaining memory for learning in batches.
    pub(super) learning: Learning,
}

/// One running call.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) id: u32,
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) start_ns: u64,
    pub(super) layer: u8,
    pub(super) backend: u64,
    decode: u32,
    parent: u32,
    n_nodes: u32,
    n_tokens: u32,
    n_past: Option<u32>,
    /// Its operators are not captured. Used by direct probes only.
    #[cfg(feature = "direct")]
    pub(super) skipped: bool,
    pub(super) topology: Option<Rc<Known>>,
    /// Why the topology is missing although it was to be read.
    pub(super) unknown: Option<ring::WalkFailure>,
    pub(super) batches: Vec<Batch>,
    pub(super) selections: Option<Selections>,
    /// Filters on calls keep its spans.
    pub(super) keep: bool,
}

/// Most running calls. Two per thread and context are usual. A call whose end was lost stays until
/// newer ones replace it.
const MAX_OPEN: usize = 64;

impl Graphs {
    /// The running CPU backend call of `pid` that began at `start_ns`.
    pub(super) fn find(&mut self, pid: u32, start_ns: u64) -> Option<&mut Open> {
        self.open
            .iter_mut()
            .rev()
            .find(|o| o.start_ns == start_ns && o.pid == pid && o.layer == layer::BACKEND)
    }

    /// Start of the earliest running call of a process, ns.
    pub(super) fn running_since(&self, pid: u32) -> Option<u64> {
        self.open.iter().filter(|o| o.pid == pid).map(|o| o.start_ns).min()
    }

    pub(super) fn take_all(&mut self) -> Vec<Open> {
        std::mem::take(&mut self.open)
    }

    fn current(&self, head: &ring::Head, layer: u8) -> u32 {
        let its = |o: &&Open| o.tid == head.tid && o.pid == head.tgid && o.layer == layer;
        self.open.iter().rev().find(its).map_or(0, |o| o.id)
    }
}

impl Lower {
    pub(super) fn graph(&mut self, e: &ring::Graph) {
        let layer = u8::try_from(e.head.arg).unwrap_or(u8::MAX);
        if e.end_ns == 0 {
            self.end_split(e, e.start_ns);
            self.graph_start(e, layer);
            return;
        }
        if layer == layer::SCHEDULER {
            self.end_split(e, e.end_ns);
        }
        if layer == layer::BACKEND {
            self.direct_ends(e.head.tgid, e.start_ns, e.end_ns);
        }
        let found = self.graphs.open.iter().position(|o| {
            o.tid == e.head.tid && o.start_ns == e.start_ns && o.layer == layer && o.pid == e.head.tgid
        });
        let mut open = match found {
            Some(i) => self.graphs.open.remove(i),
            // The start record was lost, and with it the graph's size.
            None => self.open_graph(e, layer),
        };
        self.end_running(&mut open, e.end_ns);
        self.emit_call(open, e.start_ns, e.end_ns);
    }

    /// Sends a call that has ended, with its spans.
    fn emit_call(&mut self, open: Open, start_ns: u64, end_ns: u64) {
        let (tid, pid, layer) = (open.tid, open.pid, open.layer);
        let operators: u64 = open.batches.iter().map(Batch::len).sum();
        let of_caller = open.batches.iter().filter(|b| b.tid == tid).map(Batch::len).sum();
        self.tokens.add_operators(open.decode, of_caller);
        let hits = self.hit(pid);
        match layer {
            layer::BACKEND if open.backend == 0 && open.n_nodes > 0 => hits.cpu += 1,
            layer::BACKEND => {}
            _ => hits.scheduler += 1,
        }
        hits.operators += if open.backend == 0 { operators } else { 0 };
        if self.levels & level::GRAPH != 0 || (self.levels & level::OP != 0 && layer == layer::BACKEND) {
            self.thread(pid, tid);
            let backend = match layer {
                layer::BACKEND => self.texts.id(&mut self.emit, &backend::name(open.backend)),
                _ => 0,
            };
            let start_ns = self.begun(tid, start_ns, end_ns);
            if let Some(n_past) = open.n_past {
                self.emit.emit(&Record::Past(Past { graph: open.id, n_past }), Weight::Essential);
            }
            let record = GraphCall {
                id: open.id,
                topology: open.topology.as_ref().map_or(0, |s| s.wire_id),
                pid,
                tid,
                layer,
                backend,
                n_nodes: open.n_nodes,
                n_tokens: open.n_tokens,
                decode: open.decode,
                parent: open.parent,
                start_ns,
                duration_ns: end_ns.saturating_sub(start_ns),
            };
            self.emit.emit(&Record::GraphCall(record), Weight::Essential);
        }
        self.send_nested_of(open.id);
        self.send_batches(open);
    }

    /// Ends the split that this thread's scheduler gave to another backend: the scheduler
    /// continues.
    fn end_split(&mut self, e: &ring::Graph, end_ns: u64) {
        let its = |o: &Open| o.backend != 0 && o.tid == e.head.tid && o.pid == e.head.tgid;
        if let Some(i) = self.graphs.open.iter().position(its) {
            let split = self.graphs.open.remove(i);
            let start_ns = split.start_ns;
            self.emit_call(split, start_ns, end_ns);
        }
    }

    fn graph_start(&mut self, e: &ring::Graph, layer: u8) {
        let mut open = self.open_graph(e, layer);
        if open.unknown == Some(WalkFailure::Unfinished) {
            self.topologies.part_ended();
        }
        open.keep = self.keeps(&e.head, open.n_tokens);
        if layer == layer::BACKEND {
            self.direct_begun(e.head.tgid, e.start_ns, e.skipped);
        }
        if layer == layer::SCHEDULER {
            self.hit(e.head.tgid).begun += 1;
            self.tokens.add_tokens(&e.head, open.n_tokens);
        }
        if self.graphs.open.len() >= MAX_OPEN {
            let oldest = self.graphs.open.remove(0);
            self.send_batches(oldest);
        }
        self.graphs.open.push(open);
    }

    fn open_graph(&mut self, e: &ring::Graph, layer: u8) -> Open {
        let tid = e.head.tid;
        let too_large = self.topologies.is_too_large(e.topology);
        self.graphs.last_id += 1;
        Open {
            id: self.graphs.last_id,
            pid: e.head.tgid,
            tid,
            start_ns: e.start_ns,
            layer,
            backend: e.backend,
            decode: self.tokens.current(&e.head),
            parent: if layer == layer::BACKEND { self.graphs.current(&e.head, layer::SCHEDULER) } else { 0 },
            n_nodes: e.n_nodes,
            n_tokens: self.tokens_of(e),
            n_past: e.n_past,
            #[cfg(feature = "direct")]
            skipped: e.skipped,
            topology: self.topologies.get(e.topology),
            unknown: if too_large { Some(WalkFailure::TooLarge) } else { e.unknown },
            batches: self.graphs.lists.pop().unwrap_or_default(),
            selections: None,
            keep: true,
        }
    }

    /// Number of tokens, for a graph that begins with the lookup of its tokens' embeddings.
    fn tokens_of(&self, e: &ring::Graph) -> u32 {
        let engine = self.engines.iter().find(|f| f.pid == e.head.tgid);
        let op = engine.and_then(|f| f.tables.ops.get(e.first_op as usize));
        match op {
            Some(op) if op == "GET_ROWS" => u32::try_from(e.first_ne1).unwrap_or(0),
            _ => 0,
        }
    }
}
