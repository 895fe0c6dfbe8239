//! The usual value of a number, which writer and reader learn from earlier ones.
//!
//! A number is written as its difference from the running mean, in a code for differences as large
//! as the recent ones (see [`crate::bits`]). Differences wrap, so every `u64` can follow any other.
//! There is no division and no floating point: the agent does this for every operator of an engine
//! that it must not slow down.
//!
//! A difference moves the mean by half of it. It counts as at most sixteen usual ones: one
//! preempted operator is no reason to expect differences of its size.

use crate::bits::{MAX_ORDER, Reader, Writer};
use crate::varint::{unzigzag, zigzag};

/// The running mean of a number and of its differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usual {
    mean: u64,
    /// Running mean of the zigzag-coded differences, in quarters, so that small ones are not
    /// rounded away; 0 before the first number.
    spread: u64,
}

/// Largest difference that is learnt. The code of a larger difference has the same length in any
/// case.
const MAX_LEARNT: u64 = 1 << MAX_ORDER;

impl Usual {
    /// Before the first number.
    pub(crate) const UNKNOWN: Self = Self { mean: 0, spread: 0 };

    /// A number was seen.
    #[inline]
    pub(crate) const fn known(self) -> bool {
        self.spread != 0
    }

    /// The order of the code for the next difference: one bit less than the usual difference has.
    #[inline]
    const fn order(self) -> u32 {
        (self.spread | 4).ilog2() - 2
    }

    /// Learns the first number. An eighth of it is as good a guess of the differences as any.
    fn first(&mut self, value: u64) {
        self.mean = value;
        self.spread = ((value >> 3).min(MAX_LEARNT >> 12) + 1) << 2;
    }

    #[inline]
    fn learn(&mut self, difference: i64, coded: u64) {
        self.mean = self.mean.wrapping_add((difference >> 1).cast_unsigned());
        self.spread = self.spread - (self.spread >> 2) + coded.min(4 * self.spread + 64).min(MAX_LEARNT);
    }
}

/// Usual size of numbers about which nothing is known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cold(u64);

impl Default for Cold {
    /// A microsecond, the usual length of a small operator: 1024 ns.
    fn default() -> Self {
        Self(1 << 10)
    }
}

impl Cold {
    const fn order(self) -> u32 {
        (self.0 | 1).ilog2()
    }

    fn learn(&mut self, value: u64) {
        self.0 = self.0 - (self.0 >> 2) + (value.min(MAX_LEARNT) >> 2);
    }
}

/// Writes a number by its usual value, or by the size of other numbers.
#[inline]
pub(crate) fn put(value: u64, usual: &mut Usual, cold: &mut Cold, to: &mut Writer, buf: &mut [u8]) {
    if usual.known() {
        let difference = value.wrapping_sub(usual.mean).cast_signed();
        let coded = zigzag(difference);
        to.number(coded, usual.order(), buf);
        usual.learn(difference, coded);
    } else {
        to.number(value, cold.order(), buf);
        cold.learn(value);
        usual.first(value);
    }
}

/// Reads a number that [`put`] wrote.
#[inline]
pub(crate) fn take(usual: &mut Usual, cold: &mut Cold, from: &mut Reader<'_>) -> Option<u64> {
    if usual.known() {
        let coded = from.number(usual.order())?;
        return Some(taken(coded, usual));
    }
    let value = from.number(cold.order())?;
    cold.learn(value);
    usual.first(value);
    Some(value)
}

#[inline]
fn taken(coded: u64, usual: &mut Usual) -> u64 {
    let difference = unzigzag(coded);
    let value = usual.mean.wrapping_add(difference.cast_unsigned());
    usual.learn(difference, coded);
    value
}

/// Writes a known number where an escape is possible.
#[inline]
pub(crate) fn put_or_escape(value: u64, usual: &mut Usual, to: &mut Writer, buf: &mut [u8]) {
    let difference = value.wrapping_sub(usual.mean).cast_signed();
    let coded = zigzag(difference);
    to.number_or_escape(coded, usual.order(), buf);
    usual.learn(difference, coded);
}

/// Reads it; `Some(None)` for an escape.
#[inline]
pub(crate) fn take_or_escape(usual: &mut Usual, from: &mut Reader<'_>) -> Option<Option<u64>> {
    Some(from.number_or_escape(usual.order())?.map(|coded| taken(coded, usual)))
}
