//! What there is to say of a recording's health, one thing each; `views` makes the sentences.

use crate::accelerator::ProfileJoin;
use crate::capture::{PhaseCoverage, Step};
use crate::duty::Measured;
use crate::ending::{Ending, EndingState};
use profinfer_trace::model::totals::{Reason, When};
use profinfer_trace::model::{
    Absence, CaptureOption, DamageKind, Filter, Level, OperatorProbes, Probe, Refusal, RefusedPlan, Skipped,
};

/// Whose totals or rows a remark is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Operator spans.
    Spans,
    /// Nested calls.
    Nested,
    /// Selections of an expert.
    Experts,
    /// What the scheduler did.
    Sched,
    /// Tokens in batches, by their sequences.
    Parts,
}

/// Records that were reserved and not submitted, because their threads had lost their CPUs: all records after them had to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingStalls {
    /// How often the reader met one.
    pub count: u64,
    /// The longest wait, ns; a lower bound.
    pub longest_ns: u64,
}

/// A process whose first calls may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Late {
    /// Which.
    pub pid: u32,
    /// How long after its program began its probes were in place, ns.
    pub after_ns: u64,
}

/// One thing to say.
#[derive(Debug, Clone, PartialEq)]
pub enum Remark {
    /// How the session ended, where that is not as it should be.
    Ending(Box<Ending>),
    /// The agent could not carry out the plan.
    Refused(RefusedPlan),
    /// The agent ended with an error.
    AgentError,
    /// Lost at the source.
    Dropped {
        /// Whose ledger counted it.
        of: Of,
        /// Why.
        reason: Reason,
        /// How many.
        n: u64,
        /// Events of the ledger that the kernel saw.
        seen: u64,
        /// Bytes of what was lost, where they are counted.
        bytes: Option<u64>,
    },
    /// The reader of the ring buffer was held up while records were lost for want of room there.
    RingStalled(RingStalls),
    /// A process was met when its engine was loaded already: its first calls may be missing.
    MetLate(Late),
    /// The agent's totals did not arrive.
    TotalsMissing {
        /// Which.
        of: Of,
        /// How many events arrived all the same.
        received: u64,
    },
    /// Neither here nor counted as dropped.
    NotHere {
        /// What.
        of: Of,
        /// How many.
        n: u64,
        /// Events that the kernel saw.
        seen: u64,
    },
    /// The agent's totals do not add up.
    NotBalanced(Of),
    /// More are here than were seen or sent.
    TooMany(Of),
    /// Selections of an expert are missing in graph calls of which others came.
    Incomplete {
        /// How many.
        n: u64,
        /// Another remark counts them, too.
        counted: bool,
    },
    /// Damaged on the way.
    Damaged {
        /// How.
        kind: DamageKind,
        /// How often, without what is named as dropped already.
        n: u64,
        /// Where first.
        first_offset: u64,
    },
    /// Whole records of kinds that this build does not know.
    Skipped {
        /// By kind, as far as they are told apart.
        kinds: Vec<Skipped>,
        /// All of them.
        n: u64,
        /// Where first.
        first_offset: u64,
    },
    /// Topologies of which only a part arrived.
    PartialTopologies {
        /// How many.
        n: u64,
        /// Of how many.
        all: u64,
    },
    /// The stream has no end.
    CutShort {
        /// Bytes there are.
        bytes: u64,
        /// Of them those of a frame that is not whole.
        cut_bytes: u64,
    },
    /// This is a piece of a recording, read alone.
    Piece {
        /// Its number, from 1.
        number: u32,
        /// Another piece follows.
        goes_on: bool,
    },
    /// Probes of a level that are not in place.
    NotAttached {
        /// Level; `None` of one that this build does not know.
        level: Option<Level>,
        /// How many.
        missing: usize,
        /// Of how many.
        all: usize,
        /// The first of them.
        first: Box<Probe>,
    },
    /// How operators were probed, where direct probes were asked for.
    Probed(OperatorProbes),
    /// Nothing was lost.
    Complete {
        /// Operator spans.
        spans: u64,
        /// Token calls.
        calls: u64,
        /// Selections of an expert.
        experts: u64,
    },
    /// A counter that does not count.
    CounterOff {
        /// Its name.
        name: String,
        /// Where it would count; empty where there is no PMU.
        pmu: String,
        /// Why, in the agent's words.
        note: String,
    },
    /// Spans without the counts of the hardware.
    Uncounted {
        /// Why.
        reason: Absence,
        /// How many.
        n: u64,
        /// Of how many.
        all: u64,
    },
    /// Levels that were not asked for.
    Off(Vec<Level>),
    /// A level that was asked for and had no event.
    NothingSeen(Level),
    /// An option that was asked for is not in force.
    OptionRefused(CaptureOption, Refusal),
    /// The same of a filter.
    FilterRefused {
        /// The filter.
        filter: Filter,
        /// Why.
        why: Refusal,
    },
    /// A filter is in force.
    Filtered(Filter),
    /// Filters left out spans, which are not lost.
    LeftOut {
        /// How many.
        spans: u64,
    },
    /// Ends of operators were not captured.
    WithoutEnds,
    /// Operators of a part of the calls were captured: the phases of which it is so.
    PartOfTokens(Vec<PhaseCoverage>),
    /// How far an accelerator's own profile fits the recording.
    AcceleratorProfile(Box<ProfileJoin>),
    /// What capturing operators costs a token, measured.
    Slowdown(Measured),
    /// The controller changed the duty.
    Controller(Vec<Step>),
    /// Not lost, only not whole.
    Edge {
        /// What.
        of: Of,
        /// Which edge of the session.
        when: When,
        /// How many.
        n: u64,
    },
}

/// How much a remark matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// All is well.
    Good,
    /// Good to know.
    Note,
    /// Something is not known.
    Warning,
    /// Something was lost.
    Loss,
}

impl Remark {
    /// How much it matters.
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
            | Self::NothingSeen(_)
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
