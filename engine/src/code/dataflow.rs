//! Follows what a short function does with its arguments, in a straight line.
//!
//! Stage: before attaching. From: a function's first instructions. To: [`Trace`]: the fields of its
//! arguments that it accesses, and its return value. [`layout`](crate::facts::layout) learns struct
//! offsets from it. Promises: it follows values only through copies and constant additions.
//! Anything else makes them unknown, so a field that is named was really addressed from that
//! argument.

use super::decode::{decode, effect};
use super::instruction::{Effect, Flow, Register};
use crate::file::elf::Image;

/// The content of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    Unknown,
    Constant(u64),
    /// The argument with this number, plus an offset.
    Argument(u8, i64),
    /// The memory word at this offset from the argument with this number.
    Field(u8, i64),
    /// The memory word at this address.
    Word(u64),
}

/// Result of following a function.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Trace {
    /// (argument, offset) of memory that is read or written, in order, once each.
    pub(crate) touched: Vec<(u8, i64)>,
    /// Whether every path was followed to the return, and the value returned then.
    pub(crate) returned: Option<Value>,
    /// Target of the last jump through a register.
    pub(crate) jumped: Option<Value>,
}

impl Trace {
    /// Follows at most `limit` instructions from an address. Calls and loops do not end it:
    /// registers that calls may change become unknown.
    pub(crate) fn new(image: &Image<'_>, address: u64, limit: usize) -> Self {
        let mut trace = Self::default();
        let Some(end) = address.checked_add(16 * limit as u64) else { return trace };
        let mut registers = Registers::at_entry(image);
        let mut straight = true;
        for instruction in decode(image, address, end).iter().take(limit) {
            let done = effect(image, instruction);
            trace.touch(registers.accessed(done));
            registers.apply(done);
            match instruction.flow {
                Flow::Next => {}
                Flow::Branch(_) => straight = false,
                Flow::Call(_) | Flow::CallSlot(_) | Flow::CallAny => {
                    straight = false;
                    registers.forget_called(image);
                }
                Flow::Return => {
                    let result = registers.get(image.machine.convention().result);
                    trace.returned = straight.then_some(result);
                    break;
                }
                Flow::JumpSlot(slot) => trace.jumped = Some(Value::Word(slot)),
                Flow::JumpAny => trace.jumped = registers.last,
                Flow::Jump(_) | Flow::Stop => {}
            }
            if !matches!(
                instruction.flow,
                Flow::Next | Flow::Branch(_) | Flow::Call(_) | Flow::CallSlot(_) | Flow::CallAny
            ) {
                break;
            }
        }
        trace
    }

    fn touch(&mut self, accessed: Option<(u8, i64)>) {
        if let Some(field) = accessed.filter(|f| !self.touched.contains(f)) {
            self.touched.push(field);
        }
    }

    /// Whether the function accesses this offset of this argument.
    pub(crate) fn touches(&self, argument: u8, offset: i64) -> bool {
        self.touched.contains(&(argument, offset))
    }
}

/// Values of all general registers.
struct Registers {
    values: [Value; 32],
    /// The last loaded value.
    last: Option<Value>,
}

impl Registers {
    fn at_entry(image: &Image<'_>) -> Self {
        let mut values = [Value::Unknown; 32];
        for (number, register) in (0..).zip(image.machine.convention().arguments) {
            values[usize::from(register)] = Value::Argument(number, 0);
        }
        Self { values, last: None }
    }

    fn get(&self, register: Register) -> Value {
        self.values.get(usize::from(register)).copied().unwrap_or(Value::Unknown)
    }

    fn set(&mut self, register: Register, value: Value) {
        if let Some(slot) = self.values.get_mut(usize::from(register)) {
            *slot = value;
        }
    }

    fn forget_called(&mut self, image: &Image<'_>) {
        let saved = image.machine.convention().callee_saved;
        for (register, value) in self.values.iter_mut().enumerate() {
            if saved >> register & 1 == 0 {
                *value = Value::Unknown;
            }
        }
    }

    fn moved(&self, from: Register, add: i64) -> Value {
        match self.get(from) {
            Value::Argument(number, offset) => Value::Argument(number, offset.wrapping_add(add)),
            Value::Constant(value) => Value::Constant(value.wrapping_add_signed(add)),
            _ => Value::Unknown,
        }
    }

    fn loaded(&self, base: Register, offset: i64) -> Value {
        match self.moved(base, offset) {
            Value::Argument(number, offset) => Value::Field(number, offset),
            Value::Constant(address) => Value::Word(address),
            _ => Value::Unknown,
        }
    }

    /// The argument's field that the instruction reads or writes.
    fn accessed(&self, effect: Effect) -> Option<(u8, i64)> {
        let (Effect::Load { base, offset, .. }
        | Effect::LoadPair { base, offset, .. }
        | Effect::Combine { base, offset, .. }
        | Effect::Look { base, offset }
        | Effect::Store { base, offset, .. }) = effect
        else {
            return None;
        };
        match self.moved(base, offset) {
            Value::Argument(number, offset) => Some((number, offset)),
            _ => None,
        }
    }

    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::None | Effect::Look { .. } | Effect::Store { .. } | Effect::SaveLink => {}
            Effect::Copy { to, from } => self.set(to, self.get(from)),
            Effect::Add { to, from, add } => self.set(to, self.moved(from, add)),
            Effect::Constant { to, value } => self.set(to, Value::Constant(value)),
            Effect::Load { to, base, offset } => {
                let value = self.loaded(base, offset);
                self.last = Some(value);
                self.set(to, value);
            }
            Effect::LoadPair { to: [a, b], base, offset } => {
                let values = [self.loaded(base, offset), self.loaded(base, offset.wrapping_add(8))];
                self.set(a, values[0]);
                self.set(b, values[1]);
            }
            Effect::Write { to } | Effect::Combine { to, .. } => self.set(to, Value::Unknown),
            Effect::Unknown => self.values = [Value::Unknown; 32],
        }
    }
}
