//! Profiles written by the backends of accelerators, to tables. docs/accelerators.md has the
//! formats.
//!
//! Stage: separate from the stream. From: the bytes of a file. To: [`AcceleratorProfile`].
//! Promises: the content determines the format. Lines that are cut, mixed with another or unrelated
//! are counted and left out. At most [`MOST_KINDS`] and [`MOST_ROWS`] are kept; the rest is
//! counted.

mod hexagon;
mod kept;
mod lines;
mod number;
mod opencl;
mod pair;
mod trace;
mod vulkan;
mod vulkan_name;

pub use kept::{MOST_KINDS, MOST_ROWS};
pub use lines::LONGEST_LINE;
pub use pair::pair;

use crate::model::{AcceleratorProfile, ProfileFormat};

/// A trace identifies itself within this many bytes.
const TRACE_HEAD: usize = 4096;

/// The profile in `bytes`, named `name`; `None` if the format is unknown.
#[must_use]
pub fn read(name: &str, bytes: &[u8]) -> Option<AcceleratorProfile> {
    let kept = match format(bytes)? {
        ProfileFormat::OpenClTable => opencl::read(bytes),
        ProfileFormat::OpenClTrace => trace::read(bytes),
        ProfileFormat::VulkanLog => vulkan::read(bytes),
        ProfileFormat::HexagonLog => hexagon::read(bytes),
    };
    Some(kept.profile(name))
}

/// The format, by a feature that only it has.
fn format(bytes: &[u8]) -> Option<ProfileFormat> {
    let head = &bytes[..bytes.len().min(TRACE_HEAD)];
    if opencl::is_header(&lines::lines(head).next().unwrap_or_default()) {
        Some(ProfileFormat::OpenClTable)
    } else if head.trim_ascii_start().starts_with(b"[") && holds(head, b"\"OpenCL\"") {
        Some(ProfileFormat::OpenClTrace)
    } else if holds(bytes, vulkan::HEADER.as_bytes()) {
        Some(ProfileFormat::VulkanLog)
    } else if holds(bytes, hexagon::MARK.as_bytes()) {
        Some(ProfileFormat::HexagonLog)
    } else {
        None
    }
}

fn holds(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|w| w == what)
}
