//! Remarks about a recording's health, one fact each. `views` makes the sentences.

use crate::results::accelerator::ProfileJoin;
use crate::results::capture::{PhaseCoverage, Step};
use crate::results::duty::Measured;
use crate::results::ending::{Ending, EndingState};
use profinfer_trace::model::totals::{Reason, When};
use profinfer_trace::model::{
    Absence, CaptureOption, DamageKind, Filter, Level, OperatorProbes, Probe, Refusal, RefusedPlan, Skipped,
};

/// Kind of the totals or rows that a remark refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    Spans,
    Nested,
    /// Selections of an expert.
    Experts,
    /// Rows of the scheduler level.
    Sched,
    /// Windows of the CPUs' use.
    CpuUse,
    /// Tokens in batches, by their sequences.
    Parts,
}

/// Records that were reserved but not submitted, because their threads had lost their CPUs. All
/// later records had to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingStalls {
    /// How often the reader found one.
    pub count: u64,
    /// The longest wait, ns; a lower bound.
    pub longest_ns: u64,
}

/// A process whose first calls may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Late {
    pub pid: u32,
    /// Delay of its probes after the start of its program, ns.
    pub after_ns: u64,
}

/// One remark.
#[derive(Debug, Clone, PartialEq)]
pub enum Remark {
    /// How the session ended, if not as expected.
    Ending(Box<Ending>),
    /// The agent could not carry out the plan.
    Refused(RefusedPlan),
    /// The agent ended with an error.
    AgentError,
    /// Lost at the source.
    Dropped {
        /// Ledger that counted the loss.
        of: Of,
        reason: Reason,
        n: u64,
        /// Events of the ledger that the kernel saw.
        seen: u64,
        /// Bytes of the lost events, where they are counted.
        bytes: Option<u64>,
    },
    /// Nodes of the largest graph whose operators the agent does not record because it has too many.
    LargeGraph(u64),
    /// The reader of the ring buffer was stalled while the full buffer lost records.
    RingStalled(RingStalls),
    /// The agent met a process after its engine was loaded: its first calls may be missing.
    MetLate(Late),
    /// The agent's totals did not arrive.
    TotalsMissing {
        of: Of,
        /// Number of events that arrived nevertheless.
        received: u64,
    },
    /// Neither received nor counted as dropped.
    NotHere {
        of: Of,
        n: u64,
        /// Events that the kernel saw.
        seen: u64,
    },
    /// The agent's totals do not add up.
    NotBalanced(Of),
    /// More were received than were seen or sent.
    TooMany(Of),
    /// Selections of an expert are missing in graph calls of which other selections arrived.
    Incomplete {
        n: u64,
        /// Another remark also counts them.
        counted: bool,
    },
    /// Damaged in transit.
    Damaged {
        kind: DamageKind,
        /// Occurrences, without those that a remark about drops already covers.
        n: u64,
        /// Offset of the first one, bytes.
        first_offset: u64,
    },
    /// Complete records of kinds that this build does not know.
    Skipped {
        /// By kind, as far as kinds are distinguished.
        kinds: Vec<Skipped>,
        /// All of them.
        n: u64,
        /// Offset of the first one, bytes.
        first_offset: u64,
    },
    /// Incomplete topologies.
    PartialTopologies {
        n: u64,
        /// Number of all topologies.
        all: u64,
    },
    /// The stream has no end record.
    CutShort {
        /// Bytes of the stream.
        bytes: u64,
        /// Bytes of an incomplete last frame.
        cut_bytes: u64,
    },
    /// This is a piece of a recording, read alone.
    Piece {
        /// From 1.
        number: u32,
        /// Another piece follows.
        goes_on: bool,
    },
    /// Probes of a level that are not in place.
    NotAttached {
        /// `None` for a level that this build does not know.
        level: Option<Level>,
        missing: usize,
        /// Number of all probes of the level.
        all: usize,
        /// The first missing one.
        first: Box<Probe>,
    },
    /// How operators were probed, where direct probes were requested.
    Probed(OperatorProbes),
    /// Nothing was lost.
    Complete {
        spans: u64,
        /// `llama_decode` calls.
        calls: u64,
        /// Selections of an expert.
        experts: u64,
    },
    /// A counter that does not count.
    CounterOff {
        name: String,
        /// PMU that would count; empty where there is none.
        pmu: String,
        /// Why, in the agent's words.
        note: String,
    },
    /// Spans without hardware counts.
    Uncounted {
        reason: Absence,
        n: u64,
        /// Number of all spans.
        all: u64,
    },
    /// Levels that were not requested.
    Off(Vec<Level>),
    /// A requested level without events.
    NothingSeen {
        level: Level,
        /// The stream has no end: events may have been under way.
        cut: bool,
    },
    /// Graphs were computed, but none of the probed functions that compute tokens ran.
    CallsNotSeen,
    /// A requested option is not in effect.
    OptionRefused(CaptureOption, Refusal),
    /// A requested filter is not in effect.
    FilterRefused { filter: Filter, why: Refusal },
    /// A filter is in effect.
    Filtered(Filter),
    /// Filters excluded spans. They are not lost.
    LeftOut { spans: u64 },
    /// No end probes on operators.
    WithoutEnds,
    /// Operators of some calls only were captured; the phases to which this applies.
    PartOfTokens(Vec<PhaseCoverage>),
    /// How well an accelerator's profile matches the recording.
    AcceleratorProfile(Box<ProfileJoin>),
    /// Measured slowdown of a token by operator capture.
    Slowdown(Measured),
    /// The controller changed the duty.
    Controller(Vec<Step>),
    /// Events in progress at an edge of the session: incomplete, not lost.
    Edge {
        of: Of,
        /// Which edge of the session.
        when: When,
        n: u64,
    },
}

