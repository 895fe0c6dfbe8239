//! Searches all code of a file with masks over its bytes. Decoding every instruction would take
//! minutes on a board.
//!
//! Promises: it misses nothing in the forms that compilers generate. A hit is only a candidate,
//! because it may be inside another instruction. [`Function`](super::function::Function) confirms
//! that an instruction starts there.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use super::instruction::Flow;
use crate::file::elf::{Image, Machine};

/// Longest distance from the read of a field to the jump through a table, in bytes of x86-64 code.
const WINDOW: usize = 160;
/// The same in instructions, on both.
pub(crate) const FARTHEST_JUMP: usize = 32;

/// The windows of `length` bytes at every address of `bytes`, which begin at `start`.
fn windows(start: u64, bytes: &[u8], length: usize) -> impl Iterator<Item = (u64, &[u8])> {
    (start..).zip(bytes.windows(length))
}

/// The instructions of arm64 code that begins at `start`.
fn words(start: u64, bytes: &[u8]) -> impl Iterator<Item = (u64, u32)> {
    (start..).step_by(4).zip(bytes.chunks_exact(4).map(word))
}

fn word(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

/// Target of a 32-bit displacement at the end of an x86-64 instruction at `at`, after `before`
/// bytes of it.
fn relative(at: u64, window: &[u8], before: usize) -> u64 {
    let by = word(&window[before..before + 4]).cast_signed();
    at.wrapping_add(before as u64 + 4).wrapping_add_signed(by.into())
}

/// Passes every call of an address, or through a pointer at one, to `found`: its address and
/// control flow.
pub(crate) fn calls(image: &Image<'_>, mut found: impl FnMut(u64, Flow)) {
    for (start, bytes) in image.code() {
        match image.machine {
            Machine::X86_64 => {
                for (at, window) in windows(start, bytes, 6) {
                    match *window {
                        [0xe8, ..] => found(at, Flow::Call(relative(at, window, 1))),
                        [0xff, 0x15, ..] => found(at, Flow::CallSlot(relative(at, window, 2))),
                        _ => {}
                    }
                }
            }
            Machine::Arm64 => {
                for (at, word) in words(start, bytes) {
                    if word & 0xfc00_0000 == 0x9400_0000 {
                        // `bl`: 26 bits, in words.
                        let by = i64::from((word << 6).cast_signed() >> 4);
                        found(at, Flow::Call(at.wrapping_add_signed(by)));
                    }
                }
            }
        }
    }
}

/// Instructions that may compute one of the addresses.
pub(crate) fn references(image: &Image<'_>, targets: &BTreeSet<u64>) -> Vec<u64> {
    let mut found = Vec::new();
    for (start, bytes) in image.code() {
        match image.machine {
            Machine::X86_64 => references_x86(image.fixed, start, bytes, targets, &mut found),
            Machine::Arm64 => references_arm64(start, bytes, targets, &mut found),
        }
    }
    found
}

/// `lea target(%rip),%reg`, and in programs at a fixed address `mov $target,%reg`.
fn references_x86(fixed: bool, start: u64, bytes: &[u8], targets: &BTreeSet<u64>, found: &mut Vec<u64>) {
    for (at, window) in windows(start, bytes, 7) {
        let absolute = |from: usize| u64::from(word(&window[from..from + 4]));
        let target = match *window {
            [0x48 | 0x4c, 0x8d, modrm, ..] if modrm & 0xc7 == 5 => relative(at, window, 3),
            [0x41, 0xb8..=0xbf, ..] if fixed => absolute(2),
            [0xb8..=0xbf, ..] if fixed => absolute(1),
            _ => continue,
        };
        found.extend(targets.contains(&target).then_some(at));
    }
}

/// `adr`, or the `add` of the lower 12 bits after an `adrp`.
fn references_arm64(start: u64, bytes: &[u8], targets: &BTreeSet<u64>, found: &mut Vec<u64>) {
    let low: BTreeSet<u32> = targets.iter().map(|t| (*t & 0xfff) as u32).collect();
    for (at, word) in words(start, bytes) {
        let adds = word & 0xffc0_0000 == 0x9100_0000 && low.contains(&(word >> 10 & 0xfff));
        if adds || word & 0x9f00_0000 == 0x1000_0000 {
            found.push(at);
        }
    }
}

/// Jumps and branches into the range from outside.
pub(crate) fn jumps_into(image: &Image<'_>, range: &Range<u64>) -> Vec<u64> {
    let mut found = Vec::new();
    let mut add = |at: u64, target: u64| {
        found.extend((range.contains(&target) && !range.contains(&at)).then_some(at));
    };
    for (start, bytes) in image.code() {
        match image.machine {
            Machine::X86_64 => {
                for (at, window) in windows(start, bytes, 6) {
                    match *window {
                        [0xe9, ..] => add(at, relative(at, window, 1)),
                        [0x0f, 0x80..=0x8f, ..] => add(at, relative(at, window, 2)),
                        _ => {}
                    }
                }
            }
            Machine::Arm64 => {
                for (at, word) in words(start, bytes) {
                    // Offsets in words: `b`, then `b.cond`, `cbz` and `cbnz`, then `tbz` and
                    // `tbnz`.
                    let by = if word & 0xfc00_0000 == 0x1400_0000 {
                        (word << 6).cast_signed() >> 4
                    } else if word & 0xff00_0010 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
                        (word >> 5 << 13).cast_signed() >> 11
                    } else if word & 0x7e00_0000 == 0x3600_0000 {
                        (word >> 5 << 18).cast_signed() >> 16
                    } else {
                        continue;
                    };
                    add(at, at.wrapping_add_signed(by.into()));
                }
            }
        }
    }
    found
}

