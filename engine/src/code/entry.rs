//! Where to probe the entry of a function.
//!
//! The kernel often single-steps the first instruction (`endbr64`, `sub`, `stp`; see
//! [`emulated`](super::emulated)). A later one will do as long as nothing that the probe needs has
//! changed: the argument registers, and the return address that a return probe replaces (at the
//! stack pointer on x86-64, in the link register on arm64). Promises: every call passes the chosen
//! instruction exactly once.
//!
//! Return probes within return probes: Linux forgets an outer one when an inner one is entered with
//! the stack pointer that the outer one had (`arch_uretprobe_is_alive`). It then kills the process
//! when the outer function returns ("failed to handle uretprobe, sending SIGILL"). On arm64 a call
//! does not move the stack, so this happens with every probe after the instruction that makes the
//! function's frame. See [`Stack`].

use super::decode::{effect, mnemonic};
use super::function::Function;
use super::instruction::{Effect, Flow, Instruction};
use crate::file::elf::{Image, Machine};
use crate::file::unwind;

/// Search length, in instructions.
const FARTHEST: usize = 24;

/// An instruction that marks a function's entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) address: u64,
    pub(crate) emulated: bool,
    pub(crate) mnemonic: String,
}

/// Whether the stack pointer may already have moved at the probed instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stack {
    /// No: this function may call another function whose return is probed.
    AsAtEntry,
    /// Yes, where the return address is in a register (arm64).
    MayMove,
}

/// The cheapest instruction to probe the entry of the function at `address`.
pub(crate) fn entry(image: &Image<'_>, address: u64, size: u64, stack: Stack) -> Option<Entry> {
    let end = match unwind::function_around(image, address) {
        Some((start, end)) if start == address => end,
        _ if size > 0 => address.checked_add(size)?,
        // Enough for the search; no jump from further on into the prologue occurs.
        _ => address.checked_add(64)?,
    };
    let body = Function::new(image, address, end);
    let first = body.code.first().filter(|_| image.is_code(address))?;
    let chosen = emulated(image, &body, stack).unwrap_or(first);
    Some(Entry { address: chosen.address, emulated: chosen.emulated, mnemonic: mnemonic(image, chosen) })
}

/// The first instruction that the kernel emulates and that still marks the entry.
fn emulated<'b>(image: &Image<'_>, body: &'b Function, stack: Stack) -> Option<&'b Instruction> {
    for instruction in body.code.iter().take(FARTHEST) {
        // A jump from further on reaches it again: it would not mark entries alone.
        if body.is_target(instruction.address) {
            return None;
        }
        // A call on arm64 replaces the return address that the probe has just set.
        let usable = instruction.emulated && (image.machine == Machine::X86_64 || !calls(instruction.flow));
        if usable {
            return Some(instruction);
        }
        if instruction.flow != Flow::Next || spoils(image, instruction, stack) {
            return None;
        }
    }
    None
}

const fn calls(flow: Flow) -> bool {
    matches!(flow, Flow::Call(_) | Flow::CallAny | Flow::CallSlot(_))
}

/// Whether arguments, the return address or the stack pointer differ from those at entry.
fn spoils(image: &Image<'_>, instruction: &Instruction, stack: Stack) -> bool {
    let convention = image.machine.convention();
    let effect = effect(image, instruction);
    // Where a register holds the return address, the stack pointer is not needed to find it.
    let pointer = (convention.link.is_none() || stack == Stack::AsAtEntry).then_some(convention.stack);
    let mut precious = convention.arguments.into_iter().chain(convention.link).chain(pointer);
    effect == Effect::SaveLink || precious.any(|register| effect.may_write(register))
}
