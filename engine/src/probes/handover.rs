//! Where the scheduler hands a split to a backend.
//!
//! `ggml_backend_graph_compute_async(backend, cgraph)` only jumps through the backend's pointer
//! `iface.graph_compute`. gcc keeps the scheduler's calls of it. clang replaces them with the call
//! through the pointer, so that the function exists but is never called. Stage: before attaching.
//! From: the function, which reveals the offset of the pointer, and the scheduler's code. To:
//! [`Handover`]. Promises: an inlined call is inside the scheduler, goes through that very field of
//! its first argument, and has an address computed just before as its second.

use std::collections::BTreeSet;

use super::missing::MissingReason;
use crate::code::decode;
use crate::code::function::Function;
use crate::code::instruction::{Effect, Flow, Instruction, Register, Through};
use crate::file::elf::Image;
use crate::symbols::calls::Calls;
use crate::symbols::names::plain;

/// The function that every split passes where it is not inlined.
pub(crate) const FUNCTION: &str = "ggml_backend_graph_compute_async";
/// The scheduler's entries. The functions in the file that they call belong to it, too.
const SCHEDULER: [&str; 2] = ["ggml_backend_sched_graph_compute_async", "ggml_backend_sched_graph_compute"];

/// How the scheduler reaches a backend.
#[derive(Debug)]
pub(crate) enum Handover {
    /// It calls the function.
    Called,
    /// It calls through the backend's pointer, at this offset in bytes, and calls the function from
    /// that many places.
    Inlined { sites: Vec<Instruction>, offset: i64, called: usize },
    /// Neither was seen, and the possible reason.
    Unseen(MissingReason),
}

/// Examines the scheduler; `None` where the file has no scheduler or lacks the function.
pub(crate) fn handover(calls: &Calls<'_, '_>) -> Option<Handover> {
    let function = calls.names.get(FUNCTION).filter(|s| calls.image.is_code(s.address))?;
    let bodies = scheduler(calls);
    if bodies.is_empty() {
        return None;
    }
    let named = |flow| {
        let name = match flow {
            // A call as the last action is a jump.
            Flow::Jump(to) => calls.callee(to),
            flow => calls.called_by(flow),
        };
        name.map(plain) == Some(FUNCTION)
    };
    let called = bodies.iter().flat_map(|b| &b.code).filter(|i| named(i.flow)).count();
    let Some(offset) = pointer(calls.image, function.address, function.size) else {
        return Some(match called {
            0 => Handover::Unseen(MissingReason::HandoverHidden),
            _ => Handover::Called,
        });
    };
    let found = bodies.iter().flat_map(|body| inlined(calls.image, body, offset));
    let sites: BTreeSet<_> = found.map(|i| i.address).collect();
    let all = bodies.iter().flat_map(|b| &b.code).copied();
    let sites: Vec<_> = all.filter(|i| sites.contains(&i.address)).collect();
    Some(match (sites.is_empty(), called) {
        (false, called) => Handover::Inlined { sites, offset, called },
        (true, 0) => Handover::Unseen(MissingReason::HandoverNotCalled(offset)),
        (true, _) => Handover::Called,
    })
}

/// The scheduler's functions: the exported ones, and those in the file that they call.
fn scheduler(calls: &Calls<'_, '_>) -> Vec<Function> {
    let entries: BTreeSet<_> = SCHEDULER.iter().filter_map(|name| calls.function(name)).collect();
    let own: Vec<_> = entries.iter().filter_map(|address| Function::around(calls.image, *address)).collect();
    let called: BTreeSet<u64> = own
        .iter()
        .flat_map(|b| &b.code)
        .filter_map(|i| match i.flow {
            Flow::Call(to) | Flow::Jump(to) => Some(to),
            _ => None,
        })
        .collect();
    // Other exported functions are not the scheduler's.
    let own_or_unnamed = |address: &u64| {
        let name = calls.callee(*address);
        name.is_none_or(|name| plain(name).starts_with("ggml_backend_sched")) && !entries.contains(address)
    };
    let around = called
        .into_iter()
        .filter(own_or_unnamed)
        .filter_map(|address| Function::around(calls.image, address));
    let mut all: Vec<Function> = own;
    for body in around {
        if all.iter().all(|b| b.start != body.start) {
            all.push(body);
        }
    }
    all
}

/// Offset in the backend of the pointer through which the function at `address` passes its
/// arguments on.
fn pointer(image: &Image<'_>, address: u64, size: u64) -> Option<i64> {
    let end = address.checked_add(if size > 0 { size } else { 64 })?;
    let body = Function::new(image, address, end);
    let mut known = Known::new();
    let backend = known.id(image.machine.convention().arguments[0]);
    body.code
        .iter()
        .find_map(|i| known.step(image, &body, i, true))
        .filter(|call| call.base == backend)
        .map(|c| c.offset)
}

