//! `health`: losses and damage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Health of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Nothing was dropped, damaged or cut short, and every operator is accounted for.
    pub perfect: bool,
    /// Sentences that every view shows first, worst first; never empty.
    pub lines: Vec<String>,
    /// Losses on the board, before the stream; `null` if the agent's totals did not arrive.
    pub dropped: Option<Dropped>,
    /// Damage in the stream, by kind, worst first.
    pub damaged: Vec<Damage>,
    /// Records of kinds that this build does not know (from a newer agent).
    pub skipped: Vec<SkippedKind>,
    /// The stream has no end record.
    pub cut_short: bool,
    /// Why the session ended; `null` if the stream was cut short.
    pub end_reason: Option<String>,
    /// Why the agent refused the plan; `null` if it did not.
    pub refused: Option<String>,
    /// Count of operator spans at each stage, from the kernel to this file.
    pub spans: SpanSum,
    /// Count of selected experts at each stage; `null` if none arrived and the agent reported none.
    pub experts: Option<ExpertSum>,
    /// Delays of the reader of the kernel's ring buffer; `null` from agents that do not count them.
    pub ring_stalls: Option<RingStalls>,
    /// Processes that already had their engine loaded when the agent attached; their first calls
    /// may be missing.
    pub late: Vec<Late>,
}

/// Losses on the board, by reason. `spans` = `ring_full` + `queue_full` + `no_graph` +
/// `graph_too_large` + `graph_unreadable` + `damaged`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dropped {
    /// Operator spans, all reasons.
    pub spans: u64,
    /// Operator spans dropped because the kernel's ring buffer was full.
    pub ring_full: u64,
    /// Operator spans dropped because the link was too slow.
    pub queue_full: u64,
    /// Operator spans dropped because the topology of their graph was not read yet.
    pub no_graph: u64,
    /// Operator spans dropped because their graph has more nodes than the agent reads.
    pub graph_too_large: u64,
    /// Operator spans dropped because the memory of their graph could not be read.
    pub graph_unreadable: u64,
    /// Operator spans dropped because their record names no node of its graph, or ends before it
    /// starts.
    pub damaged: u64,
    /// Probe hits without effect, because the kernel had no room for the state of more threads.
    pub no_state: u64,
    /// Token-level and graph-level calls dropped because the kernel's ring buffer was full.
    pub calls: u64,
    /// Parts of graph topologies dropped because the kernel's ring buffer was full. The agent reads
    /// them again later.
    pub tensors: u64,
    /// Frames dropped because the queue to the link was full.
    pub frames: u64,
    /// Bytes in the dropped frames.
    pub frame_bytes: u64,
}

/// One kind of damage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Damage {
    /// Kind, in words.
    pub kind: String,
    /// Number of occurrences.
    pub count: u64,
    /// Bytes lost, as far as that is known.
    pub bytes: u64,
    /// Offset in the stream of the first occurrence.
    pub first_offset: u64,
}

/// Records of one kind that this build does not know.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedKind {
    /// Record kind number (docs/wire-format.md).
    pub kind: u16,
    /// Number of records.
    pub count: u64,
}

/// Operator spans by stage since the session began. `kernel` is the sum `received` + `dropped` +
/// `left_out` + `empty` + `no_start` + `unaccounted`. `kernel`, `dropped`, `no_start`, `no_end` and
/// `unaccounted` are `null` if the agent's totals did not arrive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpanSum {
    /// Operator ends that the kernel's probes saw.
    pub kernel: Option<u64>,
    /// Spans received.
    pub received: u64,
    /// Spans dropped on the board.
    pub dropped: Option<u64>,
    /// Spans excluded by filters or by the duty cycle, as configured. Not a loss.
    pub left_out: Option<u64>,
    /// Ends of nodes without elements. The engine does not compute them, so nothing is lost.
    pub empty: Option<u64>,
    /// Operator ends without a start: the operator was already running when the probes were
    /// attached, or its graph was still running when the session ended.
    pub no_start: Option<u64>,
    /// Operator starts without an end: the operator was still running when the session ended.
    pub no_end: Option<u64>,
    /// Spans lost in transit: the remainder of the sum. Negative if spans arrived after the last
    /// totals of a stream that was cut short.
    pub unaccounted: Option<i64>,
}

/// Selected experts by stage; one per token, layer and rank. `chosen` = sent + `ring_full` +
/// `queue_full` + `unreadable` + `no_graph`. The agent's counts are `null` if its totals did not
/// arrive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpertSum {
    /// Selections that the kernel's probes saw.
    pub chosen: Option<u64>,
    /// Selections in the tables.
    pub kept: u64,
    /// Dropped because the kernel's ring buffer was full.
    pub ring_full: Option<u64>,
    /// Dropped because the link was too slow.
    pub queue_full: Option<u64>,
    /// Dropped because the engine's memory could not be read, or held no expert number.
    pub unreadable: Option<u64>,
    /// Dropped because the topology of their graph is unknown.
    pub no_graph: Option<u64>,
    /// Sent, but neither received nor counted as damaged. Negative if some arrived after the last
    /// totals of a stream that was cut short.
    pub unaccounted: Option<i64>,
    /// Selections missing, for any reason, from graph calls whose other selections arrived.
    pub missing: u64,
}

/// Records that a thread reserved but did not submit in time, because it lost its CPU. All later
/// records had to wait.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RingStalls {
    /// Number of stalls that the reader saw.
    pub count: u64,
    /// Longest wait, ns; a lower bound.
    pub longest_ns: u64,
}

/// A process whose first calls may be missing, because its engine was already loaded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Late {
    /// Process id.
    pub pid: u32,
    /// Time from the start of the program until its probes were in place, ns.
    pub after_ns: u64,
}
