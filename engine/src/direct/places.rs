//! Where direct probes may be inserted in one file, or why not.
//!
//! A direct probe changes an instruction of the engine so that it leads to a few lines of code that
//! record an operator and lead back. Stage: before attaching. From: the operator level of the plan.
//! To: the agent, which compares the bytes with those in memory before it changes any. Promises:
//! every listed place was proved from the file alone, see [`Proof`]. A file has all places that its
//! operators need, or none.

use crate::file::elf::Machine;

/// The places of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectPlaces {
    /// Index of the file in the slice given to [`examine`](crate::examine).
    pub file: usize,
    /// The file's instruction set.
    pub machine: Machine,
    /// Operators run in phases: a call whose first argument points to a 32-bit word other than 1
    /// (COMPUTE) is not an operator.
    pub has_phase: bool,
    /// In order of offset; they do not overlap. Starts with at least one end, or complete calls
    /// only.
    pub places: Vec<DirectPlace>,
    /// The basis of the proof.
    pub proof: Proof,
}

/// One instruction that may be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectPlace {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Its virtual address in the file, from the program headers.
    pub address: u64,
    /// The complete instruction as in the file: 5 bytes of a call on x86-64, at least 5 of a moved
    /// one; 4 on arm64.
    pub bytes: Vec<u8>,
    /// The event recorded there.
    pub role: DirectRole,
}

/// The event recorded at a place. Callees are virtual addresses in the file: a function, or its
/// entry in the procedure linkage table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectRole {
    /// A call (`call rel32`, `bl`) of `callee(params, tensor)`, or if fused of `callee(params,
    /// first, last)`: an operator starts.
    Start {
        /// Whether it computes several operators together.
        fused: bool,
        /// Target of the call.
        callee: u64,
    },
    /// An instruction that every operator reaches when its work is done. It can be executed at any
    /// other address.
    End,
    /// A call (`call rel32`, `bl`) of `callee(params, tensor)` that is one operator: the operator
    /// starts before the call and ends after it.
    Whole {
        /// Target of the call.
        callee: u64,
    },
}

/// What was checked to prove that the places are safe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Proof {
    /// Functions with places in them, whose first and last address are in the unwind tables.
    pub functions: usize,
    /// Their direct jumps and branches: all lead to the beginning of an instruction, or out of
    /// them. Not checked on arm64, where no branch can lead elsewhere.
    pub branches: usize,
    /// Their jump tables, with the same property. Not checked on arm64.
    pub tables: usize,
    /// References to the functions that are operators: direct calls, all of them.
    pub references: usize,
}

/// Why no direct probes may be inserted in a file that has operators. All numbers except counts are
/// virtual addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoDirect {
    /// An operator start is not a call of an address: it is through a pointer, or has a prefix.
    NotACall(u64),
    /// The function around the address is not in the unwind tables.
    NoBounds(u64),
    /// The function's code does not decode as consecutive instructions; it stops here.
    Undecoded(u64),
    /// The function has landing pads for exceptions, which the check does not follow.
    LandingPads(u64),
    /// No instruction after the place where operators meet is movable and long enough.
    NothingToMove(u64),
    /// The targets of this jump are unknown.
    UnknownTable(u64),
    /// Something leads into an instruction that would be changed.
    LedInto {
        /// The instruction, or the byte inside it that is the target.
        place: u64,
        /// The branch, table, pointer or instruction that leads there.
        by: u64,
    },
    /// Something other than a call of its address refers to the function that is an operator.
    Referred {
        /// The function.
        function: u64,
        /// The jump, pointer or instruction that refers to it.
        by: u64,
    },
    /// Nothing calls the function that is an operator.
    NotCalled(u64),
    /// Two places overlap, or one is not in the file.
    Misplaced(u64),
}