/// Calls in the function through that offset of their first argument.
fn inlined<'b>(image: &Image<'_>, body: &'b Function, offset: i64) -> Vec<&'b Instruction> {
    let [backend, graph, _] = image.machine.convention().arguments;
    let mut known = Known::new();
    let mut found = Vec::new();
    for instruction in &body.code {
        let arguments = (known.id(backend), known.value(graph).what);
        let through = known.step(image, body, instruction, false);
        if through.is_some_and(|call| (call.base, call.offset) == (arguments.0, offset))
            && arguments.1 == What::Computed
        {
            found.push(instruction);
        }
    }
    found
}

/// A call of, or a jump to, the target of a field.
#[derive(Debug, Clone, Copy)]
struct Field {
    base: u32,
    offset: i64,
}

/// Origin of a register's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Unknown,
    /// Copied or summed.
    Computed,
    /// Read at that offset from the value with that number.
    Loaded(u32, i64),
}

#[derive(Debug, Clone, Copy)]
struct Value {
    /// Two registers with the same number have the same value.
    id: u32,
    what: What,
}

/// Known values of the general registers on the straight path to an instruction.
struct Known {
    values: [Value; 32],
    next: u32,
}

impl Known {
    fn new() -> Self {
        let mut known = Self { values: [Value { id: 0, what: What::Unknown }; 32], next: 0 };
        known.forget(0);
        known
    }

    fn value(&self, register: Register) -> Value {
        self.values.get(usize::from(register)).copied().unwrap_or(Value { id: u32::MAX, what: What::Unknown })
    }

    fn id(&self, register: Register) -> u32 {
        self.value(register).id
    }

    fn set(&mut self, register: Register, what: What) {
        self.next += 1;
        if let Some(value) = self.values.get_mut(usize::from(register)) {
            *value = Value { id: self.next, what };
        }
    }

    /// Forgets every register except those of `saved`, one bit each.
    fn forget(&mut self, saved: u32) {
        for register in 0..32 {
            if saved >> register & 1 == 0 {
                self.set(register, What::Unknown);
            }
        }
    }

    /// Adds an instruction. Returns the field, if it is a call (or with `jumps` also a jump)
    /// through one.
    fn step(
        &mut self,
        image: &Image<'_>,
        body: &Function,
        instruction: &Instruction,
        jumps: bool,
    ) -> Option<Field> {
        if body.is_target(instruction.address) {
            self.forget(0);
        }
        let wanted = instruction.flow == Flow::CallAny || jumps && instruction.flow == Flow::JumpAny;
        let through =
            wanted.then(|| decode::through(image, instruction)).flatten().and_then(|through| match through {
                Through::Register(register) => match self.value(register).what {
                    What::Loaded(base, offset) => Some(Field { base, offset }),
                    _ => None,
                },
                Through::Field(base, offset) => Some(Field { base: self.id(base), offset }),
            });
        match instruction.flow {
            Flow::Call(_) | Flow::CallSlot(_) | Flow::CallAny => {
                self.forget(image.machine.convention().callee_saved)
            }
            Flow::Next | Flow::Branch(_) => self.apply(decode::effect(image, instruction)),
            // The code after it is reached from elsewhere.
            Flow::Jump(_) | Flow::JumpSlot(_) | Flow::JumpAny | Flow::Return | Flow::Stop => self.forget(0),
        }
        through
    }

    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::None | Effect::Look { .. } | Effect::Store { .. } | Effect::SaveLink => {}
            Effect::Copy { to, from } => {
                let Value { id, what } = self.value(from);
                // A pointer that was read stays one that was read.
                let what = if what == What::Unknown { What::Computed } else { what };
                if let Some(value) = self.values.get_mut(usize::from(to)) {
                    *value = Value { id, what };
                }
            }
            Effect::Add { to, .. } => self.set(to, What::Computed),
            Effect::Load { to, base, offset } => self.set(to, What::Loaded(self.id(base), offset)),
            Effect::LoadPair { to: [a, b], base, offset } => {
                let base = self.id(base);
                self.set(a, What::Loaded(base, offset));
                self.set(b, What::Loaded(base, offset.wrapping_add(8)));
            }
            Effect::Write { to } | Effect::Combine { to, .. } | Effect::Constant { to, .. } => {
                self.set(to, What::Unknown)
            }
            Effect::Unknown => self.forget(0),
        }
    }
}
