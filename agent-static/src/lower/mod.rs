//! Converts ring-buffer records to wire records; the only place where the form changes.
//!
//! Runs in the agent's loop. Input: [`crate::bpf::ring::Event`], in the order in which the kernel
//! wrote them. Output: [`crate::link::emit::Emitter`]. Guarantees:
//! - Memory is bounded, whatever the engine does.
//! - An address is only looked up in the topology of the graph call that its record names. So a
//!   recycled address is never mistaken for another tensor.
//! - What cannot be resolved is counted, not guessed.

pub mod backend;
mod batch;
mod cpu_use;
#[cfg_attr(not(feature = "direct"), path = "no_direct.rs")]
mod direct;
mod edit;
mod expert;
pub mod graph;
pub mod hits;
pub mod nested;
pub mod op;
mod packed;
mod part;
pub mod progress;
pub mod sched;
mod starts;
pub mod text;
pub mod thread;
pub mod token;
pub mod topology;

use profinfer_engine::{Layout, Tables};
use profinfer_wire::record::Record;
use profinfer_wire::record::capture::CaptureLoss;
use profinfer_wire::record::loss::{Loss, LossReasons};

use crate::bpf::Totals;
use crate::bpf::ring::Event;
use crate::bpf::ring::stall::Stalls;
use crate::link::emit::Emitter;
use crate::link::output::Weight;
use crate::observe::placement::Unplaced;
use crate::request::capture::filter::Filters;

#[cfg(feature = "direct")]
pub use direct::Used;
use graph::Graphs;
use hits::Hits;
use nested::NestedCalls;
use text::Texts;
use thread::Threads;
use token::Tokens;
use topology::Topologies;

/// What lowering needs to know about one engine.
#[derive(Debug, Clone)]
pub struct EngineFacts {
    pub pid: u32,
    /// Offsets of the tensor's fields.
    pub layout: Layout,
    /// Names of operators and types.
    pub tables: Tables,
}

/// The state of one session's lowering.
#[derive(Debug)]
pub struct Lower {
    pub emit: Emitter,
    /// Levels that the plan requests.
    pub levels: u32,
    engines: Vec<EngineFacts>,
    texts: Texts,
    threads: Threads,
    tokens: Tokens,
    topologies: Topologies,
    graphs: Graphs,
    spans: Counts,
    experts: expert::Counts,
    spare_selections: Vec<expert::Selections>,
    parts: part::Parts,
    taken: edit::TakenOutputs,
    resumed: Vec<(u32, u64)>,
    /// Number of slots in use, and how many of them (the first ones) are hardware counters.
    pub counter_slots: (usize, usize),
    /// Weights of new topologies, for the caller to locate in memory.
    pub unplaced: Vec<Unplaced>,
    /// New threads (process, thread), for the caller to read their facts.
    pub computing: Vec<(u32, u32)>,
    hits: Vec<(u32, Hits)>,
    nested: NestedCalls,
    sched: Option<sched::Scheduler>,
    cpu_uses: Option<cpu_use::CpuUses>,
    #[cfg(feature = "direct")]
    direct: direct::Direct,
    /// Operators have no end probes.
    pub starts_only: bool,
    /// Filters that are applied here. The kernel side gets the filtered nodes.
    pub filters: Filters,
    /// Filtered nodes, by key of the topology and address, for the kernel side.
    pub left_out: Vec<(u64, u64)>,
    /// Counts of filtered operators, as far as they are known here; `None` without filters.
    pub capture_loss: Option<CaptureLoss>,
    /// Tokens and requests of each engine.
    pub engines_progress: progress::Engines,
    /// All kernel events before this time have been processed, ns.
    pub drained_ns: u64,
    /// Stalls of the ring buffer.
    pub stalls: Stalls,
}

/// Counts of spans on the agent's side, with the names of the wire's `Loss`.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    sent: u64,
    queue_full: u64,
    /// All spans whose node is unknown, for whatever reason.
    no_graph: u64,
    /// Part of `no_graph`: graphs with more nodes than are walked, and unreadable graphs.
    too_large: u64,
    unreadable: u64,
    /// Part of `no_graph`: records with impossible nodes or times.
    damaged: u64,
    /// In graph calls that were running when the session ended.
    edge: u64,
    filtered: u64,
}

