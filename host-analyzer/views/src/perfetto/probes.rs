//! Tracks of operator probes and of the controller.

use std::io;

use super::File;
use super::descriptor::Parent;
use super::sequence::begin_track;
use crate::timeline::probes::{Track, label};

/// Writes one, below its process.
pub(super) fn track(file: &mut File<'_>, track: &Track, parent: Parent, rank: i32) -> io::Result<()> {
    let part = file.part;
    let mut sequence = begin_track(file, track.name, parent, rank)?;
    for stretch in track.stretches.iter().filter(|s| part.has(s.start_ns)) {
        sequence.once(file, &label(file.analysis, stretch.what), stretch.start_ns);
        sequence.end(file, stretch.end_ns);
        file.flush_if_full()?;
    }
    Ok(())
}
