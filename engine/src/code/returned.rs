//! Computes the return value of a function of a few instructions with the memory of its process.
//!
//! Stage: while the engine runs. From: the bytes of a function. To: the value in its result
//! register. Promises: no guesses. An unknown instruction, or control flow that depends on
//! anything, gives no result.

use super::decode::decoder;
use super::instruction::{Effect, Flow, Register};
use crate::file::elf::Machine;

/// Most instructions that are followed.
const LIMIT: usize = 16;

/// The value that a function returns for its first argument. `bytes` is its code, at `address` of
/// its process. `word` reads the memory word at an address.
#[must_use]
pub fn returned(
    machine: Machine,
    bytes: &[u8],
    address: u64,
    argument: u64,
    word: &mut dyn FnMut(u64) -> Option<u64>,
) -> Option<u64> {
    let (convention, decoder) = (machine.convention(), decoder(machine)?);
    let mut registers = Registers::default();
    registers.set(convention.arguments[0], Some(argument));
    for instruction in (decoder.decode)(bytes, address).iter().take(LIMIT) {
        let at = usize::try_from(instruction.address.checked_sub(address)?).ok()?;
        let code = bytes.get(at..at.checked_add(instruction.length.into())?)?;
        match instruction.flow {
            Flow::Next => registers.apply((decoder.effect)(code, instruction.address), word),
            Flow::Return => return registers.get(convention.result),
            _ => return None,
        }
    }
    None
}

/// Values of the general registers, where known.
#[derive(Default)]
struct Registers([Option<u64>; 32]);

impl Registers {
    fn get(&self, register: Register) -> Option<u64> {
        self.0.get(usize::from(register)).copied().flatten()
    }

    fn plus(&self, register: Register, add: i64) -> Option<u64> {
        self.get(register).map(|v| v.wrapping_add_signed(add))
    }

    fn set(&mut self, register: Register, value: Option<u64>) {
        if let Some(slot) = self.0.get_mut(usize::from(register)) {
            *slot = value;
        }
    }

    fn apply(&mut self, effect: Effect, word: &mut dyn FnMut(u64) -> Option<u64>) {
        match effect {
            Effect::None | Effect::Look { .. } | Effect::Store { .. } | Effect::SaveLink => {}
            Effect::Copy { to, from } => self.set(to, self.get(from)),
            Effect::Add { to, from, add } => self.set(to, self.plus(from, add)),
            Effect::Constant { to, value } => self.set(to, Some(value)),
            Effect::Load { to, base, offset } => {
                let value = self.plus(base, offset).and_then(word);
                self.set(to, value);
            }
            Effect::LoadPair { to: [a, b], base, offset } => {
                let [first, second] = [offset, offset.wrapping_add(8)].map(|at| self.plus(base, at));
                let values = [first.and_then(&mut *word), second.and_then(word)];
                self.set(a, values[0]);
                self.set(b, values[1]);
            }
            Effect::Write { to } | Effect::Combine { to, .. } => self.set(to, None),
            Effect::Unknown => *self = Self::default(),
        }
    }
}
