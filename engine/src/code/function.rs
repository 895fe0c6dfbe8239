//! One function's instructions, and how control moves between them.

use std::collections::BTreeMap;

use super::decode::{decode, effect};
use super::instruction::{Effect, Flow, Instruction};
use crate::file::elf::Image;
use crate::file::unwind;

/// Longest function that is decoded, in bytes; the largest dispatcher seen has 8 KiB.
const LONGEST: u64 = 1 << 20;

/// Search length for the upper half of an address on arm64 before its lower half, in instructions.
const FARTHEST_UPPER_HALF: usize = 64;

/// A decoded function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) start: u64,
    pub(crate) code: Vec<Instruction>,
    /// Number of direct jumps and branches to each address.
    entered: BTreeMap<u64, u32>,
}

impl Function {
    /// The function around an address.
    pub(crate) fn around(image: &Image<'_>, address: u64) -> Option<Self> {
        let (start, end) = unwind::function_around(image, address)?;
        (end - start <= LONGEST).then(|| Self::new(image, start, end))
    }

    pub(crate) fn new(image: &Image<'_>, start: u64, end: u64) -> Self {
        let code = decode(image, start, end);
        let mut entered = BTreeMap::new();
        for instruction in &code {
            if let Flow::Jump(to) | Flow::Branch(to) = instruction.flow {
                *entered.entry(to).or_insert(0) += 1;
            }
        }
        Self { start, code, entered }
    }

    /// Index of the instruction that starts at the address.
    pub(crate) fn index(&self, address: u64) -> Option<usize> {
        self.code.binary_search_by_key(&address, |i| i.address).ok()
    }

    /// The instruction that starts at the address.
    pub(crate) fn at(&self, address: u64) -> Option<&Instruction> {
        self.code.get(self.index(address)?)
    }

    /// Whether a direct jump or branch goes to the address.
    pub(crate) fn is_target(&self, address: u64) -> bool {
        self.entered.contains_key(&address)
    }

    /// Number of direct jumps and branches to the address.
    pub(crate) fn jumps_to(&self, address: u64) -> u32 {
        self.entered.get(&address).copied().unwrap_or(0)
    }

    /// Addresses with the number of direct jumps to them. A jump to an unconditional jump counts
    /// for the latter's target.
    pub(crate) fn destinations(&self) -> BTreeMap<u64, u32> {
        let mut counts = BTreeMap::new();
        for (&address, &count) in &self.entered {
            if self.index(address).is_some() {
                *counts.entry(self.settle(address)).or_insert(0) += count;
            }
        }
        counts
    }

    /// The final target of control that goes to the address, through unconditional jumps.
    pub(crate) fn settle(&self, mut address: u64) -> u64 {
        for _ in 0..8 {
            match self.at(address).map(|i| i.flow) {
                Some(Flow::Jump(to)) if self.index(to).is_some() => address = to,
                _ => break,
            }
        }
        address
    }

    /// The address with most jumps to it, and their number.
    pub(crate) fn join(&self) -> Option<(u64, u32)> {
        self.destinations().into_iter().max_by_key(|(_, count)| *count)
    }

    /// The two continuations of the first conditional branch after the call with this index.
    pub(crate) fn decision(&self, call: usize) -> Option<[u64; 2]> {
        for instruction in self.code.iter().skip(call + 1).take(8) {
            match instruction.flow {
                Flow::Next => {}
                Flow::Branch(to) => return Some([to, instruction.next()]),
                _ => return None,
            }
        }
        None
    }

    /// Addresses that control passes in order from one address on, without a choice and without a
    /// call.
    pub(crate) fn straight(&self, from: u64) -> Vec<u64> {
        let mut passed = Vec::new();
        let mut at = from;
        for _ in 0..16 {
            let Some(instruction) = self.at(at) else { break };
            passed.push(at);
            at = match instruction.flow {
                Flow::Next => instruction.next(),
                Flow::Jump(target) => target,
                _ => break,
            };
        }
        passed
    }

    /// The address that the instruction at `site` computes.
    pub(crate) fn made_at(&self, image: &Image<'_>, site: u64) -> Option<u64> {
        let index = self.index(site)?;
        match effect(image, &self.code[index]) {
            Effect::Constant { value, .. } => Some(value),
            Effect::Add { from, add, .. } => {
                let before = self.code[..index].iter().rev().take(FARTHEST_UPPER_HALF);
                let written = before.map(|i| effect(image, i)).find(|effect| effect.may_write(from))?;
                match written {
                    Effect::Constant { value, .. } => Some(value.wrapping_add_signed(add)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
