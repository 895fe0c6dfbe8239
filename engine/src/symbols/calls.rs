//! Calls: their targets, and the places that call a function.
//!
//! Stage: before attaching. From: machine code, [`Names`] and [`Relocations`]. To: call sites of a
//! named function, through the procedure linkage table or not. Promises: a call site found by its
//! bytes is only a candidate. [`Function`](crate::code::function::Function) confirms that an
//! instruction starts there.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::names::{BackendFunction, Names};
use crate::code::dataflow::{Trace, Value};
use crate::code::instruction::Flow;
use crate::code::scan;
use crate::file::elf::Image;
use crate::file::relocs::Relocations;

/// The known calls of one file.
#[derive(Debug)]
pub(crate) struct Calls<'p, 'd> {
    pub(crate) image: &'p Image<'d>,
    pub(crate) names: Names<'d>,
    /// Whether the file contains the engine and names none of its functions, so that they must be
    /// recovered.
    pub(crate) stripped: bool,
    relocations: OnceCell<Relocations<'d>>,
}

impl<'p, 'd> Calls<'p, 'd> {
    /// The names in the file. [`messages::recover`](crate::probes::messages::recover) adds
    /// functions without a name.
    pub(crate) fn new(image: &'p Image<'d>, backends: &[BackendFunction]) -> Self {
        Self { image, names: Names::read(image, backends), stripped: false, relocations: OnceCell::new() }
    }

    /// The file's relocations, read when first needed.
    pub(crate) fn relocations(&self) -> &Relocations<'d> {
        self.relocations.get_or_init(|| Relocations::read(self.image))
    }

    /// Address of the function of GGML or llama.cpp with this name.
    pub(crate) fn function(&self, name: &str) -> Option<u64> {
        Some(self.names.get(name).filter(|s| self.image.is_code(s.address))?.address)
    }

    /// Name of the function that a call of this address reaches.
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

    /// Slot through which the stub at the address jumps: `jmp *slot(%rip)`, or `adrp`, `ldr`, `br`,
    /// with or without a landing pad before it.
    fn stub_slot(&self, address: u64) -> Option<u64> {
        if !self.image.is_code(address) {
            return None;
        }
        match Trace::new(self.image, address, 5).jumped? {
            Value::Word(slot) => Some(slot),
            _ => None,
        }
    }

    /// Addresses of calls whose target passes the test, with its name.
    pub(crate) fn sites(&self, wanted: impl Fn(&str) -> bool) -> Vec<(u64, &'d str)> {
        // Hardly any function is called from only one place.
        let mut known: HashMap<Flow, Option<&'d str>> = HashMap::new();
        let mut sites = Vec::new();
        scan::calls(self.image, |site, flow| {
            let name = *known.entry(flow).or_insert_with(|| self.called_by(flow).filter(|n| wanted(n)));
            sites.extend(name.map(|name| (site, name)));
        });
        sites
    }

    /// Addresses of direct calls of an address.
    pub(crate) fn callers(&self, address: u64) -> Vec<u64> {
        let mut sites = Vec::new();
        scan::calls(self.image, |site, flow| {
            if flow == Flow::Call(address) {
                sites.push(site);
            }
        });
        sites
    }
}
