//! Decodes the instructions of a file for its instruction set.
//!
//! Promises: any bytes decode. Without the decoder of the instruction set they decode to nothing.

#[cfg(feature = "arm64")]
use super::arm64;
use super::instruction::{Ask, Effect, Instruction, InstructionSet, Through};
#[cfg(feature = "x86")]
use super::x86;
use crate::file::elf::{Image, Machine, offset};

/// The decoder of an instruction set, if it is built in.
pub(super) const fn decoder(machine: Machine) -> Option<&'static InstructionSet> {
    match machine {
        #[cfg(feature = "x86")]
        Machine::X86_64 => Some(&x86::DECODER),
        #[cfg(feature = "arm64")]
        Machine::Arm64 => Some(&arm64::DECODER),
        #[cfg(not(all(feature = "arm64", feature = "x86")))]
        _ => None,
    }
}

/// Decodes `start..end` in order.
pub(crate) fn decode(image: &Image<'_>, start: u64, end: u64) -> Vec<Instruction> {
    let (Some(bytes), Some(decoder)) = (image.at(start), decoder(image.machine)) else { return Vec::new() };
    let bytes = &bytes[..bytes.len().min(offset(end.saturating_sub(start)))];
    (decoder.decode)(bytes, start)
}

/// Queries the decoder about an instruction.
fn ask<T>(image: &Image<'_>, instruction: &Instruction, what: fn(&InstructionSet) -> Ask<T>) -> Option<T> {
    let bytes = image.bytes(instruction.address, instruction.length.into())?;
    Some(what(decoder(image.machine)?)(bytes, instruction.address))
}

/// The instruction's effect on registers.
pub(crate) fn effect(image: &Image<'_>, instruction: &Instruction) -> Effect {
    ask(image, instruction, |d| d.effect).unwrap_or(Effect::Unknown)
}

/// The instruction's mnemonic, for people; empty where it cannot be decoded.
pub(crate) fn mnemonic(image: &Image<'_>, instruction: &Instruction) -> String {
    ask(image, instruction, |d| d.mnemonic).unwrap_or_default()
}

/// The operand of a call or jump that names no address.
pub(crate) fn through(image: &Image<'_>, instruction: &Instruction) -> Option<Through> {
    ask(image, instruction, |d| d.through)?
}

/// The constant of a comparison.
pub(crate) fn compared(image: &Image<'_>, instruction: &Instruction) -> Option<u64> {
    ask(image, instruction, |d| d.compared)?
}

/// Whether the instruction only aligns the next one.
pub(crate) fn is_padding(image: &Image<'_>, instruction: &Instruction) -> bool {
    ask(image, instruction, |d| d.is_no_op).unwrap_or(false)
}
