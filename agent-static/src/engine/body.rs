//! One function's instructions, and how control moves between them.

use std::collections::BTreeMap;

use super::code::{self, Flow, Instruction};
use super::elf::Image;
use super::frames;

/// Longest function that is looked at; the largest dispatcher seen has 8 KiB.
const LONGEST: u64 = 1 << 20;

/// A decoded function.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) start: u64,
    pub(crate) code: Vec<Instruction>,
    /// Number of direct jumps and branches to each address.
    entered: BTreeMap<u64, u32>,
}

impl Body {
    /// The function around an address.
    pub(crate) fn around(image: &Image<'_>, address: u64) -> Option<Self> {
        let (start, end) = frames::function_around(image, address)?;
        (end - start <= LONGEST).then(|| Self::new(image, start, end))
    }

    pub(crate) fn new(image: &Image<'_>, start: u64, end: u64) -> Self {
        let code = code::decode(image, start, end);
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

    /// Whether some direct jump or branch goes to the address.
    pub(crate) fn is_target(&self, address: u64) -> bool {
        self.entered.contains_key(&address)
    }

    /// Number of direct jumps and branches to the address.
    pub(crate) fn jumps_to(&self, address: u64) -> u32 {
        self.entered.get(&address).copied().unwrap_or(0)
    }

    /// Addresses with the number of direct jumps to them, where a jump to an unconditional jump counts for
    /// where that one goes.
    pub(crate) fn destinations(&self) -> BTreeMap<u64, u32> {
        let mut counts = BTreeMap::new();
        for (&address, &count) in &self.entered {
            if self.index(address).is_some() {
                *counts.entry(self.settle(address)).or_insert(0) += count;
            }
        }
        counts
    }

    /// Where control ends up that goes to the address, past unconditional jumps.
    pub(crate) fn settle(&self, mut address: u64) -> u64 {
        for _ in 0..8 {
            match self.at(address).map(|i| i.flow) {
                Some(Flow::Jump(to)) if self.index(to).is_some() => address = to,
                _ => break,
            }
        }
        address
    }
}
