//! What a number usually is, learnt from those before it, by the writer and the reader alike.
//!
//! A number is written as its difference to the running mean, in a code for differences as large as the last ones were (see
//! [`crate::bits`]). Differences wrap, so every `u64` can be written after any other. There is no division and no floating
//! point: an agent does this for every operator of an engine that it must not slow down.
//!
//! A difference moves the mean by half of it, but by no more than half the usual difference, and it counts as at most sixteen
//! usual ones: one preempted operator is no reason to expect the next.

use crate::bits::{MAX_ORDER, Reader, Writer};
use crate::varint::{unzigzag, zigzag};

/// Differences count in quarters in `spread`, so that the mean of small ones is not rounded away.
const QUARTERS: u32 = 2;
/// Largest mean; a larger number is expected to be this.
const MAX_MEAN: u32 = 1 << 31;

/// The running mean of a number and of its differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usual {
    mean: u32,
    /// Running mean of the zigzag-coded differences, in quarters; 0 before the first number.
    spread: u32,
}

impl Usual {
    /// Before the first number.
    pub(crate) const UNKNOWN: Self = Self { mean: 0, spread: 0 };

    /// A number was seen.
    pub(crate) const fn known(self) -> bool {
        self.spread != 0
    }

    /// The order of the code in which the next difference is written.
    const fn order(self) -> u32 {
        let spread = self.spread >> QUARTERS;
        (u32::BITS - spread.leading_zeros()).saturating_sub(1)
    }

    const fn difference(self, value: u64) -> u64 {
        zigzag(value.wrapping_sub(self.mean as u64).cast_signed())
    }

    const fn value(self, difference: u64) -> u64 {
        (self.mean as u64).wrapping_add(unzigzag(difference).cast_unsigned())
    }

    /// Learns the first number: an eighth of it is as good a guess of the differences as any.
    fn first(&mut self, value: u64) {
        self.mean = clamp(value, MAX_MEAN);
        self.spread = ((self.mean >> 3).min(1 << 20) + 1) << QUARTERS;
    }

    fn learn(&mut self, difference: u64) {
        let spread = self.spread >> QUARTERS;
        let step = clamp(difference >> 1, spread.max(2)) >> 1;
        self.mean = match difference & 1 {
            0 => (self.mean + step).min(MAX_MEAN),
            _ => self.mean.saturating_sub(step),
        };
        let counted = clamp(difference, spread.saturating_mul(16).saturating_add(64).min(MAX_SPREAD));
        self.spread = self.spread - (self.spread >> 2) + counted;
    }
}

/// Largest mean difference, so that no sum of two overflows.
const MAX_SPREAD: u32 = 1 << 28;

fn clamp(value: u64, most: u32) -> u32 {
    u32::try_from(value).map_or(most, |v| v.min(most))
}

/// Numbers of which nothing is known yet: their usual size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cold(u32);

impl Default for Cold {
    /// A microsecond, the usual length of a small operator: 1024 ns.
    fn default() -> Self {
        Self(1 << 10)
    }
}

impl Cold {
    const fn order(self) -> u32 {
        (u32::BITS - self.0.leading_zeros()).saturating_sub(1)
    }

    fn learn(&mut self, value: u64) {
        self.0 = self.0 - (self.0 >> 2) + (clamp(value, MAX_MEAN) >> 2);
    }
}

/// Writes a number by what is usual, or else by the size of others.
pub(crate) fn put(value: u64, usual: &mut Usual, cold: &mut Cold, to: &mut Writer, buf: &mut [u8]) {
    if usual.known() {
        let difference = usual.difference(value);
        to.number(difference, usual.order(), buf);
        usual.learn(difference);
    } else {
        to.number(value, cold.order(), buf);
        cold.learn(value);
        usual.first(value);
    }
}

/// Takes a number that [`put`] wrote.
pub(crate) fn take(usual: &mut Usual, cold: &mut Cold, from: &mut Reader<'_>) -> Option<u64> {
    if usual.known() {
        let difference = from.number(usual.order())?;
        let value = usual.value(difference);
        usual.learn(difference);
        return Some(value);
    }
    let value = from.number(cold.order())?;
    cold.learn(value);
    usual.first(value);
    Some(value)
}

/// Writes a number that is known, where an escape may be.
pub(crate) fn put_or_escape(value: u64, usual: &mut Usual, to: &mut Writer, buf: &mut [u8]) {
    let difference = usual.difference(value);
    to.number_or_escape(difference, usual.order(), buf);
    usual.learn(difference);
}

/// Takes it; `Some(None)` for an escape.
pub(crate) fn take_or_escape(usual: &mut Usual, from: &mut Reader<'_>) -> Option<Option<u64>> {
    let Some(difference) = from.number_or_escape(usual.order())? else { return Some(None) };
    let value = usual.value(difference);
    usual.learn(difference);
    Some(Some(value))
}

const _: () = assert!(MAX_MEAN.ilog2() <= MAX_ORDER && MAX_SPREAD.ilog2() <= MAX_ORDER);
