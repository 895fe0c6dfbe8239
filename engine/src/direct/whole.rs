//! Operators that are calls of a function: the calls, and the proof that there is no other way into
//! it.

use std::collections::BTreeSet;

use super::places::NoDirect;
use crate::code::function::Function;
use crate::code::instruction::{Flow, Instruction};
use crate::code::scan;
use crate::file::unwind;
use crate::symbols::calls::Calls;
use crate::symbols::references;

/// A call, with its function.
pub(super) type Call = (Function, Instruction);

/// All calls of the functions from outside, or another reference to one. A call from inside one is
/// part of the calling operator.
pub(super) fn calls_of(
    calls: &Calls<'_, '_>,
    functions: &[u64],
    references: &mut usize,
) -> Result<Vec<Call>, NoDirect> {
    let mut found = Vec::new();
    for &function in functions {
        let before = found.len();
        for site in sites(calls, function) {
            let Some(body) = Function::around(calls.image, site) else {
                return Err(NoDirect::NoBounds(site));
            };
            // With a prefix, an instruction begins before the apparent call; in an immediate there
            // is no call.
            let around = body.code.iter().find(|i| (i.address..i.next()).contains(&site));
            let Some(&call) = around.filter(|i| matches!(i.flow, Flow::Call(_) | Flow::CallSlot(_))) else {
                continue;
            };
            *references += 1;
            if !functions.contains(&body.start) {
                found.push((body, call));
            }
        }
        if found.len() == before {
            return Err(NoDirect::NotCalled(function));
        }
        if let Some(by) = referred(calls, function) {
            return Err(NoDirect::Referred { function, by });
        }
    }
    found.sort_by_key(|(_, call)| call.address);
    Ok(found)
}

/// Addresses of possible calls of a function, through the procedure linkage table or not.
fn sites(calls: &Calls<'_, '_>, function: u64) -> Vec<u64> {
    let name = calls.names.at(function);
    let mut sites = calls.callers(function);
    sites
        .extend(name.into_iter().flat_map(|name| calls.sites(|called| called == name)).map(|(site, _)| site));
    sites.sort_unstable();
    sites.dedup();
    sites
}

/// References to a function that are not calls: a pointer, an instruction that computes its
/// address, a jump.
fn referred(calls: &Calls<'_, '_>, function: u64) -> Option<u64> {
    let image = calls.image;
    let pointer = calls.relocations().pointers().find(|(_, to)| *to == function).map(|(word, _)| word);
    let made = || references::to(image, &BTreeSet::from([function])).first().map(|reference| reference.site);
    let own = unwind::function_around(image, function);
    let jumps = |site: &u64| {
        let body = Function::around(image, *site);
        let jump = body.and_then(|body| body.at(*site).copied());
        let inside = own.is_some_and(|(start, end)| (start..end).contains(site));
        !inside && jump.is_some_and(|i| matches!(i.flow, Flow::Jump(to) | Flow::Branch(to) if to == function))
    };
    let jump = || scan::jumps_into(image, &(function..function + 1)).into_iter().find(jumps);
    pointer.or_else(made).or_else(jump)
}
