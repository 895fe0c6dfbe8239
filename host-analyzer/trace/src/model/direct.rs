//! Direct probes: the result of a request for them.

/// Operator probes of a process, where direct probes were requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorProbes {
    /// Process.
    pub pid: u32,
    /// Why uprobes were used; `None`: direct probes, as requested.
    pub refused: Option<NotDirect>,
    /// Places that were changed in the engine.
    pub places: u16,
    /// Places that a killed agent had left changed and that this one restored first.
    pub repaired: u16,
    /// How long the engine was stopped for it, ns.
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

/// Totals of direct probes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirectTotals {
    /// Records read.
    pub records: u64,
    /// Dropped because a ring was full; part of the ledger.
    pub ring_full: u64,
    /// Dropped because no ring was free; part of the ledger.
    pub no_slot: u64,
    /// Times moved to the boundary of their graph call, within the clock's error.
    pub clamped: u64,
    /// Largest error of a time, ns.
    pub clock_error_ns: u64,
}
