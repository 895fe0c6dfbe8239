//! Calls: what a call goes to, and where a function is called from.
//!
//! Stage: before attaching. From: machine code, [`Names`] and [`Relocations`]. To: call sites of a named
//! function, through the procedure linkage table or not. Promises: a call site found by its bytes is
//! only a candidate; [`Body`](super::body::Body) confirms that an instruction starts there.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::code::Flow;
use super::elf::{Image, Machine};
use super::messages;
use super::names::Names;
use super::relocs::Relocations;
use super::trace::{Trace, Value};

/// What is known about one file's calls.
#[derive(Debug)]
pub(crate) struct Calls<'p, 'd> {
    pub(crate) image: &'p Image<'d>,
    pub(crate) names: Names<'d>,
    /// Whether the file has the engine in it and names none of its functions, so that they had to be found.
    pub(crate) unnamed: bool,
    relocations: OnceCell<Relocations<'d>>,
}

impl<'p, 'd> Calls<'p, 'd> {
    pub(crate) fn new(image: &'p Image<'d>) -> Self {
        let mut calls =
            Self { image, names: Names::read(image), unnamed: false, relocations: OnceCell::new() };
        calls.unnamed = messages::names_nothing(&calls);
        if calls.unnamed {
            for found in messages::find(&calls) {
                calls.names.add(found);
            }
        }
        calls
    }

    /// The file's relocations, read when first needed.
    pub(crate) fn relocations(&self) -> &Relocations<'d> {
        self.relocations.get_or_init(|| Relocations::read(self.image))
    }

    /// Address of the function of GGML or llama.cpp with this name.
    pub(crate) fn function(&self, name: &str) -> Option<u64> {
        Some(self.names.get(name).filter(|s| self.image.is_code(s.address))?.address)
    }

    /// Name of the function that a call of this address ends up in.
    pub(crate) fn callee(&self, address: u64) -> Option<&'d str> {
        self.names.at(address).or_else(|| self.relocations().slot(self.stub_slot(address)?))
    }

    /// Name of the function that the instruction calls.
    pub(crate) fn called_by(&self, flow: Flow) -> Option<&'d str> {
        match flow {
            Flow::Call(target) => self.callee(target),
            Flow::CallSlot(slot) => self.relocations().slot(slot),
            _ => None,
        }
    }

    /// Slot through which the stub at the address jumps: `jmp *slot(%rip)`, or `adrp`, `ldr`, `br`, with or
    /// without a landing pad in front.
    fn stub_slot(&self, address: u64) -> Option<u64> {
        if !self.image.is_code(address) {
            return None;
        }
        match Trace::of(self.image, address, 5).jumped? {
            Value::Word(slot) => Some(slot),
            _ => None,
        }
    }

    /// Addresses of calls whose callee passes the test, with the callee's name.
    pub(crate) fn sites(&self, wanted: impl Fn(&str) -> bool) -> Vec<(u64, &'d str)> {
        let mut known: HashMap<Destination, Option<&'d str>> = HashMap::new();
        let mut sites = Vec::new();
        for (start, bytes) in self.image.code() {
            self.candidates(start, bytes, &mut |site, flow, key| {
                let name = *known.entry(key).or_insert_with(|| self.called_by(flow).filter(|n| wanted(n)));
                sites.extend(name.map(|name| (site, name)));
            });
        }
        sites
    }

    /// Addresses of direct calls of an address.
    pub(crate) fn callers(&self, address: u64) -> Vec<u64> {
        let mut sites = Vec::new();
        for (start, bytes) in self.image.code() {
            self.candidates(start, bytes, &mut |site, flow, _| {
                if flow == Flow::Call(address) {
                    sites.push(site);
                }
            });
        }
        sites
    }

    fn candidates(&self, start: u64, bytes: &[u8], found: &mut impl FnMut(u64, Flow, Destination)) {
        match self.image.machine {
            Machine::X86_64 => {
                for (at, window) in (start..).zip(bytes.windows(6)) {
                    let relative = |from: usize, length: u64| {
                        let by = window[from..from + 4].try_into().map_or(0, i32::from_le_bytes);
                        at.wrapping_add(length).wrapping_add_signed(by.into())
                    };
                    match *window {
                        [0xe8, ..] => {
                            let target = relative(1, 5);
                            found(at, Flow::Call(target), (false, target));
                        }
                        [0xff, 0x15, ..] => {
                            let slot = relative(2, 6);
                            found(at, Flow::CallSlot(slot), (true, slot));
                        }
                        _ => {}
                    }
                }
            }
            Machine::Arm64 => {
                for (at, word) in (start..).step_by(4).zip(bytes.chunks_exact(4)) {
                    let word = word.try_into().map_or(0, u32::from_le_bytes);
                    if word & 0xfc00_0000 == 0x9400_0000 {
                        // `bl`: 26 bits, in words.
                        let by = i64::from((word << 6).cast_signed() >> 4);
                        let target = at.wrapping_add_signed(by);
                        found(at, Flow::Call(target), (false, target));
                    }
                }
            }
        }
    }
}

/// A call's destination: through a slot or not, and its address.
type Destination = (bool, u64);
