//! Direct probes: what became of them, where they were asked for.

/// How the operators of a process were probed, where direct probes were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorProbes {
    /// Process.
    pub pid: u32,
    /// Why by uprobes; `None`: directly, as asked.
    pub refused: Option<NotDirect>,
    /// Places that were changed in the engine.
    pub places: u16,
    /// Places that a killed agent had left changed, and that were put back first.
    pub repaired: u16,
    /// How long the engine stood still for it, ns.
    pub stopped_ns: u64,
}

/// Why an engine got no direct probes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotDirect {
    /// Why.
    pub why: Why,
    /// What the system answered or what was found; may be empty.
    pub detail: String,
}

/// The reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the wire's record documents each; one name in every layer")]
pub enum Why {
    Counters,
    Experts,
    Capture,
    Architecture,
    NoPlaces,
    Code,
    Tracer,
    NotAllowed,
    DoesNotStop,
    JobControl,
    Seccomp,
    PidNamespace,
    Clock,
    NoThreadNumber,
    NoRoom,
    NotMapped,
    Changed,
    TwoPages,
    OtherAgent,
    NoThread,
    Mapping,
    Unreachable,
    Ended,
    NotBuilt,
    /// One that this build does not know.
    Other,
}

/// What direct probes did, in totals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirectTotals {
    /// Records read.
    pub records: u64,
    /// Dropped for want of room in a ring; part of the ledger.
    pub ring_full: u64,
    /// Dropped for want of a ring; part of the ledger.
    pub no_slot: u64,
    /// Times moved to the border of their graph call, within the clock's error.
    pub clamped: u64,
    /// Largest error of a time, ns.
    pub clock_error_ns: u64,
}
