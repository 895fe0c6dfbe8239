//! One session in memory: takes events and returns the host's model.

use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex};

use profinfer_agent::bpf::ring::{Decode, Event, Graph, Head, Nested, Op, Tensor};
use profinfer_agent::bpf::{NestedTotals, Totals};
use profinfer_agent::link::Output;
use profinfer_agent::link::emit::Emitter;
use profinfer_agent::link::output::{Kind, Weight};
use profinfer_agent::lower::{EngineFacts, Lower};
use profinfer_agent::request::plan;
use profinfer_trace::model::{Model, ThreadId};
use profinfer_wire::record::Record;
use profinfer_wire::record::graph::layer;
use profinfer_wire::record::loss::{End, EndReason};
use profinfer_wire::record::token::function;

use crate::engine::{LAYOUT, T, tables};

/// Ids that no process has: the kernel's end at 2^22.
pub(crate) const PID: u32 = 10_000_000;
pub(crate) const TID: u32 = PID + 1;

/// A link that accepts everything, or nothing.
#[derive(Debug, Clone, Default)]
struct Memory(Arc<Mutex<(Vec<u8>, bool)>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (taken, closed) = &mut *self.0.lock().unwrap();
        if *closed {
            return Err(ErrorKind::WouldBlock.into());
        }
        taken.extend(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A span as expected from events and as received by the host: start of its graph call, thread,
/// first and last node by name, start, length.
pub(crate) type SpanRow = (u64, u32, String, String, u64, u64);

pub(crate) struct Run {
    pub(crate) lower: Lower,
    /// Counts of the kernel side.
    pub(crate) totals: Totals,
    pub(crate) nested: NestedTotals,
    /// Topologies that the kernel side has to drop.
    pub(crate) forgotten: Vec<u64>,
    link: Memory,
}

impl Run {
    /// All levels, with one process.
    pub(crate) fn new() -> Self {
        let mut run = Self::of_levels("all");
        run.process(PID);
        run
    }

    pub(crate) fn of_levels(levels: &str) -> Self {
        let link = Memory::default();
        let output = Output::to(link.clone(), Kind::File, "the test");
        let lower = Lower::new(Emitter::begin(output, [7; 16]), plan::levels(levels).unwrap());
        let (totals, nested) = (Totals::default(), NestedTotals::default());
        Self { lower, totals, nested, forgotten: Vec::new(), link }
    }

    pub(crate) fn process(&mut self, pid: u32) {
        self.lower.set_engine(EngineFacts { pid, layout: LAYOUT, tables: tables() });
    }

    /// Makes the link accept nothing, or everything again.
    pub(crate) fn close_link(&self, closed: bool) {
        self.link.0.lock().unwrap().1 = closed;
    }

    pub(crate) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Op(..) => {
                self.totals.span_starts += 1;
                self.totals.span_ends += 1;
            }
            Event::Nested(_) => {
                self.nested.starts += 1;
                self.nested.ends += 1;
            }
            Event::Part(e) => self.totals.part_tokens += u64::from(e.part.n),
            Event::Experts(e) => self.totals.experts_chosen += e.ids().count() as u64,
            _ => {}
        }
        self.lower.event(event, &mut self.forgotten);
    }

    /// A complete topology, as the kernel side sends it.
    pub(crate) fn topology(&mut self, head: Head, key: u64, (nodes, leafs): &(Vec<T>, Vec<T>)) {
        self.event(&Event::Topology(head, key, u32::try_from(nodes.len()).unwrap()));
        leafs.iter().for_each(|t| self.tensor(head, key, u32::MAX, t));
        (0..).zip(nodes).for_each(|(i, t)| self.tensor(head, key, i, t));
        let whole = Head { arg: 0, ..head };
        self.event(&Event::TopologyEnd(whole, key, u32::try_from(leafs.len()).unwrap()));
    }

    pub(crate) fn tensor(&mut self, head: Head, topology: u64, arg: u32, t: &T) {
        let raw = t.raw();
        let head = Head { arg, ..head };
        self.event(&Event::Tensor(Tensor { head, topology, address: t.address, raw: &raw }));
    }

    pub(crate) fn graph(&mut self, graph: Graph) {
        self.event(&Event::Graph(graph));
    }

    /// An operator of the CPU, by its first and its last node.
    pub(crate) fn op(&mut self, head: Head, graph: u64, nodes: (u64, u64), (start_ns, end_ns): (u64, u64)) {
        self.event(&Event::Op(Op { head, start_ns, end_ns, node: nodes.0, last: nodes.1, graph }, None));
    }

    pub(crate) fn decode(&mut self, decode: Decode) {
        self.event(&Event::Decode(decode));
    }

    pub(crate) fn nested_call(&mut self, nested: Nested) {
        self.event(&Event::Nested(nested));
    }

    /// A complete graph of the CPU: one thread runs all nodes, 5 ns each, 10 ns apart. Returns the
    /// expected spans.
    pub(crate) fn compute(&mut self, head: Head, start_ns: u64, topology: u64, nodes: &[T]) -> Vec<SpanRow> {
        let n_nodes = u32::try_from(nodes.len()).unwrap();
        let call = Graph { n_nodes, ..graph(head, start_ns, topology) };
        self.graph(call);
        let mut rows = Vec::new();
        for (at, t) in (start_ns + 10..).step_by(10).zip(nodes) {
            self.op(head, start_ns, (t.address, t.address), (at, at + 5));
            rows.push((start_ns, head.tid, t.name.clone(), t.name.clone(), at, 5));
        }
        self.graph(Graph { end_ns: start_ns + 10 * nodes.len() as u64 + 20, ..call });
        rows
    }

    /// Ends the session and reads what the link received.
    pub(crate) fn finish(self) -> Model {
        self.close_link(false);
        let Self { mut lower, totals, nested, link, .. } = self;
        lower.finish();
        lower.emit_nested_loss(1, &nested, Weight::Essential);
        lower.emit_expert_loss(1, &totals, Weight::Essential);
        lower.emit_part_loss(1, &totals, Weight::Essential);
        lower.emit_capture_loss(1, &totals, Weight::Essential);
        let end = End {
            reason: EndReason::EngineEnded,
            frames: lower.emit.frames(),
            loss: lower.loss(1, &totals),
            bpf_run_ns: 0,
            bpf_runs: 0,
            agent_cpu_ns: 0,
            agent_rss_bytes: 0,
        };
        lower.emit.emit(&Record::End(end), Weight::Essential);
        lower.emit.flush();
        let model = profinfer_trace::read(&link.0.lock().unwrap().0).unwrap();
        assert!(model.health.ledger.is_some_and(|l| l.balances()), "{:?}", model.health);
        assert!(model.health.nested.is_none_or(|l| l.balances()), "{:?}", model.health);
        assert!(model.health.parts.is_none_or(|l| l.balances()), "{:?}", model.health);
        assert!(model.health.experts.is_none_or(|l| l.balances()), "{:?}", model.health);
        model
    }
}

