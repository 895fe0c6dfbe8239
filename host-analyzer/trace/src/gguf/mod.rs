//! Headers of GGUF files: settings and tensors of a model, without its weights.
//!
//! Stage: reading. From: the first bytes of a file, and its length. To: a [`Blueprint`]. Promises:
//! any bytes give a blueprint or an [`Error`]; nothing panics. It opens nothing and reads only the
//! header. Memory is limited to [`MOST_KEPT`] and a table of [`MOST_TENSORS`], whatever the file
//! claims.
//!
//! The format is that of `docs/gguf.md` of the ggml project, versions 2 and 3, in little endian.
//! `docs/decisions/gguf-by-hand.md` gives the reasons against a library.

mod bytes;
mod error;
mod tensor;
mod types;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

pub use error::Error;

use crate::model::Blueprint;
use bytes::Bytes;

/// Most bytes of a header. The largest vocabularies need about 20 MB.
pub const MOST_HEADER: u64 = 256 << 20;

/// Most bytes of names and values that are kept.
pub const MOST_KEPT: u64 = 16 << 20;

/// Most tensors of a file.
pub const MOST_TENSORS: u64 = 65_536;

/// Most settings of a file.
const MOST_SETTINGS: u64 = 65_536;

/// Alignment of the weights, unless the file has another.
const ALIGNMENT: u64 = 32;

/// Reads the header of a file of `len` bytes.
///
/// # Errors
/// [`Error`]: why the bytes are not a readable header.
pub fn read(source: &mut dyn Read, file_bytes: u64) -> Result<Blueprint, Error> {
    let mut bytes = Bytes::new(source, file_bytes);
    if &bytes.array::<4>()? != b"GGUF" {
        return Err(Error::NotGguf);
    }
    match bytes.u32()? {
        2 | 3 => {}
        version => return Err(Error::Version(version)),
    }
    let (tensors, settings) = (bytes.u64()?, bytes.u64()?);
    if tensors > MOST_TENSORS {
        return Err(Error::TooMany { what: "tensors", count: tensors, most: MOST_TENSORS });
    }
    if settings > MOST_SETTINGS {
        return Err(Error::TooMany { what: "settings", count: settings, most: MOST_SETTINGS });
    }
    let mut blueprint = Blueprint { file_bytes, ..Blueprint::default() };
    blueprint.numbers = numbers(&mut bytes, settings, &mut blueprint.architecture)?;
    let mut names = BTreeSet::new();
    let mut end = 0_u64;
    for _ in 0..tensors {
        let (tensor, offset) = tensor::tensor(&mut bytes)?;
        if !names.insert(tensor.name.clone()) {
            return Err(Error::Twice(tensor.name));
        }
        let tensor_end =
            offset.checked_add(tensor.bytes).ok_or(Error::Overflow { what: "offset of a tensor" })?;
        end = end.max(tensor_end);
        blueprint.tensors.push(tensor);
    }
    let alignment =
        blueprint.numbers.get("general.alignment").and_then(|n| n.first()).copied().unwrap_or(ALIGNMENT);
    if !alignment.is_power_of_two() || alignment > 1 << 20 {
        return Err(Error::Alignment(alignment));
    }
    let weights_at = bytes.at().next_multiple_of(alignment);
    let needed = weights_at.checked_add(end).ok_or(Error::Overflow { what: "end of the weights" })?;
    if needed > file_bytes {
        return Err(Error::Cut { needed, file_bytes });
    }
    Ok(blueprint)
}

/// Keeps integer settings; the architecture has its own field.
fn numbers(
    bytes: &mut Bytes<'_>,
    count: u64,
    architecture: &mut String,
) -> Result<BTreeMap<String, Vec<u64>>, Error> {
    let mut numbers = BTreeMap::new();
    for _ in 0..count {
        let key = bytes.text("name of a setting", MOST_KEY)?;
        match value::value(bytes)? {
            value::Value::Numbers(values) => {
                if numbers.insert(key.clone(), values).is_some() {
                    return Err(Error::Twice(key));
                }
            }
            value::Value::Text(text) if key == "general.architecture" => *architecture = text,
            value::Value::Text(_) | value::Value::Other => {}
        }
    }
    Ok(numbers)
}

/// Most bytes of a key, as the format specifies.
const MOST_KEY: u64 = 65_535;
