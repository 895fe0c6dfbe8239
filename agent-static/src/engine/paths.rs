//! Which paths through the dispatch function pass which probe sites.
//!
//! A start that reaches the next start without passing the end would leave an operator open; an operator's
//! code reached without passing a start would go unseen. Both are looked for here, in the control flow
//! graph, before anything is attached. Promises: a finding is a path that exists in the graph; the
//! targets of a jump table are taken to be the blocks that nothing else leads to.

use super::body::Body;
use super::calls::Calls;
use super::code::{self, Flow};

/// Functions that never return, so that what lies behind their call is not reached from it.
const NEVER_RETURN: [&str; 8] = [
    "abort",
    "exit",
    "__stack_chk_fail",
    "__assert_fail",
    "__cxa_throw",
    "_Unwind_Resume",
    "_ZSt9terminatev",
    "ggml_abort",
];

/// Instructions that nothing leads to directly: where jump tables go.
fn orphans(body: &Body, calls: &Calls<'_, '_>, next: &[Vec<usize>]) -> Vec<usize> {
    let mut led_to = vec![false; next.len()];
    if let Some(first) = led_to.first_mut() {
        *first = true;
    }
    let padding = |index: usize| code::is_padding(calls.image, &body.code[index]);
    let mut orphans = Vec::new();
    for &to in next.iter().flatten() {
        led_to[to] = true;
    }
    for index in 0..next.len() {
        if !led_to[index] && padding(index) {
            // Padding leads nowhere: what lies behind it has to be led to by others.
            continue;
        }
        let behind_padding = || (0..index).rev().take_while(|&i| padding(i)).any(|i| !led_to[i]);
        let only_padding = || !body.is_target(body.code[index].address) && index > 0 && padding(index - 1);
        if !led_to[index] || (only_padding() && behind_padding()) {
            orphans.push(index);
        }
    }
    orphans
}

/// Control flow graph of a function: for every instruction the indices of those that may follow.
#[derive(Debug)]
pub(crate) struct Paths {
    next: Vec<Vec<usize>>,
}

impl Paths {
    pub(crate) fn new(body: &Body, calls: &Calls<'_, '_>) -> Self {
        let count = body.code.len();
        let follows = |index: usize| (index + 1 < count).then_some(index + 1);
        let mut next = Vec::with_capacity(count);
        for (index, instruction) in body.code.iter().enumerate() {
            let returns = || {
                let callee = calls.called_by(instruction.flow).map(super::names::plain);
                !callee.is_some_and(|name| NEVER_RETURN.contains(&name))
            };
            next.push(match instruction.flow {
                Flow::Next => follows(index).into_iter().collect(),
                Flow::Jump(to) => body.index(to).into_iter().collect(),
                Flow::Branch(to) => body.index(to).into_iter().chain(follows(index)).collect(),
                Flow::Call(_) | Flow::CallSlot(_) | Flow::CallAny if returns() => {
                    follows(index).into_iter().collect()
                }
                _ => Vec::new(),
            });
        }
        let orphans = orphans(body, calls, &next);
        for (index, instruction) in body.code.iter().enumerate() {
            if instruction.flow == Flow::JumpAny {
                next[index].clone_from(&orphans);
            }
        }
        Self { next }
    }

    /// Indices reached from behind `from` without passing through any of `walls`; the walls that were met are included.
    pub(crate) fn reached(&self, from: usize, walls: &[usize]) -> Vec<usize> {
        self.flood(self.next[from].clone(), walls, &self.next)
    }

    fn flood(&self, mut open: Vec<usize>, walls: &[usize], edges: &[Vec<usize>]) -> Vec<usize> {
        let mut seen = vec![false; self.next.len()];
        while let Some(index) = open.pop() {
            if !std::mem::replace(&mut seen[index], true) && !walls.contains(&index) {
                open.extend(&edges[index]);
            }
        }
        (0..seen.len()).filter(|&i| seen[i]).collect()
    }
}
