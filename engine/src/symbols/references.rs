//! Which functions refer to which texts, in files without names.
//!
//! Stage: before attaching. From: machine code and addresses of data. To: the functions whose code
//! computes those addresses. Promises: an instruction that computes the address exists there, as
//! decoded from the beginning of the function around it in the unwind tables. Code that compilers
//! moved because it is rarely run (`.cold`) counts for the function that jumps there, if only one
//! does.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::Calls;
use crate::code::function::Function;
use crate::code::instruction::Flow;
use crate::code::scan;
use crate::file::elf::Image;
use crate::file::unwind;

/// An instruction after which a register holds an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reference {
    /// Address of the instruction.
    pub(crate) site: u64,
    /// The address that it refers to.
    pub(crate) target: u64,
    /// Start of the piece of code around it that has a separate entry in the unwind tables.
    pub(crate) part: u64,
}

/// All references to the targets.
pub(crate) fn to(image: &Image<'_>, targets: &BTreeSet<u64>) -> Vec<Reference> {
    let mut bodies: BTreeMap<u64, Option<Function>> = BTreeMap::new();
    let mut found = Vec::new();
    for site in scan::references(image, targets) {
        let Some((part, _)) = unwind::function_around(image, site) else { continue };
        let body = bodies.entry(part).or_insert_with(|| Function::around(image, site));
        let made = body.as_ref().and_then(|body| body.made_at(image, site));
        found.extend(made.filter(|target| targets.contains(target)).map(|target| Reference {
            site,
            target,
            part,
        }));
    }
    found
}

/// The start of the function that a piece of code belongs to: its own if something calls it or
/// points to it; otherwise that of the only function that jumps to it.
pub(crate) fn owner(calls: &Calls<'_, '_>, part: u64) -> Option<u64> {
    let image = calls.image;
    let (start, end) = unwind::function_around(image, part)?;
    let called = calls.callers(start).into_iter().any(|site| {
        Function::around(image, site).is_some_and(|b| b.at(site).is_some_and(|i| i.flow == Flow::Call(start)))
    });
    if called || calls.relocations().pointers().any(|(_, target)| target == start) {
        return Some(start);
    }
    let mut owners = BTreeSet::new();
    for site in scan::jumps_into(image, &(start..end)) {
        let Some(body) = Function::around(image, site) else { continue };
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
