//! Tracks of threads' states.

use std::collections::BTreeMap;
use std::io;

use super::{File, Tail};
use crate::timeline::state::{Track, label};
use profinfer_trace::model::{TaskId, ThreadState};

impl File<'_> {
    /// Writes one, at position `n` of its process.
    pub(super) fn state_track(&mut self, track: &Track, n: usize) -> io::Result<()> {
        let tid = self.free.next();
        // Behind the health's.
        self.thread_metadata(track.process, tid, &track.name, n + 1)?;
        let head = |phase| format!(r#"{{"ph":"{phase}","pid":{},"tid":{tid},"ts":"#, track.process);
        let (begin, end) = (head('B'), head('E'));
        let mut tails: BTreeMap<(ThreadState, Option<TaskId>), Tail> = BTreeMap::new();
        for piece in &track.pieces {
            let (state, task) = (piece.state, piece.task(self.model));
            let tail =
                tails.entry((state, task)).or_insert_with(|| Tail::new(&label(self.model, state, task)));
            self.edge(&begin, piece.start_ns);
            tail.close_operator(&mut self.out.bytes, Some(piece.cpu), false);
            self.edge(&end, piece.end_ns);
            tail.close_end(&mut self.out.bytes);
            self.out.flush_if_full()?;
        }
        Ok(())
    }
}
