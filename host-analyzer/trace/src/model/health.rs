//! Losses: *dropped* at the source, *damaged* in transit, *cut short*.

use super::direct::{DirectTotals, OperatorProbes};
use super::loss::{
    CaptureLedger, CpuUseLedger, ExpertLedger, Ledger, NestedLedger, PartLedger, ReasonLedger, SchedLedger,
};

/// Why bytes or records could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DamageKind {
    /// The hello is recognisable, but its checksum is wrong.
    Hello,
    /// Too many bytes without a frame's end.
    Overlong,
    /// Not valid COBS.
    Cobs,
    /// Shorter than a frame.
    Short,
    /// Length field and bytes disagree.
    Length,
    /// Checksum disagrees.
    Checksum,
    /// Sequence numbers are missing: frames lost between the agent's encoder and the reader.
    Gap,
    /// Frames that came again, or after later ones; counted once.
    Repeated,
    /// The frame is valid, but its payload is not a record of its kind.
    Malformed,
    /// A kind of record that this build does not know.
    UnknownKind,
    /// A record refers to something (text, topology, thread) that never arrived, or contradicts
    /// another.
    Unresolved,
}

impl DamageKind {
    /// Name in views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hello => "hello damaged",
            Self::Overlong => "bytes without a frame",
            Self::Cobs => "not COBS",
            Self::Short => "frame too short",
            Self::Length => "length mismatch",
            Self::Checksum => "checksum mismatch",
            Self::Gap => "frames missing",
            Self::Repeated => "frames repeated",
            Self::Malformed => "malformed record",
            Self::UnknownKind => "unknown record kind",
            Self::Unresolved => "reference to a lost record",
        }
    }
}

/// One kind of damage, summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// Kind.
    pub kind: DamageKind,
    /// How often. For [`DamageKind::Gap`] the number of missing frames.
    pub count: u64,
    /// Bytes lost to it, where known.
    pub bytes: u64,
    /// Offset in the stream where it first occurred.
    pub first_offset: u64,
}

/// Records of one kind that this build does not know: the agent is newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// The kind's number (docs/wire-format.md).
    pub kind: u16,
    /// How many.
    pub count: u64,
}

/// Most kinds that are counted separately; a stream can name 65,536.
pub const MAX_SKIPPED: usize = 16;

/// Why the session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The traced process ended.
    EngineEnded,
    /// The host stopped it.
    HostStopped,
    /// The agent was interrupted.
    Interrupted,
    /// The agent had an error.
    Error,
}

/// The end record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Why.
    pub reason: EndReason,
    /// Frames that the agent made before `End`.
    pub frames: u32,
    /// Run time of the BPF programs in a sample of the session, ns; 0 when not measured.
    pub bpf_run_ns: u64,
    /// Runs in that sample; 0 when not measured.
    pub bpf_runs: u64,
    /// CPU time of the agent, ns.
    pub agent_cpu_ns: u64,
    /// Largest resident set of the agent while it traced, bytes.
    pub agent_rss_bytes: u64,
}

/// Why the agent could not carry out the plan, as the agent states it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusedPlan {
    /// What the agent tried; empty in recordings made before 2026-11-26.
    pub tried: String,
    /// What the system answered; in older recordings the complete text.
    pub answer: String,
    /// What to do; empty in older recordings.
    pub help: String,
}

/// Cost of the two probes of an operator. The agent measured it on itself before it traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeCost {
    /// Pairs of hits that were measured.
    pub pairs: u32,
    /// Median time that a pair adds to a thread, ns.
    pub pair_ns: u64,
    /// Median duration of an operator that does nothing, ns. Every operator's time includes it.
    pub inside_ns: u64,
}

/// One piece of a recording.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Piece {
    /// Its number, from 1.
    pub number: u32,
    /// Another piece follows.
    pub goes_on: bool,
    /// Spans in earlier pieces.
    pub spans: u64,
    /// Nested calls in earlier pieces.
    pub nested: u64,
    /// Events of the scheduler in earlier pieces.
    pub sched: u64,
    /// Selections of an expert in earlier pieces.
    pub experts: u64,
}

