//! The loop that runs a graph's nodes on the CPU: where an operator starts and where it ends.
//!
//! Since 2025 compilers inline `ggml_compute_forward` into the loop over the nodes, so no function
//! is an operator any more. Two features remain. Before its own kernels the dispatcher tries other
//! kernels (`ggml_cpu_extra_compute_forward(params, tensor)`, in another translation unit, thus a
//! real call): an operator starts. After the switch over the operator, all of its about one hundred
//! cases meet again: the operator ends. Operators that are computed together bypass the former and
//! have separate calls (`ggml_compute_forward_*_fused`). Promises: a start or an end is an
//! instruction that exists at that address, and the paths between them have been followed (see
//! [`paths`](crate::symbols::paths)).

use std::collections::BTreeSet;

use super::evidence::Evidence;
use super::missing::{NoEnd, NoStart};
use crate::code::decode::mnemonic;
use crate::code::function::Function;
use crate::code::instruction::Flow;
use crate::symbols::calls::Calls;
use crate::symbols::names::plain;
use crate::symbols::paths::Paths;

/// The call that every dispatched node makes first.
pub(crate) const START: &str = "ggml_cpu_extra_compute_forward";

/// Names of the functions that compute operators.
const KERNEL: &str = "ggml_compute_forward_";

/// Most calls of [`START`] in a file; builds seen have one.
const MOST_CALLS: usize = 16;

/// Fewest jumps to the place where the operators meet; builds seen have 85 and more.
const FEWEST_JUMPS: u32 = 24;

/// Most instructions from the place where the operators meet to their end; builds seen have up to
/// 6.
const LONGEST_END: usize = 24;

/// Share of the jumps that may go to a later place; one build seen has 3, and 97 that meet.
const FEW: u32 = 16;

/// An instruction of the dispatching function that an operator passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waypoint {
    pub(crate) address: u64,
    pub(crate) emulated: bool,
    pub(crate) mnemonic: String,
    /// The called function, or the dispatching one; empty if that has no name.
    pub(crate) symbol: String,
    pub(crate) evidence: Evidence,
}

/// Findings in one dispatching function.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    pub(crate) body: Function,
    pub(crate) starts: Vec<Waypoint>,
    pub(crate) fused: Vec<Waypoint>,
    pub(crate) end: Result<Waypoint, NoEnd>,
    /// Operators that are computed without passing a start.
    pub(crate) unseen: Vec<String>,
}

/// The functions that call [`START`], or why there are none.
pub(crate) fn dispatchers(calls: &Calls<'_, '_>) -> Result<Vec<Dispatcher>, NoStart> {
    let sites = calls.sites(|name| plain(name) == START);
    if sites.len() > MOST_CALLS {
        return Err(NoStart::CalledTooOften(sites.len()));
    }
    let mut found: Vec<Dispatcher> = Vec::new();
    let mut reason = NoStart::NotCalled;
    for (site, _) in sites {
        if found.iter().any(|d| d.starts.iter().any(|s| s.address == site)) {
            continue;
        }
        let Some(body) = Function::around(calls.image, site) else {
            reason = NoStart::NoUnwind(site);
            continue;
        };
        // Bytes that look like a call, but are inside another instruction.
        if body.at(site).is_some() {
            found.push(dispatcher(calls, body));
        }
    }
    if found.is_empty() { Err(reason) } else { Ok(found) }
}

fn dispatcher(calls: &Calls<'_, '_>, body: Function) -> Dispatcher {
    let called: Vec<(usize, &str)> =
        (0..).zip(&body.code).filter_map(|(n, i)| Some((n, calls.called_by(i.flow).map(plain)?))).collect();
    let starts: Vec<_> = called.iter().copied().filter(|(_, name)| *name == START).collect();
    let paths = Paths::new(&body, calls);
    // Every operator follows the function's entry or the end of the previous operator. A kernel
    // that is reached from there without passing a start computes operators on a separate way.
    let ways = |end: Option<usize>| {
        let bypassing = |walls: &[usize]| -> Vec<(usize, &str)> {
            let reached: Vec<_> =
                std::iter::once(0).chain(end).map(|from| paths.reached(from, walls)).collect();
            let kernel = |(n, name): &(usize, &str)| {
                name.starts_with(KERNEL) && reached.iter().any(|r| r[*n]) && !walls.contains(n)
            };
            called.iter().copied().filter(kernel).collect()
        };
        let mut walls: Vec<usize> = starts.iter().map(|(n, _)| *n).collect();
        let fused: Vec<_> =
            bypassing(&walls).into_iter().filter(|(_, name)| name.contains("fused")).collect();
        walls.extend(fused.iter().map(|(n, _)| *n));
        let unseen = bypassing(&walls).into_iter().map(|(_, name)| name.to_owned()).collect::<BTreeSet<_>>();
        (walls, fused, unseen)
    };
    let (fused, unseen, end) = match ends(calls, &body, &starts) {
        Err(reason) => {
            let (_, fused, unseen) = ways(None);
            (fused, unseen, Err(reason))
        }
        // Where fused operators meet the others later than those meet each other, only a later end
        // serves all.
        Ok(ends) => {
            let tried = ends.into_iter().map(|(n, place)| {
                let (walls, fused, unseen) = ways(Some(n));
                let end = closed(&body, &paths, &walls, n).map(|()| place);
                (fused, unseen, end)
            });
            let mut tried: Vec<_> = tried.collect();
            let good = tried.iter().position(|(_, _, end)| end.is_ok()).unwrap_or(0);
            tried.swap_remove(good)
        }
    };
    let unseen = unseen.into_iter().collect();
    let waypoint = |(n, name): &(usize, &str)| {
        let i = &body.code[*n];
        Waypoint {
            address: i.address,
            emulated: i.emulated,
            mnemonic: mnemonic(calls.image, i),
            symbol: (*name).to_owned(),
            evidence: match calls.names.clue(name) {
                Some(clue) => Evidence::RecoveredCall { clue },
                None => Evidence::DispatchCall { function: body.start },
            },
        }
    };
    let starts = starts.iter().map(waypoint).collect();
    let fused = fused.iter().map(waypoint).collect();
    Dispatcher { starts, fused, end, unseen, body }
}

