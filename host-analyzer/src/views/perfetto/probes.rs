//! Tracks of operator probes and of the controller.

use std::io;

use super::File;
use super::descriptor::Parent;
use super::packet::Packets;
use super::sequence::{SLICE_END, begin_track};
use super::template::Template;
use crate::views::timeline::probes::{Track, label};

/// Writes one, below its process.
pub(super) fn track(file: &mut File<'_>, track: &Track, parent: Parent, rank: i32) -> io::Result<()> {
    let id = begin_track(file, track.name, parent, rank)?;
    let (packets, mut interned) = (Packets::new(id), Vec::new());
    let mut now_ns = file.origin_ns;
    for stretch in &track.stretches {
        let mut template = Template::new(&mut file.texts, &label(file.analysis, stretch.what), &[]);
        interned.clear();
        template.define(&mut file.texts, id, &mut interned);
        packets.event(&mut file.out.bytes, stretch.start_ns - now_ns, &template.track_event, &interned);
        packets.event(&mut file.out.bytes, stretch.end_ns - stretch.start_ns, &SLICE_END, &[]);
        now_ns = stretch.end_ns;
        file.out.flush_if_full()?;
    }
    Ok(())
}
