//! Int8, F32 and F16: multiplications and additions per second on numbers that are already in
//! registers.

use super::workers::{self, Pace};
use crate::error::Result;
use crate::sys::bench::{Accumulators, Arithmetic};

use super::check;

/// Rounds between two readings of the clock: about 10 µs, and some ms on an emulator.
const ROUNDS: u32 = 2_000;

/// Operations per second, for each repetition.
///
/// # Errors
/// See [`workers::run`].
pub(super) fn measure(arithmetic: &Arithmetic, cpus: &[u32], pace: Pace) -> Result<Vec<u64>> {
    let factors = check::factors(arithmetic);
    let states = vec![Accumulators::default(); cpus.len()];
    workers::rates(cpus, states, pace, |to| {
        arithmetic.run(ROUNDS, &factors, to);
        u64::from(ROUNDS) * arithmetic.ops_per_round()
    })
}
