//! The version that an engine states, through functions that do nothing but return a string.

use super::elf::Image;
use super::names::Names;
use super::trace::{Trace, Value};

/// `ggml_version()` and `ggml_commit()`, for example `ggml 0.27.0 (unknown)`; empty when the file exports neither.
pub(crate) fn read(image: &Image<'_>, names: &Names<'_>) -> String {
    let text = |name: &str| {
        let function = names.get(name).filter(|s| image.is_code(s.address))?;
        image.text(returned(image, function.address)?, 64).filter(|t| !t.is_empty())
    };
    match (text("ggml_version"), text("ggml_commit")) {
        (Some(version), Some(commit)) => format!("ggml {version} ({commit})"),
        (Some(version), None) => format!("ggml {version}"),
        (None, Some(commit)) => format!("ggml ({commit})"),
        (None, None) => String::new(),
    }
}

/// The constant that a function of a few instructions returns.
fn returned(image: &Image<'_>, address: u64) -> Option<u64> {
    match Trace::of(image, address, 6).returned? {
        Value::Constant(value) => Some(value),
        _ => None,
    }
}