/// How much a remark matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// All is well.
    Good,
    /// Information.
    Note,
    /// Something is unknown.
    Warning,
    /// Something was lost.
    Loss,
}

impl Remark {
    #[must_use]
    pub const fn severity(&self) -> Severity {
        match self {
            Self::Complete { .. } => Severity::Good,
            Self::Ending(ending) => match (ending.state, ending.traced) {
                (EndingState::Bad, _) => Severity::Loss,
                (_, true) => Severity::Warning,
                (_, false) => Severity::Note,
            },
            Self::Probed(p) if p.refused.is_some() => Severity::Warning,
            Self::AcceleratorProfile(profile) if !profile.whole() => Severity::Warning,
            Self::Off(_)
            | Self::Piece { .. }
            | Self::Edge { .. }
            | Self::LargeGraph(_)
            | Self::Probed(_)
            | Self::Filtered(_)
            | Self::LeftOut { .. }
            | Self::WithoutEnds
            | Self::PartOfTokens(_)
            | Self::AcceleratorProfile(_)
            | Self::Slowdown(_)
            | Self::Controller(_) => Severity::Note,
            Self::NotAttached { .. }
            | Self::CounterOff { .. }
            | Self::Uncounted { .. }
            | Self::NothingSeen { .. }
            | Self::CallsNotSeen
            | Self::OptionRefused(..)
            | Self::FilterRefused { .. }
            | Self::RingStalled(_)
            | Self::MetLate(_)
            | Self::TotalsMissing { .. }
            | Self::CutShort { .. } => Severity::Warning,
            Self::Refused(_)
            | Self::AgentError
            | Self::Dropped { .. }
            | Self::NotHere { .. }
            | Self::NotBalanced(_)
            | Self::TooMany(_)
            | Self::Incomplete { .. }
            | Self::Damaged { .. }
            | Self::Skipped { .. }
            | Self::PartialTopologies { .. } => Severity::Loss,
        }
    }
}
