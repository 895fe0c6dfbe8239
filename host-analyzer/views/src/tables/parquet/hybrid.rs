//! Small numbers in Parquet's hybrid of runs and packed bits.
//!
//! Source: "Run Length Encoding / Bit-Packing Hybrid" in Encodings.md of the Parquet format. A run is
//! its length times two, then the number in full bytes. Packed numbers are their count in eights
//! times two plus one, then the numbers at `width` bits each, the lowest bit first.

/// Numbers per packed group.
const EIGHT: usize = 8;
/// A run is smaller from this many equal groups on.
const RUN: usize = 2;

/// Bits for numbers below `n`.
pub(super) fn width(n: usize) -> u32 {
    usize::BITS - n.saturating_sub(1).leading_zeros()
}

/// Appends numbers of at most `width` bits, `width` at most 32.
pub(super) fn pack(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let (mut packed, mut at) = (0, 0);
    while at < numbers.len() {
        let same = run(&numbers[at..]);
        if same >= RUN * EIGHT {
            pack_bits(&numbers[packed..at], width, out);
            varint((same as u64) << 1, out);
            out.extend_from_slice(&numbers[at].to_le_bytes()[..width.div_ceil(8) as usize]);
            at += same;
            packed = at;
        } else {
            at = (at + EIGHT).min(numbers.len());
        }
    }
    pack_bits(&numbers[packed..], width, out);
}

/// How many of the first numbers are equal: a multiple of eight, or all up to the end.
fn run(numbers: &[u32]) -> usize {
    let first = numbers[0];
    let same = |eight: &&[u32]| eight.iter().all(|n| *n == first);
    let len = numbers.chunks(EIGHT).take_while(same).count() * EIGHT;
    len.min(numbers.len())
}

/// Appends numbers at `width` bits each, padded with zeros to a multiple of eight.
fn pack_bits(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    let eights = numbers.len().div_ceil(EIGHT);
    varint((eights as u64) << 1 | 1, out);
    let end = out.len() + eights * width as usize;
    let (mut bits, mut filled) = (0_u64, 0);
    for number in numbers {
        bits |= u64::from(*number) << filled;
        filled += width;
        if filled >= 32 {
            out.extend_from_slice(&(bits as u32).to_le_bytes());
            bits >>= 32;
            filled -= 32;
        }
    }
    out.extend_from_slice(&bits.to_le_bytes());
    out.resize(end, 0);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(numbers: &[u32], width: u32) -> Vec<u8> {
        let mut out = Vec::new();
        pack(numbers, width, &mut out);
        out
    }

    #[test]
    fn the_example_of_the_format() {
        // Encodings.md: the numbers 0 to 7 at three bits.
        assert_eq!(packed(&[0, 1, 2, 3, 4, 5, 6, 7], 3), [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
    }

    #[test]
    fn runs_and_what_lies_between() {
        assert_eq!(packed(&[5; 100], 3), [200, 1, 5]);
        assert_eq!(packed(&[300; 17], 9), [34, 44, 1]);
        // A single number needs no bits.
        assert_eq!(packed(&[0; 20], 0), [40]);
        let mut mixed = vec![1, 0, 1, 0, 1, 0, 1, 0];
        mixed.extend([1; 19]);
        assert_eq!(packed(&mixed, 1), [3, 0b0101_0101, 38, 1]);
        // A remainder is padded.
        assert_eq!(packed(&[1, 0, 1], 1), [3, 0b101]);
    }

    #[test]
    fn widths() {
        assert_eq!([0, 1, 2, 3, 4, 5, 256, 257].map(width), [0, 0, 1, 2, 2, 3, 8, 9]);
    }
}
