//! Names of operators and element types, read from the engine's own arrays.
//!
//! Stage: before attaching. From: the file's relocations: an array of pointers to strings. To:
//! [`Tables`]. Promises: only names that the engine itself would print. An array counts when it
//! begins with the strings that it begins with in every release.

use crate::file::elf::Image;
use crate::file::relocs::{POINTER, Relocations};
use crate::symbols::calls::Calls;

/// One tensor element type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataType {
    /// Name, for example `q4_K`; empty for a number that the engine no longer uses.
    pub name: String,
    /// Elements per block.
    pub block_elements: u32,
    /// Bytes per block.
    pub block_bytes: u32,
}

/// Names from the engine's own tables, indexed by the engine's numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// `ggml_op`.
    pub ops: Vec<String>,
    /// `ggml_unary_op`, for operator `UNARY` (number in the first op parameter).
    pub unary: Vec<String>,
    /// `ggml_glu_op`, for operator `GLU`.
    pub glu: Vec<String>,
    /// `ggml_type`.
    pub types: Vec<DataType>,
}

/// First names of the arrays `GGML_OP_NAME`, `GGML_UNARY_OP_NAME` and `GGML_GLU_OP_NAME` of ggml.c.
const FIRST_OPS: [&str; 3] = ["NONE", "DUP", "ADD"];
const FIRST_UNARY: [&str; 3] = ["ABS", "SGN", "NEG"];
const FIRST_GLU: [&str; 3] = ["REGLU", "GEGLU", "SWIGLU"];
/// An operator of every release, after those.
const SURE: &str = "MUL_MAT";
/// First names of the array `type_traits`, and the blocks that they have always had: (name,
/// elements, bytes).
const FIRST_TYPES: [(&str, u32, u32); 4] = [("f32", 1, 4), ("f16", 1, 2), ("q4_0", 32, 18), ("q4_1", 32, 20)];
/// Longest accepted arrays.
const MOST_NAMES: u64 = 512;
const MOST_TYPES: u64 = 256;

/// Whether the file has the name of an operator of every release. Without it there is no array, and
/// the relocations need not be read: the compiler of a driver, which an accelerator's backend
/// loads, has a million of them.
pub(crate) fn may_be_in(image: &Image<'_>) -> bool {
    memchr::memmem::find(image.data, b"MUL_MAT\0").is_some()
}

/// Reads all arrays. Those that the file does not have stay empty.
pub(crate) fn read(calls: &Calls<'_, '_>) -> Tables {
    let (image, relocations) = (calls.image, calls.relocations());
    let mut tables = Tables::default();
    for (word, target) in relocations.pointers() {
        let Some(first) = image.text(target, 24) else { continue };
        let names = |first: &[&str; 3]| names(image, relocations, word, first);
        match first {
            "NONE" if tables.ops.is_empty() => tables.ops = names(&FIRST_OPS),
            "ABS" if tables.unary.is_empty() => tables.unary = names(&FIRST_UNARY),
            "REGLU" if tables.glu.is_empty() => tables.glu = names(&FIRST_GLU),
            "f32" if tables.types.is_empty() => tables.types = types(image, relocations, word),
            _ => {}
        }
    }
    tables
}

/// Names from `word` on, if they begin with `first`.
fn names(image: &Image<'_>, relocations: &Relocations<'_>, word: u64, first: &[&str; 3]) -> Vec<String> {
    let at = |index: u64| relocations.text(image, word.checked_add(index * POINTER)?, 64);
    let begins = |index: u64, with: &[&str; 3]| (index..).zip(with).all(|(n, name)| at(n) == Some(name));
    if !begins(0, first) {
        return Vec::new();
    }
    let mut names = Vec::new();
    for index in 0..MOST_NAMES {
        let Some(name) = at(index).filter(|n| is_name(n)) else { break };
        // The next array may follow without a gap. Operators of 2023 included ABS, SGN and NEG,
        // before others.
        let whole = first != &FIRST_OPS || names.iter().any(|n| n == SURE);
        if index > 0 && whole && [&FIRST_OPS, &FIRST_UNARY, &FIRST_GLU].iter().any(|with| begins(index, with))
        {
            break;
        }
        names.push(name.to_owned());
    }
    names
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Types from the name pointer at `word` on, if the array begins there.
fn types(image: &Image<'_>, relocations: &Relocations<'_>, word: u64) -> Vec<DataType> {
    // Stride and the offset of the block's size differ between releases: they are found, not known.
    for stride in (24..=160).step_by(8) {
        for bytes_at in [16, 24] {
            let shape = Shape { word, stride, bytes_at };
            let known = (0..).zip(FIRST_TYPES).all(|(index, (name, elements, bytes))| {
                let entry = shape.entry(image, relocations, index);
                entry
                    .is_some_and(|e| e.name == name && e.block_elements == elements && e.block_bytes == bytes)
            });
            if known {
                let mut all: Vec<_> =
                    (0..MOST_TYPES).map_while(|index| shape.entry(image, relocations, index)).collect();
                while all.last().is_some_and(|t| t.name.is_empty()) {
                    all.pop();
                }
                return all;
            }
        }
    }
    Vec::new()
}

/// Layout of the array of types.
struct Shape {
    word: u64,
    stride: u64,
    bytes_at: u64,
}

impl Shape {
    /// A type; its name is empty when the engine no longer uses the number. None after the end.
    fn entry(&self, image: &Image<'_>, relocations: &Relocations<'_>, index: u64) -> Option<DataType> {
        let at = self.word.checked_add(index * self.stride)?;
        let unused = DataType { name: String::new(), block_elements: 0, block_bytes: 0 };
        if relocations.pointer(at).is_none() {
            // A number without a type is all zeros up to its flags.
            let blank = image.bytes(at, self.bytes_at + 8)?.iter().all(|&b| b == 0);
            return blank.then_some(unused);
        }
        let name = relocations.text(image, at, 128)?;
        let (elements, bytes) = (image.u64(at.checked_add(8)?)?, image.u64(at.checked_add(self.bytes_at)?)?);
        // Where the count is 32 bits wide, the upper half is padding of the same zeros.
        let (Ok(block_elements), Ok(block_bytes)) = (u32::try_from(elements), u32::try_from(bytes)) else {
            return None;
        };
        if block_elements == 0 || block_bytes == 0 {
            return Some(unused);
        }
        Some(DataType { name: name.to_owned(), block_elements, block_bytes })
    }
}
