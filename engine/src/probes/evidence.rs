//! A place to probe, and how it was found.

use super::kind::ProbeKind;
use crate::symbols::names::Clue;

/// One instruction to probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The event that is seen there.
    pub kind: ProbeKind,
    /// Index of the file in the slice given to [`examine`](crate::examine).
    pub file: usize,
    /// File offset of the instruction. For kinds with a return, the stack pointer and (on arm64)
    /// the link register are still as at entry there, so that a uretprobe works, too.
    pub offset: u64,
    /// The function that led there, by its name in the file or in the engine's sources; empty for
    /// one without a name.
    pub symbol: String,
    /// Mnemonic of the instruction.
    pub mnemonic: String,
    /// Whether the kernel emulates the instruction, or single-steps it.
    pub emulated: bool,
    /// How it was found.
    pub evidence: Evidence,
}

/// How a place was found. `entry` is its distance in bytes from the function's first instruction.
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
        /// Its clue.
        clue: Clue,
        /// Bytes from its first instruction.
        entry: u64,
    },
    /// The file names the function that runs one operator, and the function is really called.
    OperatorFunction {
        /// Number of calling places.
        callers: usize,
        /// It contains the call that every dispatched node makes.
        dispatches: bool,
        /// Bytes from its first instruction.
        entry: u64,
    },
    /// The function that runs one operator, found by its behaviour.
    Structure {
        /// Where it is.
        address: u64,
        /// The constant that it compares the operator with.
        bound: u64,
        /// Number of different functions that it calls.
        kernels: usize,
        /// Number of places that call it.
        callers: usize,
        /// Bytes from its first instruction.
        entry: u64,
    },
    /// The call of a named function, in the function that dispatches operators.
    DispatchCall {
        /// Start of the dispatching function.
        function: u64,
    },
    /// The call of a function without a name in the file, in the function that dispatches
    /// operators.
    RecoveredCall {
        /// The clue for the called function.
        clue: Clue,
    },
    /// After the place where the operators of the dispatching function meet.
    Join {
        /// Where they meet.
        address: u64,
        /// Number of jumps to that place.
        jumps: u32,
    },
    /// The scheduler's own call of a backend.
    InlinedHandover {
        /// Offset in bytes of the pointer in the backend.
        offset: i64,
    },
    /// The file names a function of a backend profile.
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
    /// The function's clue, where the file does not name it.
    #[must_use]
    pub const fn clue(&self) -> Option<Clue> {
        match self {
            Self::Recovered { clue, .. } | Self::RecoveredCall { clue } => Some(*clue),
            _ => None,
        }
    }
}
