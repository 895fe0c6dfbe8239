//! Where to probe the entry of a function.
//!
//! The first instruction is often a dear one to probe (`endbr64`, `sub`, `stp`; see [`cheap`](super::cheap)).
//! A later one will do as long as nothing that the probe reads has changed: the argument registers,
//! and what a return probe replaces, the return address (at the stack pointer on x86-64, in the link register
//! on arm64). Promises: every call passes the chosen instruction exactly once.

use super::body::Body;
use super::code::{self, Effect, Flow, Instruction};
use super::elf::{Image, Machine};
use super::frames;

/// How far to look, in instructions.
const FARTHEST: usize = 24;

/// An instruction that marks a function's entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) address: u64,
    pub(crate) emulated: bool,
    pub(crate) mnemonic: String,
}

/// The cheapest instruction to probe the entry of the function at `address`.
pub(crate) fn entry(image: &Image<'_>, address: u64, size: u64) -> Option<Entry> {
    let end = match frames::function_around(image, address) {
        Some((start, end)) if start == address => end,
        _ if size > 0 => address.checked_add(size)?,
        // Enough for the search; jumps from farther on into the prologue do not occur.
        _ => address.checked_add(64)?,
    };
    let body = Body::new(image, address, end);
    let first = body.code.first().filter(|_| image.is_code(address))?;
    let chosen = cheap(image, &body).unwrap_or(first);
    Some(Entry {
        address: chosen.address,
        emulated: chosen.emulated,
        mnemonic: code::mnemonic(image, chosen),
    })
}

fn cheap<'b>(image: &Image<'_>, body: &'b Body) -> Option<&'b Instruction> {
    for instruction in body.code.iter().take(FARTHEST) {
        // Reached again from farther down: it would not mark entries alone.
        if body.is_target(instruction.address) {
            return None;
        }
        // A call on arm64 replaces the return address that the probe has just set.
        let usable = instruction.emulated && (image.machine == Machine::X86_64 || !calls(instruction.flow));
        if usable {
            return Some(instruction);
        }
        if instruction.flow != Flow::Next || spoils(image, instruction) {
            return None;
        }
    }
    None
}

const fn calls(flow: Flow) -> bool {
    matches!(flow, Flow::Call(_) | Flow::CallAny | Flow::CallSlot(_))
}

/// Whether arguments or the return address are no longer where they were at entry.
fn spoils(image: &Image<'_>, instruction: &Instruction) -> bool {
    let convention = image.machine.convention();
    let effect = code::effect(image, instruction);
    // On arm64 the return address is in a register: the stack may move.
    let home = convention.link.unwrap_or(convention.stack);
    let mut precious = convention.arguments.into_iter().chain([home]);
    effect == Effect::SaveLink || precious.any(|register| effect.may_write(register))
}
