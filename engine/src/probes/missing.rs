//! What was looked for in vain, and why it is not there.

use super::kind::ProbeKind;

/// Something that was looked for in vain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What it was to be.
    pub kind: ProbeKind,
    /// Symbol looked for.
    pub symbol: String,
    /// Why not.
    pub reason: MissingReason,
}

/// Why something is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingReason {
    /// No file defines it.
    NotDefined,
    /// The engine's file names none of its functions, and this one is not known by these texts (none: by no text at all).
    Stripped(&'static [&'static str]),
    /// Neither the loop over the nodes nor a function for operators was found.
    NoOperators {
        /// Why not the loop.
        start: NoStart,
        /// Why not the function; `None` where there is one, but no instruction of it can be probed.
        function: Option<NoFunction>,
    },
    /// Operators are seen to start, but not to end.
    NoEnd(NoEnd),
    /// A kernel is reached without passing a start.
    Unseen,
    /// No fused kernel is known by its position in a file that names nothing.
    FusedUnknown,
    /// The calls of fused kernels were inlined.
    FusedInlined,
    /// The scheduler does not call the function, and what it does does not show where a backend's pointer is.
    HandoverHidden,
    /// The scheduler calls neither the function nor through this offset of a backend.
    HandoverNotCalled(i64),
    /// A function of a backend that is there cannot be probed.
    Unprobable(Unprobable),
}

/// Why the loop over the nodes was not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoStart {
    /// Nothing calls what every dispatched node calls.
    NotCalled,
    /// It is called from that many places.
    CalledTooOften(usize),
    /// The call at this address is in no function that the unwind tables know.
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

/// Why operators are not seen to end. All are addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoEnd {
    /// The dispatching function has no jumps.
    NoJumps,
    /// The cases do not meet.
    NoJoin {
        /// Where most jumps go.
        join: u64,
        /// How many.
        jumps: u32,
    },
    /// What the start returns is not looked at.
    ResultNotTested,
    /// What the start returns leads elsewhere.
    ResultLeadsElsewhere {
        /// Where the cases meet.
        join: u64,
        /// Where the result leads.
        ways: [u64; 2],
    },
    /// The kernel emulates no instruction behind the place where they meet.
    SingleStepped {
        /// That place.
        join: u64,
    },
    /// A start is reached from another one, or itself, without passing the end.
    StartReached {
        /// The one before.
        from: u64,
        /// The one that is reached.
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
    /// Its code cannot be read.
    Unreadable,
    /// Its code is not in the file.
    NotInFile,
    /// Its address is wrong.
    WrongAddress,
    /// It only jumps to another one that the file does not name.
    OnlyJumps,
}
