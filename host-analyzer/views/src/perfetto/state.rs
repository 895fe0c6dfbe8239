//! Tracks of threads' states.

use std::collections::BTreeMap;
use std::io;

use super::File;
use super::descriptor::Parent;
use super::sequence::begin_track;
use super::template::Template;
use crate::timeline::state::{Track, label};
use profinfer_trace::model::{TaskId, ThreadState};

/// Writes one, below its process.
pub(super) fn track(file: &mut File<'_>, track: &Track, parent: Parent, rank: i32) -> io::Result<()> {
    let part = file.part;
    let mut sequence = begin_track(file, &track.name, parent, rank)?;
    let (model, cpu) = (file.model, file.names.cpu);
    let mut templates: BTreeMap<(ThreadState, Option<TaskId>), Template> = BTreeMap::new();
    for piece in track.pieces.iter().filter(|p| part.has(p.start_ns)) {
        let task = piece.task(model);
        let texts = &mut file.texts;
        let template = templates
            .entry((piece.state, task))
            .or_insert_with(|| Template::new(texts, &label(model, piece.state, task), &[cpu.1]));
        let delta = sequence.delta(piece.start_ns);
        let of = (sequence.id, Some(piece.cpu), false);
        template.begin(&mut file.bundle, texts, &file.names, of, delta);
        sequence.end(file, piece.end_ns);
        file.flush_if_full()?;
    }
    Ok(())
}
