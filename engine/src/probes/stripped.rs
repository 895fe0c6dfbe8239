//! The calls with which operators begin, in a file without names.
//!
//! The names of the called functions identify the loop over the nodes that
//! [`dispatch`](super::dispatch) reads. Without names, its behaviour identifies it: it is reached
//! from `ggml_graph_compute`, compares the operator with the number of operators, and jumps through
//! a table. Just before, it tries other kernels, whose answer decides whether it jumps at all.
//! Stage: before attaching. From: one file's [`Calls`]. To: the functions with the names of
//! [`dispatch`](super::dispatch), which then checks the paths between them. Promises: the function
//! that tries other kernels is called from nowhere else and passes its arguments on through
//! pointers, twice. A fused kernel is one whose return leads to the place where all operators meet,
//! without a call of that function before.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::messages::{GRAPH, one};
use super::{dispatch, structure};
use crate::code::decode::{compared, effect};
use crate::code::function::Function;
use crate::code::instruction::{Effect, Flow};
use crate::code::scan::FARTHEST_JUMP;
use crate::file::unwind;
use crate::symbols::calls::Calls;
use crate::symbols::names::{Clue, Recovered};
use crate::symbols::paths::Paths;

/// Stands for a fused kernel whose own name is missing.
pub(crate) const FUSED: &str = "ggml_compute_forward_*_fused";
/// Distance of the loop from `ggml_graph_compute`, in calls: one where OpenMP starts the threads,
/// or none.
const DEEPEST: usize = 2;
/// Distance of the call before the comparison of the operator, in instructions.
const FARTHEST: usize = 16;
/// Fewest calls and jumps through pointers in the first function: for the kernels of the tensor's
/// buffer, and to them.
const FEWEST_POINTERS: usize = 2;

/// [`dispatch::START`] and the fused kernels of a file that names neither; nothing where more than
/// one function could be it.
pub(crate) fn functions(calls: &Calls<'_, '_>, operators: usize) -> Vec<Recovered> {
    let (Some(bounds), Some(graph)) = (structure::bounds(operators), calls.function(GRAPH)) else {
        return Vec::new();
    };
    let mut found = reached(calls, graph).into_iter().filter_map(|start| {
        let body = Function::around(calls.image, start)?;
        let asked = asked(calls, &body, &bounds)?;
        // The function that plans the work also tries other kernels, but its cases do not meet.
        dispatch::ends(calls, &body, &[(asked.0, dispatch::START)]).is_ok().then_some((body, asked))
    });
    match (found.next(), found.next()) {
        (Some((body, (call, callee))), None) => in_loop(calls, &body, call, callee),
        _ => Vec::new(),
    }
}

/// Functions that the one at `start` calls or whose address it computes, and the same from these.
fn reached(calls: &Calls<'_, '_>, start: u64) -> BTreeSet<u64> {
    let mut all = BTreeSet::from([start]);
    let mut new = vec![start];
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for body in new.into_iter().filter_map(|address| Function::around(calls.image, address)) {
            for instruction in &body.code {
                let to = match (instruction.flow, effect(calls.image, instruction)) {
                    (Flow::Call(to) | Flow::Jump(to), _) | (_, Effect::Constant { value: to, .. }) => to,
                    // The lower half of an address, on arm64.
                    (_, Effect::Add { .. }) => match body.made_at(calls.image, instruction.address) {
                        Some(to) => to,
                        None => continue,
                    },
                    _ => continue,
                };
                let function = unwind::function_around(calls.image, to).is_some_and(|(start, _)| start == to);
                if function && all.insert(to) {
                    next.push(to);
                }
            }
        }
        new = next;
    }
    all
}

/// The call before the switch over the operator: its index and its target.
fn asked(calls: &Calls<'_, '_>, body: &Function, bounds: &RangeInclusive<u64>) -> Option<(usize, u64)> {
    body.code.iter().enumerate().find_map(|(n, i)| {
        compared(calls.image, i).filter(|bound| bounds.contains(bound))?;
        if !switches(body, n) {
            return None;
        }
        let mut before = (n.saturating_sub(FARTHEST)..n).rev().map(|at| (at, body.code[at].flow));
        let call = before.find(|(_, flow)| !matches!(flow, Flow::Next | Flow::Branch(_)))?;
        let (call, Flow::Call(callee)) = call else { return None };
        body.decision(call)?;
        let elsewhere = calls.callers(callee).into_iter().any(|site| site != body.code[call].address);
        (!elsewhere && hands_on(calls, callee)).then_some((call, callee))
    })
}

/// Whether the comparison decides about a jump through a table: after it, or at the target of the
/// branch after it.
fn switches(body: &Function, comparison: usize) -> bool {
    let jumps =
        |from: usize| body.code.iter().skip(from).take(FARTHEST_JUMP).any(|i| i.flow == Flow::JumpAny);
    let branch = body.code.iter().skip(comparison + 1).take(2).find_map(|i| match i.flow {
        Flow::Branch(to) => body.index(to),
        _ => None,
    });
    branch.is_some_and(|to| jumps(comparison + 1) || jumps(to))
}

/// Whether the function calls through pointers often enough.
fn hands_on(calls: &Calls<'_, '_>, address: u64) -> bool {
    let Some(body) = Function::around(calls.image, address).filter(|b| b.start == address) else {
        return false;
    };
    let through = body.code.iter().filter(|i| matches!(i.flow, Flow::CallAny | Flow::JumpAny));
    through.count() >= FEWEST_POINTERS
}

fn in_loop(calls: &Calls<'_, '_>, body: &Function, call: usize, callee: u64) -> Vec<Recovered> {
    let clue = Clue::BeforeSwitch(body.start);
    let mut found: Vec<Recovered> = one(calls, dispatch::START, callee, clue).into_iter().collect();
    let Some((join, _)) = body.join() else { return found };
    let meets = |n: usize| body.straight(body.code[n].next()).contains(&join);
    let reached = Paths::new(body, calls).reached(0, &[call]);
    let fused = body.code.iter().enumerate().filter_map(|(n, i)| match i.flow {
        Flow::Call(to) if n != call && reached[n] && meets(n) => Some(to),
        _ => None,
    });
    let fused: BTreeSet<u64> = fused.filter(|to| calls.names.at(*to).is_none()).collect();
    found.extend(fused.into_iter().filter_map(|to| one(calls, FUSED, to, Clue::InsteadOfSwitch)));
    found
}
