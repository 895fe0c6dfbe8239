//! Finds the operator function of a file without symbols by its behaviour.
//!
//! `ggml_compute_forward(params, tensor)` reads the operator of its second argument, compares it
//! with the number of operators and jumps through a table to one of several dozen kernels. Few
//! other functions do: the one that plans how many threads an operator gets (its tensor is the
//! first argument, and it calls almost nothing), and the one that builds gradients (it calls the
//! functions that make tensors, which are exported). Promises: a found function does all of this
//! and is called from elsewhere. None is found where the number of operators is unknown.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::code::dataflow::Trace;
use crate::code::decode::compared;
use crate::code::function::Function;
use crate::code::instruction::Flow;
use crate::code::scan::{self, FARTHEST_JUMP};
use crate::file::unwind;
use crate::symbols::calls::Calls;
use crate::symbols::names::plain;

/// The bound is the last operator's number or `GGML_OP_COUNT`; the last ones may share a branch.
const BELOW: u64 = 4;
/// Fewest different functions of the file that a dispatcher calls; where compilers inline most
/// kernels, 17 are left.
const FEWEST_KERNELS: usize = 12;
/// Functions that make tensors: their callers do not compute.
const MAKES: [&str; 5] = ["ggml_add", "ggml_mul", "ggml_scale", "ggml_repeat", "ggml_new_tensor"];

/// A function that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) address: u64,
    pub(crate) size: u64,
    /// Number of places that call it.
    pub(crate) callers: usize,
    /// Number of different functions that it calls.
    pub(crate) kernels: usize,
    /// The constant that it compares the operator with.
    pub(crate) bound: u64,
}

/// Functions that dispatch the operator at offset `op` of their second argument, in an engine with
/// that many `operators`.
pub(crate) fn functions(calls: &Calls<'_, '_>, op: u32, operators: usize) -> Vec<Found> {
    let Some(bounds) = bounds(operators) else { return Vec::new() };
    let around = |address| unwind::function_around(calls.image, address).map(|(start, _)| start);
    let starts: BTreeSet<u64> =
        scan::switches(calls.image, op, &bounds).into_iter().filter_map(around).collect();
    starts.into_iter().filter_map(|start| function(calls, start, op, operators)).collect()
}

/// Possible bounds of the comparison.
pub(crate) fn bounds(operators: usize) -> Option<RangeInclusive<u64>> {
    let operators = u64::try_from(operators).ok().filter(|n| *n > BELOW)?;
    Some(operators - BELOW..=operators)
}

/// The function at `start`, if it is one of [`functions`].
pub(crate) fn function(calls: &Calls<'_, '_>, start: u64, op: u32, operators: usize) -> Option<Found> {
    let bounds = bounds(operators)?;
    if !Trace::new(calls.image, start, 64).touches(1, op.into()) {
        return None;
    }
    let body = Function::around(calls.image, start)?;
    // A jump through a table after a comparison with the number of operators.
    let bound = body.code.iter().enumerate().find_map(|(n, i)| {
        let bound = compared(calls.image, i).filter(|b| bounds.contains(b))?;
        let mut behind = body.code.iter().skip(n + 1).take(FARTHEST_JUMP);
        behind.any(|i| i.flow == Flow::JumpAny).then_some(bound)
    })?;
    let makes = |flow| calls.called_by(flow).map(plain).is_some_and(|name| MAKES.contains(&name));
    if body.code.iter().any(|i| makes(i.flow)) {
        return None;
    }
    let called = body.code.iter().filter_map(|i| match i.flow {
        Flow::Call(to) if to != start => Some(to),
        _ => None,
    });
    let kernels = called.collect::<BTreeSet<_>>().len();
    let end = body.code.last()?.next();
    let callers = calls.callers(start).into_iter().filter(|site| !(start..end).contains(site)).count();
    (kernels >= FEWEST_KERNELS && callers > 0).then_some(Found {
        address: start,
        size: end - start,
        callers,
        kernels,
        bound,
    })
}
