//! The sentences of the timeline's files.

use super::count;
use crate::perfetto::Part;

/// How large Perfetto's timeline will be, and in how many files.
#[must_use]
pub fn size(parts: &[Part], bytes: u64) -> String {
    let megabytes = count((bytes / 1_000_000).max(1));
    match parts {
        [first, .., last] => format!(
            "{} to {}: about {megabytes} MB in {} parts by time, each to be opened separately; --timeline-slices sets their size",
            first.name(),
            last.name(),
            parts.len()
        ),
        _ => format!("timeline.pftrace: about {megabytes} MB"),
    }
}