/// The instructions that may end an operator, at least one, the earliest first, with their indices.
pub(crate) fn ends(
    calls: &Calls<'_, '_>,
    body: &Function,
    starts: &[(usize, &str)],
) -> Result<Vec<(usize, Waypoint)>, NoEnd> {
    let (join, jumps) = body.join().ok_or(NoEnd::NoJumps)?;
    if jumps < FEWEST_JUMPS {
        return Err(NoEnd::NoJoin { join, jumps });
    }
    let mut meeting = body.straight(join);
    for (start, _) in starts {
        let ways = body.decision(*start).ok_or(NoEnd::ResultNotTested)?;
        let lines = ways.map(|way| body.straight(way)).concat();
        meeting.retain(|address| lines.contains(address));
        if meeting.is_empty() {
            return Err(NoEnd::ResultLeadsElsewhere { join, ways });
        }
    }
    // Where registers are restored, the cases meet before the result that skips them does: the end
    // is after both.
    let meeting = meeting.first().copied().unwrap_or(join);
    let symbol = calls.names.at(body.start).unwrap_or_default();
    let waypoint = |n: usize| {
        let at = &body.code[n];
        let evidence = Evidence::Join { address: meeting, jumps };
        let mnemonic = mnemonic(calls.image, at);
        (
            n,
            Waypoint {
                address: at.address,
                emulated: at.emulated,
                mnemonic,
                symbol: symbol.to_owned(),
                evidence,
            },
        )
    };
    let mut line = line(body, meeting, jumps);
    line.retain(|n| body.code[*n].emulated);
    let ends: Vec<_> = line.into_iter().map(waypoint).collect();
    if ends.is_empty() { Err(NoEnd::SingleStepped { join: meeting }) } else { Ok(ends) }
}

/// Checks that no start is reached from a start without passing the end, and that the function is
/// not left in between: where the dispatcher is a separate function, its cases return.
pub(crate) fn closed(body: &Function, paths: &Paths, starts: &[usize], end: usize) -> Result<(), NoEnd> {
    for &start in starts {
        let reached = paths.reached(start, &[end]);
        if let Some(missed) = starts.iter().find(|n| reached[**n]) {
            let (from, to) = (body.code[start].address, body.code[*missed].address);
            return Err(NoEnd::StartReached { from, to });
        }
        let left = body.code.iter().zip(&reached).find(|(i, reached)| **reached && i.flow == Flow::Return);
        if let Some((left, _)) = left {
            return Err(NoEnd::Returns { from: body.code[start].address, at: left.address });
        }
    }
    Ok(())
}

/// Instructions from the address on where this many jumps meet, in a straight line except for
/// branches that are not taken. Only few other nodes reach them without passing the address: nodes
/// without an operator or without elements, for which no start was passed, and fused operators.
pub(crate) fn line(body: &Function, from: u64, jumps: u32) -> Vec<usize> {
    let mut found = Vec::new();
    let Some(index) = body.index(from) else { return found };
    let mut joined = 0;
    for (n, instruction) in body.code.iter().enumerate().skip(index).take(LONGEST_END) {
        if n != index {
            joined += body.jumps_to(instruction.address);
        }
        if joined > jumps / FEW {
            break;
        }
        if !repeated(body, from, n) {
            found.push(n);
        }
        if !matches!(instruction.flow, Flow::Next | Flow::Branch(_)) {
            break;
        }
    }
    found
}

/// Whether an instruction after an address is in a short loop, as where threads wait for each
/// other: it would end an operator many times.
fn repeated(body: &Function, from: u64, n: usize) -> bool {
    let at = body.code[n].address;
    body.code.iter().skip(n).take(LONGEST_END).any(|i| match i.flow {
        Flow::Branch(to) | Flow::Jump(to) => from < to && to <= at,
        _ => false,
    })
}
