//! Which instructions of a function are reached from which, and past which.
//!
//! A start that reaches the next start without passing the end would leave an operator open. An
//! operator's code that is reached without passing a start would be missed.
//! [`dispatch`](crate::probes::dispatch) searches both in this control flow graph before anything
//! is attached. Promises: a path that is found exists in the graph. The targets of a jump table are
//! those in the table, and the blocks that nothing leads to, not even a table.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::Calls;
use super::names::{NEVER_RETURN, plain};
use crate::code::decode::is_padding;
use crate::code::function::Function;
use crate::code::instruction::Flow;
use crate::code::jump_table;

/// Control flow graph of a function, by index of its instructions.
#[derive(Debug)]
pub(crate) struct Paths {
    /// The instructions that may directly follow an instruction.
    next: Vec<[Option<usize>; 2]>,
    /// Possible targets of each instruction that jumps through a table.
    tables: BTreeMap<usize, Vec<usize>>,
}

impl Paths {
    pub(crate) fn new(body: &Function, calls: &Calls<'_, '_>) -> Self {
        let count = body.code.len();
        let mut next = Vec::with_capacity(count);
        for (index, instruction) in body.code.iter().enumerate() {
            let behind = (index + 1 < count).then_some(index + 1);
            let callee = || calls.called_by(instruction.flow).map(plain);
            next.push(match instruction.flow {
                Flow::Next => [behind, None],
                Flow::Jump(to) => [body.index(to), None],
                Flow::Branch(to) => [body.index(to), behind],
                Flow::Call(_) | Flow::CallSlot(_) | Flow::CallAny => {
                    [behind.filter(|_| !callee().is_some_and(|name| NEVER_RETURN.contains(&name))), None]
                }
                Flow::JumpSlot(_) | Flow::JumpAny | Flow::Return | Flow::Stop => [None, None],
            });
        }
        let tables = tables(body, calls, &orphans(body, calls, &next));
        Self { next, tables }
    }

    /// Instructions that are reached after `from` without passing through a wall. Walls that were
    /// met are reached.
    pub(crate) fn reached(&self, from: usize, walls: &[usize]) -> Vec<bool> {
        let mut wall = vec![false; self.next.len()];
        for &index in walls {
            wall[index] = true;
        }
        let mut seen = vec![false; self.next.len()];
        let mut open = vec![from];
        let mut first = true;
        while let Some(index) = open.pop() {
            if !first && (std::mem::replace(&mut seen[index], true) || wall[index]) {
                continue;
            }
            first = false;
            open.extend(self.next[index].into_iter().flatten());
            open.extend(self.tables.get(&index).into_iter().flatten());
        }
        seen
    }
}

/// Possible targets of each jump through a table: those in its table, and blocks that nothing else
/// leads to. A jump whose table cannot be read may lead to each of the orphans.
fn tables(body: &Function, calls: &Calls<'_, '_>, orphans: &[usize]) -> BTreeMap<usize, Vec<usize>> {
    let jumps = body.code.iter().enumerate().filter(|(_, i)| i.flow == Flow::JumpAny).map(|(n, _)| n);
    let read: Vec<_> = jumps.map(|jump| (jump, jump_table::targets(calls.image, body, jump))).collect();
    let named: BTreeSet<usize> =
        read.iter().flat_map(|(_, targets)| targets.iter().flatten().copied()).collect();
    let others: Vec<usize> = orphans.iter().copied().filter(|n| !named.contains(n)).collect();
    let all = |targets: Option<Vec<usize>>| match targets {
        Some(targets) => [targets, others.clone()].concat(),
        None => orphans.to_vec(),
    };
    read.into_iter().map(|(jump, targets)| (jump, all(targets))).collect()
}

/// Instructions that nothing leads to directly: targets of jump tables.
fn orphans(body: &Function, calls: &Calls<'_, '_>, next: &[[Option<usize>; 2]]) -> Vec<usize> {
    let mut led_to = vec![false; next.len()];
    for to in next.iter().flatten().flatten() {
        led_to[*to] = true;
    }
    let mut orphans = Vec::new();
    // Padding leads nowhere: something else must lead to the code after it.
    let mut behind_padding = false;
    for (index, instruction) in body.code.iter().enumerate().skip(1) {
        let unled = !led_to[index] || (behind_padding && !body.is_target(instruction.address));
        behind_padding = unled && is_padding(calls.image, instruction);
        if unled && !behind_padding {
            orphans.push(index);
        }
    }
    orphans
}
