//! In the place of `x86` in the agent for arm64 boards, which has no need of a decoder for x86-64: its files are refused before
//! ([`super::elf::ElfError::LeftOut`]), so that nothing here is asked.

use super::code::{Effect, Instruction, Through};

pub(crate) fn decode(_: &[u8], _: u64) -> Vec<Instruction> {
    Vec::new()
}

pub(crate) fn mnemonic(_: &[u8], _: u64) -> String {
    String::new()
}

pub(crate) fn compared(_: &[u8], _: u64) -> Option<u64> {
    None
}

pub(crate) fn through(_: &[u8], _: u64) -> Option<Through> {
    None
}

pub(crate) fn is_no_op(_: &[u8], _: u64) -> bool {
    false
}

pub(crate) fn effect(_: &[u8], _: u64) -> Effect {
    Effect::Unknown
}
