//! Which functions refer to which texts, in files that name nothing.
//!
//! Stage: before attaching. From: machine code and addresses of data. To: the functions whose code makes those addresses.
//! Promises: an instruction that makes the address exists there, as decoded from the beginning of the function around it by
//! the unwind tables. What compilers put elsewhere because it is hardly ever run (`.cold`) counts for the function that jumps
//! there, if only one does.

use std::collections::{BTreeMap, BTreeSet};

use super::body::Body;
use super::calls::Calls;
use super::code::{self, Effect, Flow};
use super::elf::{Image, Machine};
use super::frames;

/// How far before the lower half of an address on arm64 its upper half is made, in instructions.
const FARTHEST: usize = 64;

/// An instruction behind which a register holds an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reference {
    /// Address of the instruction.
    pub(crate) site: u64,
    /// What it refers to.
    pub(crate) target: u64,
    /// Start of the piece of code around it that has an entry of its own in the unwind tables.
    pub(crate) part: u64,
}

/// All references to the targets.
pub(crate) fn to(image: &Image<'_>, targets: &BTreeSet<u64>) -> Vec<Reference> {
    let mut sites = Vec::new();
    for (start, bytes) in image.code() {
        match image.machine {
            Machine::X86_64 => sites_x86(image.fixed, start, bytes, targets, &mut sites),
            Machine::Arm64 => sites_arm64(start, bytes, targets, &mut sites),
        }
    }
    let mut bodies: BTreeMap<u64, Option<Body>> = BTreeMap::new();
    let mut found = Vec::new();
    for site in sites {
        let Some((part, _)) = frames::function_around(image, site) else { continue };
        let body = bodies.entry(part).or_insert_with(|| Body::around(image, site));
        let made = body.as_ref().and_then(|body| made_at(image, body, site));
        found.extend(made.filter(|target| targets.contains(target)).map(|target| Reference {
            site,
            target,
            part,
        }));
    }
    found
}

/// `lea target(%rip),%reg`, and in programs at a fixed address `mov $target,%reg`.
fn sites_x86(fixed: bool, start: u64, bytes: &[u8], targets: &BTreeSet<u64>, found: &mut Vec<u64>) {
    for (at, window) in (start..).zip(bytes.windows(7)) {
        let word = |from: usize| window[from..from + 4].try_into().map_or(0, i32::from_le_bytes);
        match *window {
            [0x48 | 0x4c, 0x8d, modrm, ..] if modrm & 0xc7 == 5 => {
                let target = at.wrapping_add(7).wrapping_add_signed(word(3).into());
                found.extend(targets.contains(&target).then_some(at));
            }
            [0x41, 0xb8..=0xbf, ..] if fixed => {
                found.extend(targets.contains(&u64::from(word(2).cast_unsigned())).then_some(at));
            }
            [0xb8..=0xbf, ..] if fixed => {
                found.extend(targets.contains(&u64::from(word(1).cast_unsigned())).then_some(at));
            }
            _ => {}
        }
    }
}

/// `adr`, or the `add` of the lower 12 bits behind an `adrp`.
fn sites_arm64(start: u64, bytes: &[u8], targets: &BTreeSet<u64>, found: &mut Vec<u64>) {
    let low: BTreeSet<u32> = targets.iter().map(|t| (*t & 0xfff) as u32).collect();
    for (at, word) in (start..).step_by(4).zip(bytes.chunks_exact(4)) {
        let word = word.try_into().map_or(0, u32::from_le_bytes);
        let adds = word & 0xffc0_0000 == 0x9100_0000 && low.contains(&(word >> 10 & 0xfff));
        if adds || word & 0x9f00_0000 == 0x1000_0000 {
            found.push(at);
        }
    }
}

/// The address that the instruction at `site` makes.
pub(crate) fn made_at(image: &Image<'_>, body: &Body, site: u64) -> Option<u64> {
    let index = body.index(site)?;
    match code::effect(image, &body.code[index]) {
        Effect::Constant { value, .. } => Some(value),
        Effect::Add { from, add, .. } => {
            let before = body.code[..index].iter().rev().take(FARTHEST);
            let written = before.map(|i| code::effect(image, i)).find(|effect| effect.may_write(from))?;
            match written {
                Effect::Constant { value, .. } => Some(value.wrapping_add_signed(add)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The start of the function that a piece of code belongs to: of itself if something calls it or points to it, else of the only
/// one that jumps to it.
pub(crate) fn owner(calls: &Calls<'_, '_>, part: u64) -> Option<u64> {
    let image = calls.image;
    let (start, end) = frames::function_around(image, part)?;
    let called = calls.callers(start).into_iter().any(|site| {
        Body::around(image, site).is_some_and(|b| b.at(site).is_some_and(|i| i.flow == Flow::Call(start)))
    });
    if called || calls.relocations().pointers().any(|(_, target)| target == start) {
        return Some(start);
    }
    let mut owners = BTreeSet::new();
    for site in jumps_into(image, start, end) {
        let Some(body) = Body::around(image, site) else { continue };
        let goes = body.at(site).is_some_and(
            |i| matches!(i.flow, Flow::Jump(to) | Flow::Branch(to) if (start..end).contains(&to)),
        );
        owners.extend((goes && body.start != start).then_some(body.start));
    }
    match owners.len() {
        0 => Some(start),
        1 => owners.pop_first(),
        _ => None,
    }
}

/// Places that look like a jump into the range from outside.
fn jumps_into(image: &Image<'_>, start: u64, end: u64) -> Vec<u64> {
    let range = start..end;
    let mut found = Vec::new();
    for (address, bytes) in image.code() {
        match image.machine {
            Machine::X86_64 => {
                for (at, window) in (address..).zip(bytes.windows(6)) {
                    let to = |from: usize| {
                        let by = window[from..from + 4].try_into().map_or(0, i32::from_le_bytes);
                        at.wrapping_add(from as u64 + 4).wrapping_add_signed(by.into())
                    };
                    let target = match *window {
                        [0xe9, ..] => to(1),
                        [0x0f, 0x80..=0x8f, ..] => to(2),
                        _ => continue,
                    };
                    found.extend((range.contains(&target) && !range.contains(&at)).then_some(at));
                }
            }
            Machine::Arm64 => {
                for (at, word) in (address..).step_by(4).zip(bytes.chunks_exact(4)) {
                    let word = word.try_into().map_or(0, u32::from_le_bytes);
                    // Offsets in words: `b`, then `b.cond`, `cbz` and `cbnz`, then `tbz` and `tbnz`.
                    let by = if word & 0xfc00_0000 == 0x1400_0000 {
                        (word << 6).cast_signed() >> 4
                    } else if word & 0xff00_0010 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
                        (word >> 5 << 13).cast_signed() >> 11
                    } else if word & 0x7e00_0000 == 0x3600_0000 {
                        (word >> 5 << 18).cast_signed() >> 16
                    } else {
                        continue;
                    };
                    let target = at.wrapping_add_signed(by.into());
                    found.extend((range.contains(&target) && !range.contains(&at)).then_some(at));
                }
            }
        }
    }
    found
}
