//! What was searched and not found, and why.

use super::kind::ProbeKind;

/// An item that was searched and not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Its purpose.
    pub kind: ProbeKind,
    /// The symbol.
    pub symbol: String,
    /// The reason.
    pub reason: MissingReason,
}

/// Why something is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingReason {
    /// No file defines it.
    NotDefined,
    /// The engine's file names none of its functions, and these texts do not identify this one
    /// (empty: no text does).
    Stripped(&'static [&'static str]),
    /// Neither the loop over the nodes nor a function for operators was found.
    NoOperators {
        /// The reason for the loop.
        start: NoStart,
        /// The reason for the function; `None` where there is one, but no instruction of it can be
        /// probed.
        function: Option<NoFunction>,
    },
    /// Starts of operators were found, but no ends.
    NoEnd(NoEnd),
    /// A kernel is reached without passing a start.
    Unseen,
    /// The position identifies no fused kernel in a file without names.
    FusedUnknown,
    /// The calls of fused kernels were inlined.
    FusedInlined,
    /// The scheduler does not call the function, and the function does not reveal the offset of a
    /// backend's pointer.
    HandoverHidden,
    /// The scheduler calls neither the function nor through this offset of a backend.
    HandoverNotCalled(i64),
    /// A function of a backend exists but cannot be probed.
    Unprobable(Unprobable),
}

/// Why the loop over the nodes was not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoStart {
    /// Nothing calls the function that every dispatched node calls.
    NotCalled,
    /// Number of places that call it.
    CalledTooOften(usize),
    /// The call at this address is in no function of the unwind tables.
    NoUnwind(u64),
}

/// Why there is no function that runs one operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoFunction {
    /// None has its name.
    NotThere,
    /// It is not called, or not with a tensor.
    NotCalledSo,
}

/// Why no ends of operators were found. All are addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoEnd {
    /// The dispatching function has no jumps.
    NoJumps,
    /// The cases do not meet.
    NoJoin {
        /// The target of most jumps.
        join: u64,
        /// How many.
        jumps: u32,
    },
    /// The start's return value is not checked.
    ResultNotTested,
    /// The start's return value leads elsewhere.
    ResultLeadsElsewhere {
        /// Where the cases meet.
        join: u64,
        /// Where the return value leads.
        ways: [u64; 2],
    },
    /// The kernel emulates no instruction after the place where they meet.
    SingleStepped {
        /// That place.
        join: u64,
    },
    /// A start is reached from a start without passing the end.
    StartReached {
        /// The earlier start.
        from: u64,
        /// The start that is reached.
        to: u64,
    },
    /// The function is left without passing the end.
    Returns {
        /// The start.
        from: u64,
        /// The return.
        at: u64,
    },
}

/// Why a function of a backend cannot be probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unprobable {
    /// Its code cannot be decoded.
    Unreadable,
    /// Its code is not in the file.
    NotInFile,
    /// Its address is wrong.
    WrongAddress,
    /// It only jumps to another one that the file does not name.
    OnlyJumps,
}
