//! Reads the targets of a jump from its table.
//!
//! Stage: before attaching. From: a jump and the code before it. To: the blocks of the function
//! that it may go to, from which [`paths`](crate::symbols::paths) makes its graph. Promises: only
//! on x86-64, and only where the code right before the jump has the table's address. It may read
//! the table too far, and the caller must find what it leaves out. [`whole`] reads the table
//! exactly, or not at all.

use super::decode::{compared, effect, mnemonic};
use super::function::Function;
use super::instruction::{Effect, Flow, Instruction};
use crate::file::elf::{Image, Machine};

/// Search length for the table's address before the jump, in instructions.
const FARTHEST: usize = 8;
/// Search length for the comparison of the index with the number of entries before the jump, in
/// instructions; builds seen need up to 8.
const FARTHEST_BOUND: usize = 16;
/// Longest accepted table; a switch over the operators has about one hundred entries.
const MOST: u64 = 512;

/// Indexes of the instructions that the jump at `jump` may go to.
pub(crate) fn targets(image: &Image<'_>, body: &Function, jump: usize) -> Option<Vec<usize>> {
    // lea table(%rip),%rcx … movslq (%rcx,%rax,4),%rax; add %rcx,%rax; jmp *%rax. Other instruction
    // sets have many forms of it.
    if image.machine != Machine::X86_64 {
        return None;
    }
    let table = address(image, body, jump)?;
    let entry = |n| body.index(entry(image, table, n)?);
    let mut targets: Vec<usize> = (0..MOST).map_while(entry).collect();
    if targets.len() < 2 {
        return None;
    }
    targets.sort_unstable();
    targets.dedup();
    Some(targets)
}

/// Target of an entry of the table.
fn entry(image: &Image<'_>, table: u64, n: u64) -> Option<u64> {
    let bytes = image.bytes(table.checked_add(4 * n)?, 4)?;
    Some(table.wrapping_add_signed(i32::from_le_bytes(bytes.try_into().ok()?).into()))
}

/// Every address that the jump at `jump` may go to. The comparison before the jump gives the length
/// of the table.
pub(crate) fn whole(image: &Image<'_>, body: &Function, jump: usize) -> Option<Vec<u64>> {
    // add %rcx,%rax; jmp *%rax
    let sum = body.code.get(jump.checked_sub(1)?)?;
    let table = address(image, body, jump).filter(|_| mnemonic(image, sum) == "add")?;
    let entries = (0..entries(image, body, jump)?).map(|n| entry(image, table, n));
    entries.collect()
}

/// Number of the table's entries: cmp $last,index; ja default.
fn entries(image: &Image<'_>, body: &Function, jump: usize) -> Option<u64> {
    let before = || (jump.saturating_sub(FARTHEST_BOUND)..jump).rev().map_while(|n| body.code.get(n));
    let mut straight = before().scan(true, |alone, i: &Instruction| {
        // An instruction that is reached from elsewhere counts; instructions before it do not.
        let straight = *alone && matches!(i.flow, Flow::Next | Flow::Branch(_));
        *alone = !body.is_target(i.address);
        straight.then_some(i)
    });
    straight.find(|i| matches!(i.flow, Flow::Branch(_))).filter(|i| mnemonic(image, i) == "ja")?;
    // Any instruction except a move may be what the branch depends on.
    let moves = |i: &Instruction| ["mov", "lea"].iter().any(|m| mnemonic(image, i).starts_with(m));
    let last = compared(image, straight.find(|i| !moves(i))?)?;
    last.checked_add(1).filter(|count| (2..=MOST).contains(count))
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
        // Reached from elsewhere, perhaps with another table.
        if body.is_target(instruction.address) {
            return None;
        }
    }
    None
}
