//! Whether anything leads into an instruction after its first byte.
//!
//! On x86-64 a branch may lead to any byte. The check therefore covers everything in the file that
//! could lead there: the function's own branches and jump tables, those of its parts that a
//! compiler has moved (`.cold`), direct branches of all other code, relocated pointers, and
//! addresses that code computes. Promises: where something cannot be followed, it counts as leading
//! there. On arm64 every instruction is a word and every branch leads to one, so nothing needs a
//! check.

use std::collections::BTreeMap;
use std::ops::Range;

use super::places::{NoDirect, Proof};
use crate::code::decode::mnemonic;
use crate::code::function::Function;
use crate::code::instruction::{Flow, Instruction};
use crate::code::{jump_table, scan};
use crate::file::elf::{Image, Machine};
use crate::file::unwind;
use crate::symbols::calls::Calls;
use crate::symbols::references;

/// Most separate parts of a function; builds seen have one.
const MOST_PARTS: usize = 8;

/// Adds a function whose branches all lead to the beginning of an instruction, or returns one that
/// does not.
pub(super) fn follow(calls: &Calls<'_, '_>, body: &Function, proof: &mut Proof) -> Result<(), NoDirect> {
    let image = calls.image;
    let whole = range(body);
    if unwind::function_around(image, body.start) != Some((whole.start, whole.end)) {
        return Err(NoDirect::NoBounds(body.start));
    }
    proof.functions += 1;
    if !anywhere(image) {
        return Ok(());
    }
    let mut parts = BTreeMap::new();
    for at in scan::jumps_into(image, &whole) {
        let part = Function::around(image, at).filter(|part| part.at(at).is_some_and(|i| leads(i, &whole)));
        parts.extend(part.map(|part| (part.start, part)));
    }
    if parts.len() > MOST_PARTS {
        return Err(NoDirect::NoBounds(body.start));
    }
    let around = |to: u64| std::iter::once(body).chain(parts.values()).find(|f| range(f).contains(&to));
    for part in std::iter::once(body).chain(parts.values()) {
        if unwind::has_landing_pads(image, part.start) {
            return Err(NoDirect::LandingPads(part.start));
        }
        for (n, instruction) in part.code.iter().enumerate() {
            let by = instruction.address;
            let targets = match instruction.flow {
                Flow::Jump(to) | Flow::Branch(to) => {
                    proof.branches += 1;
                    vec![to]
                }
                Flow::JumpAny => {
                    proof.tables += 1;
                    // An entry that leads out of the function is not one of its jump table.
                    let table = jump_table::whole(image, part, n);
                    let table = table.filter(|table| table.iter().all(|to| around(*to).is_some()));
                    table.ok_or(NoDirect::UnknownTable(by))?
                }
                Flow::Stop if mnemonic(image, instruction) == "invalid" => {
                    return Err(NoDirect::Undecoded(by));
                }
                _ => continue,
            };
            let wrong = targets.into_iter().find(|to| around(*to).is_some_and(|f| f.at(*to).is_none()));
            if let Some(place) = wrong {
                return Err(NoDirect::LedInto { place, by });
            }
        }
    }
    Ok(())
}

/// Whether something outside of a function that was [followed](follow) leads into an instruction of
/// it, after its first byte.
pub(super) fn led_into(
    calls: &Calls<'_, '_>,
    body: &Function,
    instruction: &Instruction,
) -> Result<(), NoDirect> {
    let image = calls.image;
    if !anywhere(image) {
        return Ok(());
    }
    let inside = instruction.address + 1..instruction.next();
    // Outside, any bytes that could be a branch count as one.
    let function = range(body);
    let jumps = scan::jumps_into(image, &inside).into_iter().chain(scan::short_jumps_into(image, &inside));
    let mut by: Vec<u64> = jumps.filter(|at| !function.contains(at)).collect();
    scan::calls(image, |at, flow| {
        by.extend(matches!(flow, Flow::Call(to) if inside.contains(&to)).then_some(at));
    });
    by.extend(calls.relocations().pointers().find(|(_, to)| inside.contains(to)).map(|(word, _)| word));
    by.extend(references::to(image, &inside.collect()).first().map(|reference| reference.site));
    match by.first() {
        Some(&by) => Err(NoDirect::LedInto { place: instruction.address, by }),
        None => Ok(()),
    }
}

/// Whether branches may lead to any byte. An agent without the decoder for x86-64 needs none of the
/// code that depends on it.
fn anywhere(image: &Image<'_>) -> bool {
    cfg!(feature = "x86") && image.machine == Machine::X86_64
}

/// Addresses of a function's instructions.
fn range(body: &Function) -> Range<u64> {
    body.start..body.code.last().map_or(body.start, Instruction::next)
}

fn leads(instruction: &Instruction, range: &Range<u64>) -> bool {
    matches!(instruction.flow, Flow::Jump(to) | Flow::Branch(to) if range.contains(&to))
}
