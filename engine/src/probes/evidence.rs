//! A place to probe, and how it was found.

use super::kind::ProbeKind;
use crate::symbols::names::Clue;

/// One instruction to probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// What is seen there.
    pub kind: ProbeKind,
    /// Index of the file in the slice given to [`examine`](crate::examine).
    pub file: usize,
    /// File offset of the instruction. For kinds with a return it lies where the stack pointer and (on arm64) the link
    /// register still are as at entry, so that a uretprobe works there too.
    pub offset: u64,
    /// The function that led there: as the file names it, or as the engine's sources do; empty for one that has no name.
    pub symbol: String,
    /// Mnemonic of the instruction.
    pub mnemonic: String,
    /// Whether the kernel emulates the instruction, or single-steps it.
    pub emulated: bool,
    /// How it was found.
    pub evidence: Evidence,
}

/// How a place was found. `entry` is how many bytes behind the function's first instruction it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// The file names the function.
    Named {
        /// Bytes from its first instruction.
        entry: u64,
    },
    /// The file does not name the function.
    Recovered {
        /// Where it is.
        address: u64,
        /// By what it is known.
        clue: Clue,
        /// Bytes from its first instruction.
        entry: u64,
    },
    /// The file names the function that runs one operator, and it is really called.
    OperatorFunction {
        /// From how many places.
        callers: usize,
        /// The call that every dispatched node makes is in it.
        dispatches: bool,
        /// Bytes from its first instruction.
        entry: u64,
    },
    /// The function that runs one operator, by what it does.
    Structure {
        /// Where it is.
        address: u64,
        /// What it compares the operator with.
        bound: u64,
        /// How many different functions it calls.
        kernels: usize,
        /// From how many places it is called.
        callers: usize,
        /// Bytes from its first instruction.
        entry: u64,
    },
    /// The call of a function that the file names, in the function that dispatches operators.
    DispatchCall {
        /// Where that one begins.
        function: u64,
    },
    /// The call of a function that the file does not name, in the function that dispatches operators.
    RecoveredCall {
        /// By what the called one is known.
        clue: Clue,
    },
    /// Behind where the operators of the dispatching function meet.
    Join {
        /// Where they meet.
        address: u64,
        /// How many jumps go there.
        jumps: u32,
    },
    /// The scheduler's own call of a backend.
    InlinedHandover {
        /// Offset in bytes of the pointer in the backend.
        offset: i64,
    },
    /// The file names a function that a backend profile tells of.
    Backend {
        /// The backend.
        backend: String,
        /// The function that is probed in place of the named one, which only jumps to it.
        jumps_to: Option<u64>,
        /// Bytes from its first instruction.
        entry: u64,
    },
}

impl Evidence {
    /// By what the function is known, where the file does not name it.
    #[must_use]
    pub const fn clue(&self) -> Option<Clue> {
        match self {
            Self::Recovered { clue, .. } | Self::RecoveredCall { clue } => Some(*clue),
            _ => None,
        }
    }
}