/// A thread of the process; `arg` 1 is the CPU backend's layer of a graph, and CPU 1 without
/// migration is `1 | 1 << 16`.
pub(crate) const fn head(tid: u32) -> Head {
    Head { tid, tgid: PID, arg: 1 }
}

/// The start of a call of `llama_decode`; `n_tokens` -1: unknown from the arguments.
pub(crate) const fn decode_call(head: Head, start_ns: u64, n_tokens: i32) -> Decode {
    let head = Head { arg: function::LLAMA_DECODE as u32, ..head };
    Decode { head, start_ns, end_ns: 0, context: 0xc0, batch: start_ns, n_tokens, status: 0 }
}

/// The start of a call of the CPU backend.
pub(crate) fn graph(head: Head, start_ns: u64, topology: u64) -> Graph {
    Graph {
        head: Head { arg: layer::BACKEND.into(), ..head },
        start_ns,
        end_ns: 0,
        topology,
        first_ne1: 0,
        first_op: 0,
        n_nodes: 0,
        backend: 0,
        n_past: None,
        skipped: false,
        unknown: None,
    }
}

pub(crate) fn tid(model: &Model, thread: ThreadId) -> u32 {
    model.threads.get(thread).tid
}

/// All spans that the host received.
pub(crate) fn spans(model: &Model) -> Vec<SpanRow> {
    let (s, calls) = (&model.spans, &model.graph_calls);
    let row = |i: usize| {
        let call = s.graph_call[i].0 as usize;
        let topology = model.topologies.get(calls.topology[call].unwrap());
        let name = |n| model.texts.get(topology.node(n).name).to_owned();
        let (node, last) = (name(s.node[i]), name(s.last_node[i]));
        (calls.start_ns[call], tid(model, s.thread[i]), node, last, s.start_ns[i], s.work_ns[i])
    };
    let mut all: Vec<SpanRow> = (0..s.len()).map(row).collect();
    all.sort();
    all
}

/// The expected spans of several graphs, in the order of [`spans`].
pub(crate) fn sorted(parts: impl IntoIterator<Item = Vec<SpanRow>>) -> Vec<SpanRow> {
    let mut all: Vec<SpanRow> = parts.into_iter().flatten().collect();
    all.sort();
    all
}
