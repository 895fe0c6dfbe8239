//! `health`: what is missing or damaged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Health of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Nothing dropped, nothing damaged, not cut short, every operator accounted for.
    pub perfect: bool,
    /// Sentences that every view shows first, worst first; never empty.
    pub lines: Vec<String>,
    /// Lost at the source; `null` when the agent's totals did not arrive.
    pub dropped: Option<Dropped>,
    /// Damaged on the way, by kind, worst first.
    pub damaged: Vec<Damage>,
    /// Records of a newer agent that this build does not know, by kind.
    pub skipped: Vec<SkippedKind>,
    /// The stream has no end.
    pub cut_short: bool,
    /// Why the session ended; `null` when cut short.
    pub end_reason: Option<String>,
    /// The agent's refusal, when it could not carry out the plan.
    pub refused: Option<String>,
    /// Operator spans, from the kernel to here.
    pub spans: SpanSum,
    /// Experts that routers chose, from the kernel to here; `null` when none was seen and none told
    /// of.
    pub experts: Option<ExpertSum>,
    /// What held up the reader of the kernel's ring buffer; `null` from agents that do not count
    /// it.
    pub ring_stalls: Option<RingStalls>,
    /// Processes whose first calls may be missing.
    pub late: Vec<Late>,
}

/// Lost at the source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dropped {
    /// Operator spans, for whichever reason.
    pub spans: u64,
    /// Operator spans: the kernel's ring buffer was full.
    pub ring_full: u64,
    /// Operator spans: the link is slower than the trace.
    pub queue_full: u64,
    /// Operator spans: the topology of their graph was not read yet.
    pub no_graph: u64,
    /// Operator spans: their graph has more nodes than the agent reads.
    pub graph_too_large: u64,
    /// Operator spans: the memory of their graph could not be read.
    pub graph_unreadable: u64,
    /// Operator spans: their record names no node of its graph, or ends before it starts.
    pub damaged: u64,
    /// Probe hits: the kernel had no room for the state of more threads.
    pub no_state: u64,
    /// Calls of the token and graph level: the kernel's ring buffer was full.
    pub calls: u64,
    /// Parts of graph topologies: the kernel's ring buffer was full. They were read again later.
    pub tensors: u64,
    /// Frames: the queue to the link was full.
    pub frames: u64,
    /// Bytes of these frames.
    pub frame_bytes: u64,
}

/// One kind of damage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Damage {
    /// Kind, in words.
    pub kind: String,
    /// How often.
    pub count: u64,
    /// Bytes that it cost, where that can be told.
    pub bytes: u64,
    /// Offset in the stream where it was first met.
    pub first_offset: u64,
}

/// Records of one kind that this build does not know.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedKind {
    /// The kind's number (docs/wire-format.md).
    pub kind: u16,
    /// How many.
    pub count: u64,
}

/// Operator spans, from the kernel to here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpanSum {
    /// Ends of operators that the kernel saw; `null` when the agent's totals did not arrive.
    pub kernel: Option<u64>,
    /// Spans received.
    pub received: u64,
    /// Spans dropped at the source.
    pub dropped: Option<u64>,
    /// Spans that filters and the duty left out, as it was asked for: not lost.
    pub left_out: Option<u64>,
    /// Ends of nodes without elements, which the engine does not compute: nothing to record.
    pub empty: Option<u64>,
    /// Ends of operators that were running already when the probes were attached, or whose graph
    /// was when the session ended.
    pub no_start: Option<u64>,
    /// Starts of operators that were still running when the session ended.
    pub no_end: Option<u64>,
    /// The rest, without those in the pieces before: lost on the way. Negative when spans arrived
    /// after the last totals of a stream cut short.
    pub unaccounted: Option<i64>,
}

/// Experts that routers chose, one for each token, layer and rank.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpertSum {
    /// Chosen, as the kernel saw it; `null`, as all below that the agent tells, when its totals did
    /// not arrive.
    pub chosen: Option<u64>,
    /// In the tables.
    pub kept: u64,
    /// Lost at the source: the kernel's ring buffer was full.
    pub ring_full: Option<u64>,
    /// Lost at the source: the link is slower than the trace.
    pub queue_full: Option<u64>,
    /// Lost at the source: the engine's memory that holds them could not be read, or held no number
    /// of an expert.
    pub unreadable: Option<u64>,
    /// Lost at the source: the topology of their graph is not known.
    pub no_graph: Option<u64>,
    /// Sent, and neither here nor left out as damaged. Negative when some arrived after the last
    /// totals of a stream cut short.
    pub unaccounted: Option<i64>,
    /// Positions that never came, whatever the reason, of graph calls of which others did.
    pub missing: u64,
}

/// Records that were reserved and not submitted, because their threads had lost their CPUs: all
/// records after them had to wait.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RingStalls {
    /// How often the reader met one.
    pub count: u64,
    /// The longest wait, ns; a lower bound.
    pub longest_ns: u64,
}

/// A process whose first calls may be missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Late {
    /// Which.
    pub pid: u32,
    /// How long after its program began its probes were in place, ns.
    pub after_ns: u64,
}
