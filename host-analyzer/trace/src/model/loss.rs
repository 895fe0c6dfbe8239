//! Losses at the source, in one table.
//!
//! A ledger has the agent's counts of one kind of event. Its rows name every total of the wire's
//! record, with its part in the ledger's sum and, for losses, its key. Everything else uses the
//! rows: `ingest` fills a ledger by the names of the record's fields, the analyses find the losses,
//! views write keys and sentences. A new reason is a new row here and a new field of the record.

use super::totals::{Edge, Gap, Lost, Reason, RowRole, When, ledger};

/// For operators and nested calls: the end was seen, the start was not.
const NO_START: RowRole = RowRole::Edge(Edge { in_sum: true, when: When::Started });
/// The start was seen, the end was not.
const NO_END: RowRole = RowRole::Edge(Edge { in_sum: false, when: When::Ended });

const fn events(key: &'static str, why: &'static str) -> RowRole {
    RowRole::Lost(Reason { key, what: Lost::Events, gap: Gap::None, why })
}

const fn spans(key: &'static str, why: &'static str) -> RowRole {
    RowRole::Lost(Reason { key, what: Lost::Events, gap: Gap::Spans, why })
}

const fn other(key: &'static str, what: &'static str, gap: Gap, why: &'static str) -> RowRole {
    RowRole::Lost(Reason { key, what: Lost::Other(what), gap, why })
}

ledger! {
    /// Totals of operator spans, and of everything without a separate ledger. Rows in the order of
    /// summary.json and of the sentences.
    pub struct Ledger {
        at_ns: RowRole::Figure,
        span_starts: RowRole::Figure,
        span_ends: RowRole::Seen,
        spans_sent: RowRole::Sent,
        spans_ring_full: spans(
            "ring_full",
            "the kernel's ring buffer was full. Leave the agent some CPU time (one inference thread less), or record \
             fewer levels (--levels token,graph)",
        ),
        spans_queue_full: spans(
            "queue_full",
            "the link is slower than the trace. Record into a file on the board, take a faster link, or record fewer \
             levels (--levels token,graph)",
        ),
        spans_no_graph: spans(
            "no_graph",
            "their graph ran before its topology was read, or the ring buffer was full. Let the agent start the \
             engine, so that it sees the first graph. The agent reads a graph of more than 4,096 nodes during its first \
             calls, about 2,500 tensors per call",
        ),
        // In the record of reasons: parts of the sums above.
        spans_too_large: spans(
            "graph_too_large",
            "their graph has more nodes than the agent reads (16,384). Its calls are recorded (--levels token,graph), its \
             operators are not. Use a smaller -ub if the graph grows with the batch",
        ),
        spans_unreadable: spans(
            "graph_unreadable",
            "the memory of their graph could not be read while the engine ran: it is not resident, or the agent does not \
             know its layout",
        ),
        spans_damaged: spans(
            "damaged",
            "their record names no node of its graph, or ends before it starts. Please report this",
        ),
        no_state: other(
            "no_state",
            "probe hits",
            Gap::Spans,
            "the kernel had no space for the state of more threads. Trace one process at a time",
        ),
        calls_ring_full: other(
            "calls",
            "decode or graph calls",
            Gap::Calls,
            "the kernel's ring buffer was full. Times per call and TPOT may miss them; leave the agent some CPU time",
        ),
        tensors_ring_full: other(
            "tensors",
            "parts of graph topologies",
            Gap::None,
            "the kernel's ring buffer was full. They were read again at the next call of the graph",
        ),
        frames_queue_full: other("frames", "frames", Gap::Calls, "the queue to the link was full"),
        bytes_queue_full: RowRole::BytesOfLoss("frame_bytes"),
        // Nodes without elements, in the record of reasons: the engine does not compute them.
        spans_empty: RowRole::Nothing,
        spans_no_start: NO_START,
        spans_no_end: NO_END,
        // In the record of what options and filters left out.
        spans_filtered: RowRole::LeftOut,
        spans_gated: RowRole::LeftOut,
    }
}

impl Ledger {
    /// Spans that options and filters left out: seen by the kernel, but not sent.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.spans_filtered.saturating_add(self.spans_gated)
    }
}

ledger! {
    /// Reasons that share one sum in [`Ledger`] on the wire, and delays of the ring buffer.
    pub struct ReasonLedger {
        at_ns: RowRole::Figure,
        spans_empty: RowRole::Figure,
        spans_too_large: RowRole::Figure,
        spans_unreadable: RowRole::Figure,
        spans_damaged: RowRole::Figure,
        graphs_too_large: RowRole::Figure,
        graphs_unreadable: RowRole::Figure,
        ring_stalls: RowRole::Figure,
        ring_stall_ns: RowRole::Figure,
    }
}

ledger! {
    /// Totals of what options and filters left out. Its spans are also in [`Ledger`], whose sum
    /// they complete.
    pub struct CaptureLedger {
        at_ns: RowRole::Figure,
        spans_filtered: RowRole::Figure,
        spans_gated: RowRole::Figure,
        starts_gated: RowRole::Figure,
        tokens_traced: RowRole::Figure,
        tokens_untraced: RowRole::Figure,
        tokens_edge: RowRole::Figure,
        switches: RowRole::Figure,
        switch_ns: RowRole::Figure,
    }
}

