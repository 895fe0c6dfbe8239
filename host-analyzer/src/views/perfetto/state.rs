//! Tracks of threads' states.

use std::collections::BTreeMap;
use std::io;

use super::File;
use super::descriptor::Parent;
use super::packet::{Packets, annotate_uint};
use super::sequence::{SLICE_END, begin_track};
use super::template::Template;
use crate::model::{TaskId, ThreadState};
use crate::views::timeline::state::{Track, label};

/// Writes one, below its process.
pub(super) fn track(file: &mut File<'_>, track: &Track, parent: Parent, rank: i32) -> io::Result<()> {
    let id = begin_track(file, &track.name, parent, rank)?;
    let (model, cpu) = (file.model, file.names.cpu);
    let (packets, mut interned, mut event) = (Packets::new(id), Vec::new(), Vec::new());
    let mut templates: BTreeMap<(ThreadState, Option<TaskId>), Template> = BTreeMap::new();
    let mut now_ns = file.origin_ns;
    for piece in &track.pieces {
        let task = piece.task(model);
        let texts = &mut file.texts;
        let template = templates
            .entry((piece.state, task))
            .or_insert_with(|| Template::new(texts, &label(model, piece.state, task), &[cpu.1]));
        interned.clear();
        template.define(&mut file.texts, id, &mut interned);
        event.clear();
        event.extend_from_slice(&template.track_event);
        annotate_uint(&mut event, cpu.0, u64::from(piece.cpu));
        packets.event(&mut file.out.bytes, piece.start_ns - now_ns, &event, &interned);
        packets.event(&mut file.out.bytes, piece.end_ns - piece.start_ns, &SLICE_END, &[]);
        now_ns = piece.end_ns;
        file.out.flush_if_full()?;
    }
    Ok(())
}
