//! The sentence about the timeline files.

use super::count;
use crate::perfetto::Part;

/// The size of Perfetto's timeline and the number of its files.
#[must_use]
pub fn size(parts: &[Part], bytes: u64) -> String {
    let megabytes = count((bytes / 1_000_000).max(1));
    match parts {
        [first, .., last] => format!(
            "{} to {}: about {megabytes} MB in {} parts by time. Open each part separately; --timeline-slices sets their size",
            first.name(),
            last.name(),
            parts.len()
        ),
        _ => format!("timeline.pftrace: about {megabytes} MB"),
    }
}
