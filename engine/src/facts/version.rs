//! The versions that an engine states about itself.

use crate::code::dataflow::{Trace, Value};
use crate::symbols::calls::Calls;

/// llama.cpp's version, for example `llama.cpp 0.7.0` or `llama.cpp b1660 (1b05817)`.
///
/// From `llama_version()`, or from the objects that every program of llama.cpp carries.
pub(crate) fn llama(calls: &Calls<'_, '_>) -> Option<String> {
    if let Some(version) = returned_text(calls, "llama_version") {
        return Some(format!("llama.cpp {version}"));
    }
    let number = object(calls, "LLAMA_BUILD_NUMBER")?;
    let number = calls.image.bytes(number, 4)?.try_into().map(i32::from_le_bytes).ok()?;
    // Built from a copy of the sources without their history: the commit count means nothing.
    if number <= 1 {
        return None;
    }
    let commit = calls.relocations().text(calls.image, object(calls, "LLAMA_COMMIT")?, 48)?;
    Some(format!("llama.cpp b{number} ({commit})"))
}

/// GGML's version, for example `ggml 0.27.0 (a1b2c3d)`, from `ggml_version()` and `ggml_commit()`.
pub(crate) fn ggml(calls: &Calls<'_, '_>) -> Option<String> {
    let version = returned_text(calls, "ggml_version")?;
    Some(match returned_text(calls, "ggml_commit") {
        Some(commit) => format!("ggml {version} ({commit})"),
        None => format!("ggml {version}"),
    })
}

fn object(calls: &Calls<'_, '_>, name: &str) -> Option<u64> {
    Some(calls.names.get(name)?.address)
}

/// The string whose address a function of a few instructions returns.
fn returned_text<'d>(calls: &Calls<'_, 'd>, name: &str) -> Option<&'d str> {
    match Trace::new(calls.image, calls.function(name)?, 6).returned? {
        Value::Constant(address) => calls.image.text(address, 64).filter(|text| !text.is_empty()),
        _ => None,
    }
}