/// Jumps and branches with an 8-bit displacement into the range from outside: `jmp`, `jcc`, `loop`,
/// `jrcxz`. None on arm64.
pub(crate) fn short_jumps_into(image: &Image<'_>, range: &Range<u64>) -> Vec<u64> {
    if image.machine != Machine::X86_64 {
        return Vec::new();
    }
    // The reach of 8 bits.
    let near = range.start.saturating_sub(130)..range.end.saturating_add(128);
    let jump = |at: &u64| match image.bytes(*at, 2) {
        Some(&[0xeb | 0x70..=0x7f | 0xe0..=0xe3, by]) => {
            range.contains(&at.wrapping_add(2).wrapping_add_signed(by.cast_signed().into()))
        }
        _ => false,
    };
    near.filter(|at| !range.contains(at)).filter(jump).collect()
}

/// Reads of a 32-bit field at this offset with a jump through a register soon after. On x86-64 also
/// a byte in between that may be one of the bounds of the comparison.
pub(crate) fn switches(image: &Image<'_>, field: u32, bounds: &RangeInclusive<u64>) -> Vec<u64> {
    let mut found = Vec::new();
    for (start, bytes) in image.code() {
        match image.machine {
            Machine::X86_64 => {
                let Ok(field) = u8::try_from(field) else { return found };
                for (at, window) in windows(start, bytes, WINDOW) {
                    // mov field(%reg),%reg or cmpl $bound,field(%reg), with one byte more for %r12
                    let reads = matches!(window[0], 0x8b | 0x83)
                        && (0x40..0x80).contains(&window[1])
                        && (window[2] == field || window[1] & 7 == 4 && window[3] == field);
                    let bound = |b: &u8| bounds.contains(&(*b).into());
                    if reads
                        && window.iter().any(bound)
                        && window.windows(2).any(|w| w[0] == 0xff && w[1] & 0xf8 == 0xe0)
                    {
                        found.push(at);
                    }
                }
            }
            Machine::Arm64 => {
                let load = 0xb940_0000 | ((field / 4) << 10);
                // ldr w, [x, #field] … br x
                for (at, window) in windows(start, bytes, FARTHEST_JUMP * 4).step_by(4) {
                    let jumps = |bytes: &[u8]| word(bytes) & 0xffff_fc1f == 0xd61f_0000;
                    if word(&window[..4]) & 0xffff_fc00 == load && window.chunks_exact(4).any(jumps) {
                        found.push(at);
                    }
                }
            }
        }
    }
    found
}
