//! How operators are probed: by uprobes or directly, and what direct probes lost.

use serde::{Deserialize, Serialize};

use super::totals::totals;

/// Kind of operator probes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Probes {
    /// What is best unasked: uprobes.
    #[default]
    Auto,
    /// Uprobes: a trap for each start and each end.
    Uprobe,
    /// Direct probes: the engine's code leads to code of the agent's, without a trap.
    Direct,
}

/// Host to agent, before `Start`: which kind of operator probes is wanted. Without it, `Auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbesRequest {
    /// Kind.
    pub probes: Probes,
}

/// What became of direct probes that were asked for, for a process; the last one received holds. Absent where none were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbesUsed<'a> {
    /// Process.
    pub pid: u32,
    /// What is in place: `Uprobe` or `Direct`.
    pub used: Probes,
    /// Why it is not what was asked for, a number of [`why`]; 0: it is.
    pub why: u16,
    /// What the system answered or what was found; empty where the number says it all.
    #[serde(borrow)]
    pub detail: &'a str,
    /// Places changed in the engine.
    pub places: u16,
    /// Places that an agent which was killed had left changed, and that were put back first.
    pub repaired: u16,
    /// How long the engine stood still, ns.
    pub stopped_ns: u64,
}

/// Why direct probes were not put in.
pub mod why {
    /// Counters are read at operators.
    pub const COUNTERS: u16 = 1;
    /// Experts are read at operators.
    pub const EXPERTS: u16 = 2;
    /// No code for the processor.
    pub const ARCHITECTURE: u16 = 3;
    /// The engine's files offer no places.
    pub const NO_PLACES: u16 = 4;
    /// The engine's code offers none that are proved to be safe.
    pub const CODE: u16 = 5;
    /// Another tracer holds the engine.
    pub const TRACER: u16 = 6;
    /// The kernel does not let the agent stop it.
    pub const NOT_ALLOWED: u16 = 7;
    /// It does not stop.
    pub const DOES_NOT_STOP: u16 = 8;
    /// It is stopped by job control.
    pub const JOB_CONTROL: u16 = 9;
    /// A seccomp filter guards it.
    pub const SECCOMP: u16 = 10;
    /// It is in another PID namespace.
    pub const PID_NAMESPACE: u16 = 11;
    /// The processor's clock cannot be used.
    pub const CLOCK: u16 = 12;
    /// Where threads keep their number was not found.
    pub const NO_THREAD_NUMBER: u16 = 13;
    /// No room within reach.
    pub const NO_ROOM: u16 = 14;
    /// The file is no longer mapped as it was examined.
    pub const NOT_MAPPED: u16 = 15;
    /// The code is not as in the file.
    pub const CHANGED: u16 = 16;
    /// A place lies in two pages.
    pub const TWO_PAGES: u16 = 17;
    /// Another agent records it directly.
    pub const OTHER_AGENT: u16 = 18;
    /// No thread can be interrupted safely.
    pub const NO_THREAD: u16 = 19;
    /// The engine may not map what is needed.
    pub const MAPPING: u16 = 20;
    /// The agent cannot reach what the engine mapped.
    pub const UNREACHABLE: u16 = 21;
    /// The engine has ended.
    pub const ENDED: u16 = 22;
    /// Starts only, or a filter on threads.
    pub const CAPTURE: u16 = 23;
    /// The agent was built without them.
    pub const NOT_BUILT: u16 = 24;
}

totals! {
    /// What direct probes did, totals since the session began; the last one received holds. Part of them is in
    /// [`Loss`](super::loss::Loss) too: there records are ends, and what was dropped is what the ring was full for.
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
        /// Times moved to the border of their graph call, by no more than `clock_error_ns`.
        pub clamped: u64,
        /// Largest error of turning the processor's clock into time so far, ns.
        pub clock_error_ns: u64,
    }
}
