//! Probes of operators: uprobes or direct probes, and the losses of direct probes.

use serde::{Deserialize, Serialize};

use super::totals::totals;

/// Kind of operator probes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Probes {
    /// The agent's default: uprobes.
    #[default]
    Auto,
    /// Uprobes: one trap per start and one per end.
    Uprobe,
    /// Direct probes: the engine's code jumps to the agent's code without a trap.
    Direct,
}

/// Host to agent, before `Start`: the requested kind of operator probes. Without it, `Auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbesRequest {
    /// Kind.
    pub probes: Probes,
}

/// Result of a request for direct probes, per process; the last one received is valid. Absent
/// without such a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbesUsed<'a> {
    /// Process.
    pub pid: u32,
    /// Probes in place: `Uprobe` or `Direct`.
    pub used: Probes,
    /// Why they differ from the request, a number of [`why`]; 0 if they do not.
    pub why: u16,
    /// What the system answered or what was found; empty where the number is enough.
    #[serde(borrow)]
    pub detail: &'a str,
    /// Changed places in the engine's code.
    pub places: u16,
    /// Places that a killed agent had left changed and that this one restored first.
    pub repaired: u16,
    /// How long the engine was stopped, ns.
    pub stopped_ns: u64,
}

/// Why direct probes were not inserted.
pub mod why {
    /// Counters are read at operators.
    pub const COUNTERS: u16 = 1;
    /// Experts are read at operators.
    pub const EXPERTS: u16 = 2;
    /// No code for the processor.
    pub const ARCHITECTURE: u16 = 3;
    /// The engine's files have no suitable places.
    pub const NO_PLACES: u16 = 4;
    /// The engine's code has no places that are proved to be safe.
    pub const CODE: u16 = 5;
    /// Another tracer is attached to the engine.
    pub const TRACER: u16 = 6;
    /// The kernel does not let the agent stop it.
    pub const NOT_ALLOWED: u16 = 7;
    /// The engine does not stop.
    pub const DOES_NOT_STOP: u16 = 8;
    /// It is stopped by job control.
    pub const JOB_CONTROL: u16 = 9;
    /// A seccomp filter guards it.
    pub const SECCOMP: u16 = 10;
    /// It is in another PID namespace.
    pub const PID_NAMESPACE: u16 = 11;
    /// The processor's clock cannot be used.
    pub const CLOCK: u16 = 12;
    /// The place where threads keep their number was not found.
    pub const NO_THREAD_NUMBER: u16 = 13;
    /// No free address space within reach.
    pub const NO_ROOM: u16 = 14;
    /// The file is no longer mapped as it was examined.
    pub const NOT_MAPPED: u16 = 15;
    /// The code in memory differs from the file.
    pub const CHANGED: u16 = 16;
    /// A place spans two pages.
    pub const TWO_PAGES: u16 = 17;
    /// Another agent records the engine directly.
    pub const OTHER_AGENT: u16 = 18;
    /// No thread can be interrupted safely.
    pub const NO_THREAD: u16 = 19;
    /// The engine may not map the needed memory.
    pub const MAPPING: u16 = 20;
    /// The agent cannot access what the engine mapped.
    pub const UNREACHABLE: u16 = 21;
    /// The engine has ended.
    pub const ENDED: u16 = 22;
    /// Only starts, or a filter on threads, were requested.
    pub const CAPTURE: u16 = 23;
    /// The agent was built without direct probes.
    pub const NOT_BUILT: u16 = 24;
}

totals! {
    /// Totals of direct probes since the session began; the last one received is valid. Some are
    /// also in [`Loss`](super::loss::Loss), where records count as ends and drops count as ring
    /// buffer full.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct DirectLoss {
        /// When the totals were taken, ns.
        pub at_ns: u64,
        /// Records read.
        pub records: u64,
        /// Operators dropped because their thread's ring was full.
        pub ring_full: u64,
        /// Operators dropped because no ring was free for their thread.
        pub no_slot: u64,
        /// Times moved to the boundary of their graph call, by at most `clock_error_ns`.
        pub clamped: u64,
        /// Largest error so far when converting the processor's clock to time, ns.
        pub clock_error_ns: u64,
    }
}