ledger! {
    /// Totals of nested calls.
    pub struct NestedLedger {
        at_ns: RowRole::Figure,
        starts: RowRole::Figure,
        ends: RowRole::Seen,
        sent: RowRole::Sent,
        ring_full: events(
            "ring_full",
            "the kernel's ring buffer was full. Leave the agent some CPU time (one inference thread less)",
        ),
        queue_full: events(
            "queue_full",
            "the link is slower than the trace. Record into a file on the board, or take a faster link",
        ),
        no_graph: events("no_graph", "the operator around them is unknown"),
        no_start: NO_START,
        no_end: NO_END,
    }
}

ledger! {
    /// Totals of selected experts, and the number that came.
    pub struct ExpertLedger {
        at_ns: RowRole::Figure,
        chosen: RowRole::Seen,
        sent: RowRole::Sent,
        ring_full: events(
            "ring_full",
            "the kernel's ring buffer was full. Leave the agent some CPU time (one inference thread less), or record \
             without operators (--levels token,graph,expert)",
        ),
        queue_full: events(
            "queue_full",
            "the link is slower than the trace. Record into a file on the board, take a faster link, or record \
             without operators (--levels token,graph,expert)",
        ),
        unreadable: events(
            "unreadable",
            "the engine's memory that holds them could not be read, or had no valid expert number",
        ),
        no_graph: events(
            "no_graph",
            "the topology of their graph is unknown: they came before it was read, or it could not be read. \
             Let the agent start the engine, so that it sees the first graph",
        ),
        // In no record: experts in the records that arrived.
        received: RowRole::Figure,
    }
}

ledger! {
    /// Totals of tokens in batches with recorded sequences and positions, and the number that came.
    pub struct PartLedger {
        at_ns: RowRole::Figure,
        tokens: RowRole::Seen,
        sent: RowRole::Sent,
        ring_full: events(
            "ring_full",
            "the kernel's ring buffer was full. Leave the agent some CPU time (one inference thread less), or record \
             fewer levels (--levels token)",
        ),
        queue_full: events(
            "queue_full",
            "the link is slower than the trace. Record into a file on the board, take a faster link, or record fewer \
             levels (--levels token)",
        ),
        unreadable: events("unreadable", "the engine's memory that holds their sequences could not be read"),
        left_out: events("left_out", "the agent does not read the end of a batch with this many tokens or sequences"),
        no_call: events("no_call", "their decode call is unknown"),
        // In no record: tokens in the records that arrived.
        received: RowRole::Figure,
    }
}

const SCHED_RING_FULL: &str = "the kernel's ring buffer was full. The engine's thread states in that time are unknown; leave the agent \
     some CPU time (one inference thread less), or record without operators (--levels token,graph,sched)";

ledger! {
    /// Totals of the scheduler level.
    pub struct SchedLedger {
        at_ns: RowRole::Figure,
        recorded: RowRole::Figure,
        switches: RowRole::Seen,
        wakes: RowRole::Seen,
        migrations: RowRole::Seen,
        interrupts: RowRole::Seen,
        sent: RowRole::Sent,
        switches_ring_full: events("switches_ring_full", SCHED_RING_FULL),
        wakes_ring_full: events("wakes_ring_full", SCHED_RING_FULL),
        migrations_ring_full: events("migrations_ring_full", SCHED_RING_FULL),
        interrupts_ring_full: events(
            "interrupts_ring_full",
            "the kernel's ring buffer was full. They are missing among the interrupts; leave the agent some CPU time (one \
             inference thread less)",
        ),
        queue_full: events(
            "queue_full",
            "the link is slower than the trace. Record into a file on the board, take a faster link, or record fewer \
             levels (--levels token,graph,sched)",
        ),
        threads_no_room: other(
            "threads",
            "threads of the engine",
            Gap::None,
            "the kernel had no space to follow more. Trace one process at a time",
        ),
    }
}

ledger! {
    /// Totals of windows of the CPUs' use.
    pub struct CpuUseLedger {
        at_ns: RowRole::Figure,
        windows: RowRole::Seen,
        sent: RowRole::Sent,
        queue_full: events(
            "queue_full",
            "the link is slower than the trace. Which tasks had the CPUs in that time is unknown. Record into a file on \
             the board, take a faster link, or record fewer levels (--levels token,graph,sched)",
        ),
        windows_late: RowRole::Figure,
        small_ns: RowRole::Figure,
        switches_no_room: other(
            "switches",
            "switches between tasks",
            Gap::None,
            "the programs have no place for CPUs from number 256 on. Which tasks had those is unknown",
        ),
    }
}

impl SchedLedger {
    /// All events of this level that the kernel saw.
    #[must_use]
    pub const fn seen(&self) -> u64 {
        self.switches
            .saturating_add(self.wakes)
            .saturating_add(self.migrations)
            .saturating_add(self.interrupts)
    }
}
