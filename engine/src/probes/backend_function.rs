//! Functions of backends other than the CPU, by the symbols that the backend profiles name.
//!
//! Stage: before attaching. From: one file's [`Calls`]. Which library it is does not matter,
//! because static builds have them in the executable. To: [`Site`]s. Promises: the probed function
//! returns by itself. A function that only jumps to another shares its stack pointer. Linux on
//! arm64 cannot distinguish return probes with one stack pointer (see [`entry`]) and kills the
//! process, so the other function is probed.

use super::evidence::{Evidence, Site};
use super::kind::ProbeKind;
use super::missing::{Missing, MissingReason, Unprobable};
use crate::code::decode::effect;
use crate::code::entry::{self, Stack};
use crate::code::function::Function;
use crate::code::instruction::{Effect, Flow};
use crate::file::elf::{Image, Symbol};
use crate::file::unwind;
use crate::symbols::calls::Calls;
use crate::symbols::names::BackendFunction;

/// Most jumps from one function to the next that are followed.
const MOST_JUMPS: usize = 4;
/// Longest piece of code before such a jump, in instructions.
const LONGEST_STUB: usize = 16;

/// Whether the file has any of them.
pub(crate) fn in_file(calls: &Calls<'_, '_>) -> bool {
    calls.names.backends().any(|(_, symbol)| calls.image.is_code(symbol.address))
}

/// Their sites in the file with this index, and those that cannot be probed.
pub(crate) fn find(
    calls: &Calls<'_, '_>,
    file: usize,
    backends: &[BackendFunction],
) -> (Vec<Site>, Vec<Missing>) {
    let (mut sites, mut missing): (Vec<Site>, _) = (Vec::new(), Vec::new());
    for (slot, symbol) in calls.names.backends() {
        let (Some(function), Ok(slot)) = (backends.get(slot), u8::try_from(slot)) else { continue };
        let kind = if function.whole { ProbeKind::BackendOp(slot) } else { ProbeKind::NestedCall(slot) };
        match site(calls, file, kind, symbol, function) {
            // Two names of one function would be two probes in one place, and count everything
            // twice.
            Ok(site) if sites.iter().any(|s| s.offset == site.offset) => {}
            Ok(site) => sites.push(site),
            Err(reason) => {
                let reason = MissingReason::Unprobable(reason);
                missing.push(Missing { kind, symbol: symbol.name.to_owned(), reason });
            }
        }
    }
    (sites, missing)
}

fn site(
    calls: &Calls<'_, '_>,
    file: usize,
    kind: ProbeKind,
    symbol: Symbol<'_>,
    function: &BackendFunction,
) -> Result<Site, Unprobable> {
    let (address, size) = returning(calls.image, symbol.address, symbol.size)?;
    let entry = entry::entry(calls.image, address, size, Stack::AsAtEntry).ok_or(Unprobable::Unreadable)?;
    let offset = calls.image.file_offset(entry.address).ok_or(Unprobable::NotInFile)?;
    let evidence = Evidence::Backend {
        backend: function.backend.clone(),
        jumps_to: (address != symbol.address).then_some(address),
        entry: entry.address.saturating_sub(address),
    };
    let (mnemonic, emulated) = (entry.mnemonic, entry.emulated);
    Ok(Site { kind, file, offset, symbol: symbol.name.to_owned(), mnemonic, emulated, evidence })
}

/// Address and size (0: unknown) of the real function, where the one at `address` only jumps to it.
fn returning(image: &Image<'_>, mut address: u64, mut size: u64) -> Result<(u64, u64), Unprobable> {
    for _ in 0..=MOST_JUMPS {
        let end = match unwind::function_around(image, address) {
            Some((start, end)) if start == address => end,
            _ => address.checked_add(if size > 0 { size } else { 64 }).ok_or(Unprobable::WrongAddress)?,
        };
        let body = Function::new(image, address, end);
        let stub = body.code.iter().take(LONGEST_STUB);
        let mut straight = stub.take_while(|i| i.flow == Flow::Next);
        let only_pads = straight.by_ref().all(|i| effect(image, i) == Effect::None);
        let jump = body.code.iter().take(LONGEST_STUB).find(|i| i.flow != Flow::Next).map(|i| i.flow);
        match jump {
            Some(Flow::Jump(to)) if body.index(to).is_none() => {
                if !only_pads || !image.is_code(to) {
                    return Err(Unprobable::OnlyJumps);
                }
                (address, size) = (to, 0);
            }
            Some(Flow::JumpSlot(_) | Flow::JumpAny) => return Err(Unprobable::OnlyJumps),
            _ => return Ok((address, size)),
        }
    }
    Err(Unprobable::OnlyJumps)
}
