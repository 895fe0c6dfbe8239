//! Where a jump through a table goes, read from the table.
//!
//! Stage: before attaching. From: a jump and the code before it. To: the blocks of the function that it may go to, from
//! which [`paths`](crate::symbols::paths) makes its graph. Promises: on x86-64 only, and only where the table's address stands in the
//! code right before the jump; the table may be read too far, and what it leaves out is for the caller to find.

use super::decode::effect;
use super::function::Function;
use super::instruction::{Effect, Flow};
use crate::file::elf::{Image, Machine};

/// How far before the jump the table's address is, in instructions.
const FARTHEST: usize = 8;
/// Longest table that is believed; a switch over the operators has one hundred entries.
const MOST: u64 = 512;

/// Indexes of the instructions that the jump at `jump` may go to.
pub(crate) fn targets(image: &Image<'_>, body: &Function, jump: usize) -> Option<Vec<usize>> {
    // lea table(%rip),%rcx … movslq (%rcx,%rax,4),%rax; add %rcx,%rax; jmp *%rax. Other sets have many forms of it.
    if image.machine != Machine::X86_64 {
        return None;
    }
    let table = address(image, body, jump)?;
    let entry = |n: u64| {
        let bytes = image.bytes(table.checked_add(4 * n)?, 4)?;
        let by = i32::from_le_bytes(bytes.try_into().ok()?);
        body.index(table.wrapping_add_signed(by.into()))
    };
    let mut targets: Vec<usize> = (0..MOST).map_while(entry).collect();
    if targets.len() < 2 {
        return None;
    }
    targets.sort_unstable();
    targets.dedup();
    Some(targets)
}

/// Address of the table: the nearest constant before the jump.
fn address(image: &Image<'_>, body: &Function, jump: usize) -> Option<u64> {
    for index in (jump.saturating_sub(FARTHEST)..jump).rev() {
        let instruction = body.code.get(index)?;
        if !matches!(instruction.flow, Flow::Next | Flow::Branch(_)) {
            return None;
        }
        if let Effect::Constant { value, .. } = effect(image, instruction) {
            return Some(value);
        }
        // Reached from elsewhere, with another table perhaps.
        if body.is_target(instruction.address) {
            return None;
        }
    }
    None
}
