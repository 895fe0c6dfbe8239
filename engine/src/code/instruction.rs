//! Machine code in one form for both instruction sets: control flow, and effects on general
//! registers.
//!
//! Stage: before attaching. From: bytes of a function. To: [`Instruction`]s, which the search for
//! probe sites and struct offsets reads. Promises: any bytes decode. Unknown instructions are
//! [`Flow::Stop`] or [`Effect::Unknown`], never a guess.

use crate::file::elf::Machine;

/// Control flow after an instruction. Targets are virtual addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Flow {
    /// To the next one.
    Next,
    /// Unconditional jump.
    Jump(u64),
    /// Jump or next.
    Branch(u64),
    /// Call of an address.
    Call(u64),
    /// Call through the pointer at an address.
    CallSlot(u64),
    /// Jump through the pointer at an address.
    JumpSlot(u64),
    /// Call through a register or an unknown word.
    CallAny,
    /// Jump through a register or an unknown word.
    JumpAny,
    /// Return.
    Return,
    /// Trap, or an invalid instruction.
    Stop,
}

/// Number of a general register: x86-64 as encoded (`rax` 0 … `r15` 15), arm64 `x0`–`x30`, 31 for
/// `sp`.
pub(crate) type Register = u8;

/// An instruction's effect on general registers, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Writes no general register and no memory through one.
    None,
    /// `to` becomes a copy of `from`.
    Copy { to: Register, from: Register },
    /// `to` becomes `from + add`.
    Add { to: Register, from: Register, add: i64 },
    /// `to` becomes a constant, which may be an address in the file.
    Constant { to: Register, value: u64 },
    /// `to` becomes the memory word at `base + offset`.
    Load { to: Register, base: Register, offset: i64 },
    /// Reads memory at `base + offset` without keeping it in a general register (a comparison, a
    /// vector load).
    Look { base: Register, offset: i64 },
    /// `to` becomes a result that depends on the memory word at `base + offset`.
    Combine { to: Register, base: Register, offset: i64 },
    /// Both become the memory words from `base + offset` on.
    LoadPair { to: [Register; 2], base: Register, offset: i64 },
    /// Stores or signs the return address in a register: from here on the register is not used for
    /// it.
    SaveLink,
    /// Writes memory at `base + offset`, from a general register if `from` names one.
    Store { base: Register, offset: i64, from: Option<Register> },
    /// Writes this register with an unknown value.
    Write { to: Register },
    /// Anything else: every register may have changed.
    Unknown,
}

impl Effect {
    /// Whether the register may have another value afterwards.
    pub(crate) fn may_write(self, register: Register) -> bool {
        match self {
            Self::None | Self::Look { .. } | Self::Store { .. } | Self::SaveLink => false,
            Self::Copy { to, .. }
            | Self::Add { to, .. }
            | Self::Constant { to, .. }
            | Self::Load { to, .. }
            | Self::Combine { to, .. }
            | Self::Write { to } => to == register,
            Self::LoadPair { to, .. } => to.contains(&register),
            Self::Unknown => true,
        }
    }
}

/// One decoded instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// Virtual address.
    pub(crate) address: u64,
    /// Length in bytes.
    pub(crate) length: u8,
    pub(crate) flow: Flow,
    /// Whether the kernel emulates it under a uprobe; see [`emulated`](super::emulated).
    pub(crate) emulated: bool,
}

impl Instruction {
    pub(crate) const fn next(&self) -> u64 {
        self.address.wrapping_add(self.length as u64)
    }
}

/// Registers of a calling convention.
#[derive(Debug)]
pub(crate) struct Convention {
    /// First three integer arguments.
    pub(crate) arguments: [Register; 3],
    pub(crate) result: Register,
    pub(crate) stack: Register,
    /// Holds the return address at entry, if a register does.
    pub(crate) link: Option<Register>,
    /// Registers that a call preserves, one bit each.
    pub(crate) callee_saved: u32,
}

/// System V ABI of x86-64, §3.2: arguments rdi, rsi, rdx; callee-saved rbx, rsp, rbp, r12–r15.
const X86_64: Convention =
    Convention { arguments: [7, 6, 2], result: 0, stack: 4, link: None, callee_saved: 0b1111_0000_0011_1000 };
/// AAPCS64, §6.1: arguments x0–x2; callee-saved x19–x29 and sp.
const ARM64: Convention = Convention {
    arguments: [0, 1, 2],
    result: 0,
    stack: 31,
    link: Some(30),
    callee_saved: 0b1011_1111_1111_1000 << 16,
};

impl Machine {
    pub(crate) const fn convention(self) -> &'static Convention {
        match self {
            Self::X86_64 => &X86_64,
            Self::Arm64 => &ARM64,
        }
    }
}

/// The operand of a call or jump that names no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Through {
    /// The address is in this register.
    Register(Register),
    /// The address is in memory, at this offset from this register.
    Field(Register, i64),
}

/// A question about one instruction, from its bytes and its address.
pub(crate) type Ask<T> = fn(&[u8], u64) -> T;

/// Functions of the decoder of an instruction set. `decode` takes the bytes of many instructions.
#[derive(Debug)]
pub(crate) struct InstructionSet {
    pub(crate) decode: Ask<Vec<Instruction>>,
    pub(crate) effect: Ask<Effect>,
    pub(crate) mnemonic: Ask<String>,
    pub(crate) compared: Ask<Option<u64>>,
    pub(crate) through: Ask<Option<Through>>,
    pub(crate) is_no_op: Ask<bool>,
}
