//! Checks the results of the measuring loops against plain code. A wrong loop is not measured,
//! because its speed would be meaningless.

use super::arena::Arena;
use crate::error::Result;
use crate::sys::bench::{Accumulators, Arithmetic, Block, Copier, Factors, Form, Numbers, Reader, copiers};

/// Rounds of a check: few enough that all sums are exact in 16-bit floats.
const ROUNDS: u32 = 3;

/// Factors for a loop: small numbers whose products and sums are exact and fit their types.
#[must_use]
pub(super) fn factors(arithmetic: &Arithmetic) -> Factors {
    let mut factors = Factors([[0; 64]; 2]);
    for (f, bytes) in (0u32..).zip(&mut factors.0) {
        for lane in 0..64u32 {
            // 1 to 7 and 1 to 5, in different orders. For integers, one factor is negative in
            // places.
            let value = 1 + (lane * 3 + f) % (7 - 2 * f);
            let at = lane as usize;
            match arithmetic.numbers {
                Numbers::Int8 if f == 1 && lane % 3 == 0 => bytes[at] = (value as u8).wrapping_neg(),
                Numbers::Int8 => bytes[at] = value as u8,
                Numbers::F32 if at < 16 => {
                    bytes[at * 4..][..4].copy_from_slice(&(value as f32).to_le_bytes())
                }
                Numbers::F16 if at < 32 => bytes[at * 2..][..2].copy_from_slice(&half(value).to_le_bytes()),
                _ => {}
            }
        }
    }
    factors
}

/// Whether each accumulator of a loop equals the result of plain code.
#[must_use]
pub(super) fn multiplies(arithmetic: &Arithmetic) -> bool {
    let factors = factors(arithmetic);
    let mut got = Accumulators::default();
    arithmetic.run(ROUNDS, &factors, &mut got);
    let lanes = lanes(arithmetic, &factors);
    let (used, rest) = got.0.split_at(arithmetic.accumulators * arithmetic.width);
    used.chunks(arithmetic.width).all(|a| a == lanes) && rest.iter().all(|b| *b == 0)
}

/// An accumulator after [`ROUNDS`] rounds, by plain code.
fn lanes(arithmetic: &Arithmetic, factors: &Factors) -> Vec<u8> {
    let [a, b] = &factors.0;
    let int = |i: usize, j: usize| i32::from(a[i].cast_signed()) * i32::from(b[j].cast_signed());
    let rounds = ROUNDS.cast_signed();
    let ints = |of: &dyn Fn(usize) -> i32| {
        (0..arithmetic.width / 4).flat_map(|lane| (of(lane) * rounds).to_le_bytes()).collect()
    };
    let value = |bytes: &[u8; 64], lane: usize| match arithmetic.numbers {
        Numbers::F16 => whole(u16::from_le_bytes([bytes[lane * 2], bytes[lane * 2 + 1]])),
        _ => f32::from_le_bytes(std::array::from_fn(|i| bytes[lane * 4 + i])) as u32,
    };
    let product = |lane: usize| value(a, lane) * value(b, lane) * ROUNDS;
    match arithmetic.form {
        Form::Dot => ints(&|lane| (lane * 4..lane * 4 + 4).map(|i| int(i, i)).sum()),
        Form::Pairs => ints(&|lane| {
            [2 * lane, 2 * lane + 1, 2 * lane + 8, 2 * lane + 9].iter().map(|i| int(*i, *i)).sum()
        }),
        Form::Matrix => ints(&|lane| (0..8).map(|k| int(lane / 2 * 8 + k, lane % 2 * 8 + k)).sum()),
        Form::Lanes => {
            (0..arithmetic.width / 4).flat_map(|lane| (product(lane) as f32).to_le_bytes()).collect()
        }
        Form::HalfLanes => {
            (0..arithmetic.width / 2).flat_map(|lane| half(product(lane)).to_le_bytes()).collect()
        }
    }
}

/// An integer from 1 to 2048 as a 16-bit float (IEEE 754 binary16: 5 bits of exponent with bias 15,
/// 10 of fraction).
fn half(value: u32) -> u16 {
    let exponent = value.max(1).ilog2();
    ((exponent + 15) << 10 | ((value << 10 >> exponent) & 0x3ff)) as u16
}

/// The integer of a 16-bit float from [`half`].
fn whole(bits: u16) -> u32 {
    let exponent = (u32::from(bits) >> 10).saturating_sub(15);
    (1 << 10 | u32::from(bits) & 0x3ff) << exponent >> 10
}

/// Memory for checking the loops: some blocks.
const CHECKED_BYTES: u64 = 64 << 10;

/// Whether the loop reads each word of memory once.
///
/// # Errors If there is no memory for the check.
pub(super) fn reads(reader: Reader) -> Result<bool> {
    let mut arena = Arena::new(CHECKED_BYTES, || false)?;
    let parts = arena.parts(1, CHECKED_BYTES);
    let memory: &[Block] = &parts[0][..7];
    let plain = |blocks: &[Block]| blocks.iter().flat_map(|b| b.0).fold(0, u64::wrapping_add);
    Ok([1, 2, 7].iter().all(|n| reader.read(&memory[..*n]) == plain(&memory[..*n])))
}

/// Whether all copy loops are correct.
///
/// # Errors If there is no memory for the check.
pub(super) fn all_copy() -> Result<bool> {
    for copier in copiers() {
        if !copies(copier)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the loop copies each word and nothing after the last one.
///
/// # Errors If there is no memory for the check.
fn copies(copier: &Copier) -> Result<bool> {
    let mut arena = Arena::new(CHECKED_BYTES, || false)?;
    let mut parts = arena.parts(1, CHECKED_BYTES);
    let (to, from) = parts[0].split_at_mut(8);
    let last = to[7].clone();
    copier.copy(&mut to[..7], &from[..7]);
    Ok(to[..7] == from[..7] && to[7] == last)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;
    use crate::sys::bench::{arithmetic, reader};

    #[test]
    fn every_loop_computes_what_plain_code_does() {
        for a in arithmetic() {
            assert!(multiplies(&a), "{a:?}");
        }
        for numbers in [Numbers::Int8, Numbers::F32, Numbers::F16] {
            // Every arm64 has loops for all kinds; on x86-64 they need AVX2.
            let some = arithmetic().iter().any(|a| a.numbers == numbers);
            assert!(some || cfg!(target_arch = "x86_64"), "{numbers:?}");
        }
        assert!(reads(reader()).unwrap());
        assert!(all_copy().unwrap());
    }

    #[test]
    fn a_loop_that_leaves_something_out_is_found() {
        for a in arithmetic() {
            let mut fewer = a;
            fewer.accumulators -= 1;
            assert!(!multiplies(&fewer), "{a:?}");
            let mut other = a;
            other.form = if a.form == Form::Dot { Form::Pairs } else { Form::Dot };
            assert!(!multiplies(&other), "{a:?}");
        }
    }

    #[test]
    fn half_floats() {
        for (value, bits) in [(1, 0x3c00), (2, 0x4000), (3, 0x4200), (105, 0x5690), (2048, 0x6800)] {
            assert_eq!((half(value), whole(bits)), (bits, value));
        }
        assert!((1..=2048).all(|v| whole(half(v)) == v));
    }
}