/// Health of a recording.
#[derive(Debug, Default, Clone)]
pub struct Health {
    /// Bytes read.
    pub bytes: u64,
    /// Bytes of a frame that the stream's end cut; 0 when it ends between two frames.
    pub cut_bytes: u64,
    /// Complete frames.
    pub frames: u64,
    /// Spans read.
    pub spans_received: u64,
    /// Bytes of the frames that carried them, as encoded in the stream.
    pub span_bytes: u64,
    /// Latest totals of the agent; `None` when no such record arrived.
    pub ledger: Option<Ledger>,
    /// Latest totals of what options and filters left out; `None` when the request left nothing
    /// out.
    pub capture: Option<CaptureLedger>,
    /// Latest reasons of losses that share one sum; `None` from agents that do not distinguish
    /// them.
    pub reasons: Option<ReasonLedger>,
    /// Nested calls read.
    pub nested_received: u64,
    /// Latest totals of nested calls; `None` when there were none, or no such record arrived.
    pub nested: Option<NestedLedger>,
    /// Switches, wake-ups, migrations and interrupts read.
    pub sched_received: u64,
    /// Latest totals of the scheduler level; `None` when it was off, or no such record arrived.
    pub sched: Option<SchedLedger>,
    /// Windows of the CPUs' use that were read.
    pub cpu_use_received: u64,
    /// Latest totals of the CPUs' use; `None` when it was not recorded, or no such record arrived.
    pub cpu_use: Option<CpuUseLedger>,
    /// Latest totals of experts; `None` when no such record arrived, as in a session that met no
    /// mixture of experts.
    pub experts: Option<ExpertLedger>,
    /// Tokens of the parts of batches that were read.
    pub parts_received: u64,
    /// Latest totals of the parts of batches; `None` when no batch could be read, or no such record
    /// arrived.
    pub parts: Option<PartLedger>,
    /// Damage by kind, the worst first.
    pub damage: Vec<Damage>,
    /// The kinds in [`DamageKind::UnknownKind`], in order of appearance; at most [`MAX_SKIPPED`].
    pub skipped: Vec<Skipped>,
    /// The piece, where this is one piece of a recording and not all of it.
    pub piece: Option<Piece>,
    /// The end record; `None`: the stream was cut short, or continues in another piece.
    pub end: Option<End>,
    /// Cost of a pair of probes on this machine; `None` when the agent could not measure it.
    pub probe_cost: Option<ProbeCost>,
    /// Operator probes by process, where direct probes were requested.
    pub operator_probes: Vec<OperatorProbes>,
    /// Latest totals of direct probes; `None` when there were none.
    pub direct: Option<DirectTotals>,
    /// The agent's refusal, when it could not carry out the plan.
    pub refused: Option<RefusedPlan>,
}

impl Health {
    /// The stream has no `End`, and does not continue in another piece.
    #[must_use]
    pub const fn cut_short(&self) -> bool {
        self.end.is_none() && !matches!(self.piece, Some(Piece { goes_on: true, .. }))
    }

    /// Counts of the earlier pieces; 0 without any.
    #[must_use]
    pub fn before(&self) -> Piece {
        self.piece.unwrap_or_default()
    }

    /// Nested calls in this piece and earlier ones.
    #[must_use]
    pub fn all_nested(&self) -> u64 {
        self.nested_received.saturating_add(self.before().nested)
    }

    /// Events of the scheduler in this piece and earlier ones.
    #[must_use]
    pub fn all_sched(&self) -> u64 {
        self.sched_received.saturating_add(self.before().sched)
    }

    /// All tokens of parts that were sent are here. For a later piece this is unknown, because it
    /// does not record how many the earlier pieces have.
    #[must_use]
    pub fn parts_here(&self, ledger: &PartLedger) -> bool {
        ledger.sent == self.parts_received || self.piece.is_some() && ledger.sent > self.parts_received
    }

    /// All windows of the CPUs' use that were sent are here; unknown for a later piece, as for parts.
    #[must_use]
    pub fn cpu_use_here(&self, ledger: &CpuUseLedger) -> bool {
        ledger.sent == self.cpu_use_received || self.piece.is_some() && ledger.sent > self.cpu_use_received
    }

    /// Nothing dropped, nothing damaged, not cut short.
    #[must_use]
    pub fn perfect(&self) -> bool {
        self.damage.is_empty()
            && self.end.is_some()
            && self
                .nested
                .map_or(self.nested_received == 0, |l| l.nothing_lost() && l.sent == self.all_nested())
            && self.sched.map_or(self.sched_received == 0, |l| l.nothing_lost() && l.sent == self.all_sched())
            && self.cpu_use.map_or(self.cpu_use_received == 0, |l| l.nothing_lost() && self.cpu_use_here(&l))
            && self.experts.is_none_or(|e| {
                e.nothing_lost() && e.received.saturating_add(self.before().experts) == e.sent
            })
            && self.parts.map_or(self.parts_received == 0, |l| l.nothing_lost() && self.parts_here(&l))
            && self.ledger.is_some_and(|l| l.nothing_lost())
    }
}