impl Lower {
    #[must_use]
    pub fn new(emit: Emitter, levels: u32) -> Self {
        Self {
            emit,
            levels,
            engines: Vec::new(),
            texts: Texts::default(),
            threads: Threads::default(),
            tokens: Tokens::default(),
            topologies: Topologies::default(),
            graphs: Graphs::default(),
            spans: Counts::default(),
            experts: expert::Counts::default(),
            spare_selections: Vec::new(),
            parts: part::Parts::default(),
            taken: edit::TakenOutputs::default(),
            resumed: Vec::new(),
            counter_slots: (0, 0),
            unplaced: Vec::new(),
            computing: Vec::with_capacity(thread::MAX_COMPUTING),
            hits: Vec::new(),
            nested: NestedCalls::default(),
            sched: None,
            cpu_uses: None,
            #[cfg(feature = "direct")]
            direct: direct::Direct::default(),
            starts_only: false,
            filters: Filters::default(),
            left_out: Vec::new(),
            capture_loss: None,
            engines_progress: progress::Engines::default(),
            drained_ns: 0,
            stalls: Stalls::default(),
        }
    }

    /// Sets or replaces the layout and names of a process's engine.
    pub fn set_engine(&mut self, facts: EngineFacts) {
        self.engines.retain(|e| e.pid != facts.pid);
        self.engines.push(facts);
    }

    /// Drops the state of all other processes. `forgotten` is as in [`Self::event`].
    pub fn keep_engines(&mut self, kept: impl Fn(u32) -> bool, forgotten: &mut Vec<u64>) {
        self.engines.retain(|e| kept(e.pid));
        self.hits.retain(|(pid, _)| kept(*pid));
        self.engines_progress.keep(&kept);
        self.threads.keep(&kept);
        self.topologies.keep(&kept, forgotten);
    }

    /// Hits of a process so far.
    #[must_use]
    pub fn hits(&self, pid: u32) -> Hits {
        self.hits.iter().find(|(p, _)| *p == pid).map_or_else(Hits::default, |(_, hits)| *hits)
    }

    fn hit(&mut self, pid: u32) -> &mut Hits {
        let at = self.hits.iter().position(|(p, _)| *p == pid).unwrap_or_else(|| {
            self.hits.push((pid, Hits::default()));
            self.hits.len() - 1
        });
        &mut self.hits[at].1
    }

    /// Processes one record of the kernel. Adds the keys of dropped topologies to `forgotten`, if
    /// they were incomplete or there was no space. The kernel side must send these again.
    pub fn event(&mut self, event: &Event<'_>, forgotten: &mut Vec<u64>) {
        match event {
            Event::Op(op, counted) => self.op(op, counted.as_ref()),
            Event::Nested(nested) => self.nested_call(nested),
            Event::Experts(experts) => self.experts(experts),
            Event::Part(part) => self.part(part),
            Event::Edit(edit) => self.edit(edit),
            Event::Housekeeping(done) => self.housekeeping(done),
            Event::Taken(head, context) => self.taken(head, *context),
            Event::Graph(graph) => self.graph(graph),
            Event::Decode(decode) => self.decode(decode),
            Event::Topology(head, key, n_nodes) => self.topologies.begin(head, *key, *n_nodes, forgotten),
            Event::Tensor(tensor) => self.tensor(tensor, forgotten),
            Event::TopologyEnd(head, key, _) => self.topology_end(head, *key, forgotten),
            Event::Switch(switch) => self.switch(switch),
            Event::Wake(head, at_ns) => self.woken(head, *at_ns, false),
            Event::Migration(head, at_ns) => self.woken(head, *at_ns, true),
            Event::Seen(head, at_ns) => self.seen(head, *at_ns),
            Event::Gap(_, from_ns, to_ns) => self.gap(*from_ns, *to_ns),
            Event::Interrupt(interrupt) => self.interrupt(interrupt),
            Event::CpuUse(used) => self.cpu_use(used),
            // These concern processes, not their computation: the session handles them.
            Event::Hold(_) | Event::Exec(..) | Event::Loading(..) => {}
        }
    }

    /// Notes that a thread was stopped inside a call and continues now: the call counts from this
    /// time.
    pub fn resumed(&mut self, tid: u32, at_ns: u64) {
        self.resumed.retain(|(t, _)| *t != tid);
        self.resumed.push((tid, at_ns));
    }

