//! The loop that runs a graph's nodes on the CPU: where an operator starts and where it ends.
//!
//! Since 2025 compilers inline `ggml_compute_forward` into the loop over the nodes, so no function is
//! an operator any more. Two things remain. Before its own kernels the dispatcher asks other kernels
//! (`ggml_cpu_extra_compute_forward(params, tensor)`, in another translation unit, thus a real call): an
//! operator starts. And all of the about one hundred cases of the switch over the operator meet again
//! behind it: the operator ends. Operators that are computed together bypass the former and have calls of
//! their own (`ggml_compute_forward_*_fused`). Promises: a start or an end is an instruction that exists
//! at that address, and the paths between them have been followed (see [`paths`](super::paths)).

use std::collections::BTreeSet;

use super::body::Body;
use super::calls::Calls;
use super::code::{self, Flow};
use super::names::plain;
use super::paths::Paths;

/// The call that every dispatched node makes first.
pub(crate) const START: &str = "ggml_cpu_extra_compute_forward";

/// What the functions that compute operators are called.
const KERNEL: &str = "ggml_compute_forward_";

/// Most calls of [`START`] in a file; builds seen have one.
const MOST_CALLS: usize = 16;

/// Fewest jumps to the place where the operators meet; builds seen have 85 and more.
const FEWEST_JUMPS: u32 = 24;

/// Most instructions from where the operators meet to their end; builds seen have up to 6.
const LONGEST_END: usize = 24;

/// What part of the jumps that meet may go to a place behind; one build seen has 3 beside 97.
const FEW: u32 = 16;

/// An instruction of the dispatch function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) address: u64,
    pub(crate) emulated: bool,
    /// Function that is called, or the dispatch function's name.
    pub(crate) symbol: String,
    pub(crate) note: String,
}

/// What was found in one dispatch function.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    pub(crate) body: Body,
    pub(crate) starts: Vec<Place>,
    pub(crate) fused: Vec<Place>,
    pub(crate) end: Result<Place, String>,
    /// Operators that are computed without passing a start.
    pub(crate) unseen: Vec<String>,
}

/// The functions that call [`START`], or why there are none.
pub(crate) fn dispatchers(calls: &Calls<'_, '_>) -> Result<Vec<Dispatcher>, String> {
    let sites = calls.sites(|name| plain(name) == START);
    if sites.len() > MOST_CALLS {
        return Err(format!("{START} is called from {} places: not by one loop over the nodes", sites.len()));
    }
    let mut found: Vec<Dispatcher> = Vec::new();
    let mut reason = format!("nothing in this file calls {START}");
    for (site, _) in sites {
        if found.iter().any(|d| d.starts.iter().any(|s| s.address == site)) {
            continue;
        }
        let Some(body) = Body::around(calls.image, site) else {
            reason = format!("the file has no unwind information for its call of {START} at {site:#x}");
            continue;
        };
        // Bytes that look like a call, but within another instruction.
        if body.at(site).is_some() {
            found.push(dispatcher(calls, body));
        }
    }
    if found.is_empty() { Err(reason) } else { Ok(found) }
}

fn dispatcher(calls: &Calls<'_, '_>, body: Body) -> Dispatcher {
    let called: Vec<(usize, &str)> =
        (0..).zip(&body.code).filter_map(|(n, i)| Some((n, calls.called_by(i.flow).map(plain)?))).collect();
    let starts: Vec<_> = called.iter().copied().filter(|(_, name)| *name == START).collect();
    let paths = Paths::new(&body, calls);
    // Every operator is behind the function's entry or behind the end of the one before it: a kernel that is
    // reached from there without passing a start computes operators on a way of its own.
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
        // Where fused operators meet the others later than those meet each other, only a later end is one of all.
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
    let place = |(n, name): &(usize, &str)| {
        let i = &body.code[*n];
        let mnemonic = code::mnemonic(calls.image, i);
        Place {
            address: i.address,
            emulated: i.emulated,
            symbol: calls
                .names
                .unnamed(name)
                .map_or_else(|| (*name).to_owned(), |f| format!("{name} {}", f.by)),
            note: match calls.names.unnamed(name) {
                Some(found) => format!("`{mnemonic}` of a function without a name: {}", found.how),
                None => format!("`{mnemonic}` in the dispatch function at {:#x}", body.start),
            },
        }
    };
    let starts = starts.iter().map(place).collect();
    let fused = fused.iter().map(place).collect();
    Dispatcher { starts, fused, end, unseen, body }
}

