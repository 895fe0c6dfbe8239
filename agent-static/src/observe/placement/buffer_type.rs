//! The type of a buffer, as the engine names it.
//!
//! A `ggml_backend_buffer` consists of function pointers, the pointer to its type, and data. A
//! `ggml_backend_buffer_type` begins with `get_name`, a function that returns a constant text, or
//! one in the type's own context. The number of function pointers differs between releases. So the
//! pointer to the type is searched: it is the first word that is neither zero nor a code address.
//! Only a type begins with a function that returns a short printable text. Otherwise, as in
//! releases whose types had no names, the type is unknown.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use profinfer_engine::{Machine, returned};

use crate::target::maps::Mapping;

/// Bytes of the buffer's struct that are examined. Releases have nine function pointers, in 2026
/// eleven, and 14 from llama.cpp 0.8.0. The search ends at the type, which every buffer has.
const BUFFER: usize = 24 * 8;
/// Bytes of `get_name` that are examined.
const CODE: usize = 64;
const NAME: usize = 48;
/// The traced processes run on this machine.
const MACHINE: Machine = if cfg!(target_arch = "aarch64") { Machine::Arm64 } else { Machine::X86_64 };

/// Type names of the buffers of one process.
#[derive(Debug)]
pub struct BufferTypes<'a> {
    memory: Option<&'a File>,
    mappings: &'a [Mapping],
    types: Vec<(u64, String)>,
    buffers: HashMap<u64, Option<usize>>,
}

impl<'a> BufferTypes<'a> {
    /// Reads from `memory`, the process's /proc/PID/mem; `mappings` are in order.
    #[must_use]
    pub fn new(memory: Option<&'a File>, mappings: &'a [Mapping]) -> Self {
        Self { memory, mappings, types: Vec::new(), buffers: HashMap::new() }
    }

    /// The type name of the buffer whose struct is at `address`; empty if unknown.
    pub fn name(&mut self, address: u64) -> &str {
        let known = self.buffers.get(&address).copied();
        let at = known.unwrap_or_else(|| {
            let at = self.find(address);
            self.buffers.insert(address, at);
            at
        });
        at.and_then(|at| self.types.get(at)).map_or("", |(_, name)| name)
    }

    /// Index of the buffer's type.
    fn find(&mut self, buffer: u64) -> Option<usize> {
        let mut bytes = [0; BUFFER];
        // At the end of a mapping there are fewer bytes.
        let n = self.memory?.read_at(&mut bytes, buffer).ok()?;
        let words = bytes.get(..n)?.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
        let kind = words.into_iter().find(|w| *w != 0 && self.code(*w).is_none())?;
        if let Some(at) = self.types.iter().position(|(address, _)| *address == kind) {
            return Some(at);
        }
        let name = self.name_of_type(kind)?;
        self.types.push((kind, name));
        Some(self.types.len() - 1)
    }

    fn name_of_type(&self, kind: u64) -> Option<String> {
        let memory = self.memory?;
        let mut word = |at| {
            let mut bytes = [0; 8];
            memory.read_exact_at(&mut bytes, at).ok()?;
            Some(u64::from_ne_bytes(bytes))
        };
        let get_name = word(kind)?;
        let mapping = self.code(get_name)?;
        let mut bytes = [0; CODE];
        let bytes = &mut bytes[..CODE.min(usize::try_from(mapping.end - get_name).ok()?)];
        memory.read_exact_at(bytes, get_name).ok()?;
        let text = returned(MACHINE, bytes, get_name, kind, &mut word)?;
        printable(memory, text)
    }

    /// The mapping with the code at an address.
    fn code(&self, address: u64) -> Option<&Mapping> {
        let mapping = self.mappings.get(self.mappings.partition_point(|m| m.end <= address))?;
        (mapping.start <= address && mapping.executable).then_some(mapping)
    }
}

/// The text at `address`, if it is short, terminated and printable.
fn printable(memory: &File, address: u64) -> Option<String> {
    let mut bytes = [0; NAME + 1];
    let n = memory.read_at(&mut bytes, address).ok()?;
    let text = bytes.get(..n)?.split(|b| *b == 0).next().filter(|t| !t.is_empty() && t.len() < n)?;
    text.iter()
        .all(|b| b.is_ascii_graphic() || *b == b' ')
        .then(|| String::from_utf8_lossy(text).into_owned())
}
