//! Where direct probes may go in one file, or why they may not.
//!
//! A direct probe changes an instruction of the engine so that it leads to a few lines of code that record an operator
//! and lead back. Stage: before attaching. From: the operator level of the plan. To: the agent, which compares the bytes with
//! those in memory before it changes any. Promises: what is listed was proved from the file alone, see [`Proof`]; the places
//! of a file are all that its operators need, or there are none.

use crate::file::elf::Machine;

/// The places of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectPlaces {
    /// Index of the file in the slice given to [`examine`](crate::examine).
    pub file: usize,
    /// The file's instruction set.
    pub machine: Machine,
    /// Operators run in phases: a call whose first argument points to a 32-bit word other than 1 (COMPUTE) is no operator.
    pub has_phase: bool,
    /// In order of offset; they do not overlap. Starts with at least one end, or whole calls only.
    pub places: Vec<DirectPlace>,
    /// What was looked at.
    pub proof: Proof,
}

/// One instruction that may be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectPlace {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// The file's own virtual address of it, as its program headers say.
    pub address: u64,
    /// The instruction as in the file, whole: 5 bytes of a call on x86-64, at least 5 of a moved one; 4 on arm64.
    pub bytes: Vec<u8>,
    /// What is recorded there.
    pub role: DirectRole,
}

/// What is recorded at a place. Callees are the file's own virtual addresses: a function, or its entry in the procedure
/// linkage table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectRole {
    /// A call (`call rel32`, `bl`) of `callee(params, tensor)`, or if fused of `callee(params, first, last)`: an operator starts.
    Start {
        /// Whether operators are computed together.
        fused: bool,
        /// What the call reaches.
        callee: u64,
    },
    /// An instruction that every operator reaches when its work is done. It may be executed at any other address.
    End,
    /// A call (`call rel32`, `bl`) of `callee(params, tensor)` that is one operator: it starts before and ends behind it.
    Whole {
        /// What the call reaches.
        callee: u64,
    },
}

/// What was looked at so that the places are safe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Proof {
    /// Functions with places in them, whose first and last address the unwind tables know.
    pub functions: usize,
    /// Their direct jumps and branches: all lead to the beginning of an instruction, or out of them. Not looked for on arm64, where
    /// no branch can lead elsewhere.
    pub branches: usize,
    /// Their jump tables, of which the same is so. Not looked for on arm64.
    pub tables: usize,
    /// References to the functions that are operators: direct calls, all of them.
    pub references: usize,
}

/// Why no direct probes may go into a file that has operators. All numbers but counts are virtual addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoDirect {
    /// An operator start is no call of an address: through a pointer, or with a prefix.
    NotACall(u64),
    /// The function around the address is not known from the unwind tables.
    NoBounds(u64),
    /// The function's code does not decode as one instruction after the other; here it stops.
    Undecoded(u64),
    /// The function has landing pads for exceptions, which nothing here follows.
    LandingPads(u64),
    /// No instruction behind the place where operators meet can be executed elsewhere and is long enough.
    NothingToMove(u64),
    /// The targets of this jump are not known.
    UnknownTable(u64),
    /// Something leads into an instruction that would be changed.
    LedInto {
        /// The instruction, or the byte within it that is led to.
        place: u64,
        /// The branch, table, pointer or instruction that does.
        by: u64,
    },
    /// The function that is an operator is referred to by something else than a call of its address.
    Referred {
        /// The function.
        function: u64,
        /// The jump, pointer or instruction that does.
        by: u64,
    },
    /// Nothing calls the function that is an operator.
    NotCalled(u64),
    /// Two places overlap, or one is not in the file.
    Misplaced(u64),
}