/// Indices and descriptions of the instructions that may end an operator, at least one, the earliest first.
pub(crate) fn ends(
    calls: &Calls<'_, '_>,
    body: &Body,
    starts: &[(usize, &str)],
) -> Result<Vec<(usize, Place)>, String> {
    let (join, jumps) = join(body).ok_or("the dispatch function has no jumps")?;
    if jumps < FEWEST_JUMPS {
        return Err(format!(
            "no common end of the operators: at most {jumps} jumps go to one place ({join:#x})"
        ));
    }
    let mut meeting = straight(body, join);
    for (start, _) in starts {
        let [yes, no] =
            decision(body, *start).ok_or_else(|| format!("the result of {START} is not tested"))?;
        let lines = [straight(body, yes), straight(body, no)].concat();
        meeting.retain(|address| lines.contains(address));
        if meeting.is_empty() {
            let ways = format!("{yes:#x} or {no:#x}");
            return Err(format!("the operators meet at {join:#x}, but {START}'s result leads to {ways}"));
        }
    }
    // Where registers are put back, the cases meet before the result that skips them does: the end is behind both.
    let meeting = meeting.first().copied().unwrap_or(join);
    let symbol = calls.names.at(body.start).unwrap_or("dispatch function").to_owned();
    let described = |n: usize| {
        let at = &body.code[n];
        let note =
            format!("`{}` behind {meeting:#x}, where {jumps} jumps meet", code::mnemonic(calls.image, at));
        (n, Place { address: at.address, emulated: at.emulated, symbol: symbol.clone(), note })
    };
    let ends: Vec<_> = emulated(body, meeting, jumps / FEW).into_iter().map(described).collect();
    if ends.is_empty() {
        return Err(format!(
            "no instruction behind {meeting:#x}, where the operators meet, can be probed cheaply"
        ));
    }
    Ok(ends)
}

/// Checks that no start is reached from another one, or from itself, without passing the end between them, and that the
/// function is not left in between: where the dispatcher is a function of its own, its cases return.
fn closed(body: &Body, paths: &Paths, starts: &[usize], end: usize) -> Result<(), String> {
    for &start in starts {
        let reached = paths.reached(start, &[end]);
        if let Some(missed) = starts.iter().find(|n| reached[**n]) {
            let (from, to) = (body.code[start].address, body.code[*missed].address);
            return Err(format!(
                "the start at {to:#x} is reached from the one at {from:#x} without passing the end"
            ));
        }
        let left = body.code.iter().zip(&reached).find(|(i, reached)| **reached && i.flow == Flow::Return);
        if let Some((left, _)) = left {
            let (from, at) = (body.code[start].address, left.address);
            return Err(format!(
                "the start at {from:#x} leads to a return at {at:#x} without passing the end"
            ));
        }
    }
    Ok(())
}

/// The place in the function to which most jumps go, and how many.
pub(crate) fn join(body: &Body) -> Option<(u64, u32)> {
    body.destinations().into_iter().max_by_key(|(_, count)| *count)
}

/// The two ways on from the first conditional branch behind a call.
pub(crate) fn decision(body: &Body, call: usize) -> Option<[u64; 2]> {
    for instruction in body.code.iter().skip(call + 1).take(8) {
        match instruction.flow {
            Flow::Next => {}
            Flow::Branch(to) => return Some([to, instruction.next()]),
            _ => return None,
        }
    }
    None
}

/// Addresses that control passes from one on without a choice and without a call, in order.
pub(crate) fn straight(body: &Body, from: u64) -> Vec<u64> {
    let mut passed = Vec::new();
    let mut at = from;
    for _ in 0..16 {
        let Some(instruction) = body.at(at) else { break };
        passed.push(at);
        at = match instruction.flow {
            Flow::Next => instruction.next(),
            Flow::Jump(target) => target,
            _ => break,
        };
    }
    passed
}

/// Instructions from an address on that the kernel emulates, in a straight line but for branches that are not taken, and that not
/// more than `others` jumps reach without passing the address: nodes without an operator or without elements, which no start was
/// passed for, and fused operators.
fn emulated(body: &Body, from: u64, others: u32) -> Vec<usize> {
    let mut found = Vec::new();
    let Some(index) = body.index(from) else { return found };
    let mut joined = 0;
    for (n, instruction) in body.code.iter().enumerate().skip(index).take(LONGEST_END) {
        if n != index {
            joined += body.jumps_to(instruction.address);
        }
        if joined > others {
            break;
        }
        if instruction.emulated && !repeated(body, from, n) {
            found.push(n);
        }
        if !matches!(instruction.flow, Flow::Next | Flow::Branch(_)) {
            break;
        }
    }
    found
}

/// Whether an instruction behind an address lies in a short loop, as where threads wait for each other: it would end an
/// operator many times.
fn repeated(body: &Body, from: u64, n: usize) -> bool {
    let at = body.code[n].address;
    body.code.iter().skip(n).take(LONGEST_END).any(|i| match i.flow {
        Flow::Branch(to) | Flow::Jump(to) => from < to && to <= at,
        _ => false,
    })
}