    /// Start of a call of `tid`, without the time for which the agent stopped the thread.
    fn begun(&self, tid: u32, start_ns: u64, end_ns: u64) -> u64 {
        let stopped = self.resumed.iter().find(|(t, at)| *t == tid && (start_ns..end_ns).contains(at));
        stopped.map_or(start_ns, |(_, at)| *at)
    }

    /// The session's ledger so far.
    #[must_use]
    pub fn loss(&self, at_ns: u64, kernel: &Totals) -> Loss {
        let direct = self.direct_added();
        Loss {
            at_ns,
            span_starts: kernel.span_starts + direct.totals.starts,
            span_ends: kernel.span_ends + direct.totals.ends,
            spans_sent: self.spans.sent,
            // A thread without a ring counts as one whose ring is full.
            spans_ring_full: kernel.spans_ring_full + direct.totals.full + direct.totals.no_slot,
            spans_queue_full: self.spans.queue_full,
            spans_no_start: kernel.spans_no_start
                + self.spans.edge
                + direct.totals.no_start.saturating_sub(direct.gated_ends)
                + direct.edge,
            spans_no_end: kernel.spans_no_end + direct.totals.no_end,
            spans_no_graph: self.spans.no_graph + direct.unknown,
            calls_ring_full: kernel.calls_ring_full,
            tensors_ring_full: kernel.tensors_ring_full,
            frames_queue_full: self.emit.frames_dropped,
            bytes_queue_full: self.emit.bytes_dropped,
            no_state: kernel.no_state,
        }
    }

    /// Sends the reasons for those sums of [`Self::loss`] that have several.
    pub fn emit_loss_reasons(&mut self, at_ns: u64, kernel: &Totals, weight: Weight) {
        let reasons = LossReasons {
            at_ns,
            spans_empty: kernel.spans_empty,
            spans_too_large: self.spans.too_large,
            spans_unreadable: self.spans.unreadable,
            spans_damaged: self.spans.damaged,
            graphs_too_large: kernel.graphs_too_large,
            graphs_unreadable: kernel.graphs_unreadable,
            ring_stalls: self.stalls.seen,
            ring_stall_ns: self.stalls.longest_ns,
        };
        self.emit.emit(&Record::LossReasons(reasons), weight);
    }

    /// Sends the counts of filtered operators, if there are filters.
    pub fn emit_capture_loss(&mut self, at_ns: u64, kernel: &Totals, weight: Weight) {
        let Some(loss) = self.capture_loss else { return };
        let direct = self.direct_added();
        let loss = CaptureLoss {
            at_ns,
            spans_filtered: kernel.spans_filtered + self.spans.filtered,
            spans_gated: kernel.spans_gated + direct.gated + direct.gated_ends,
            starts_gated: kernel.starts_gated + direct.gated,
            ..loss
        };
        self.emit.emit(&Record::CaptureLoss(loss), weight);
    }

    /// Start of the earliest running decode call of a process, ns.
    #[must_use]
    pub fn token_since(&self, pid: u32) -> Option<u64> {
        self.running_call(pid).map(|(start_ns, _)| start_ns)
    }

    /// The earliest running decode call of a process: its start, ns, and its number of tokens, if
    /// that is known before it ends.
    #[must_use]
    pub fn running_call(&self, pid: u32) -> Option<(u64, Option<u32>)> {
        self.tokens.running(pid)
    }

    /// Start of the earliest running graph computation of a process, ns.
    #[must_use]
    pub fn graph_since(&self, pid: u32) -> Option<u64> {
        self.graphs.running_since(pid)
    }

    /// Drops everything that is still open, because its graph call has no end. Must be called after
    /// the last event.
    pub fn finish(&mut self) {
        self.drain_direct();
        self.send_parts();
        self.send_all_taken();
        self.nested.drop_open();
        for graph in self.graphs.take_all() {
            self.experts.no_graph += graph.selections.as_ref().map_or(0, expert::Selections::len);
            let running = |b: &batch::Batch| u64::from(b.running.is_some());
            self.spans.edge += graph.batches.iter().map(|b| b.len() + running(b)).sum::<u64>();
        }
    }
}
