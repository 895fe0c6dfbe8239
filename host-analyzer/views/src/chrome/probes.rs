//! Tracks of operator probes and of the controller.

use std::io;

use super::{File, Tail};
use crate::timeline::probes::{Track, label};

impl File<'_> {
    /// Writes one, at position `n` of its process.
    pub(super) fn probes_track(&mut self, track: &Track, n: usize) -> io::Result<()> {
        let tid = self.free.next();
        // Behind the health's.
        self.thread_metadata(track.process, tid, track.name, n + 1)?;
        let head = |phase| format!(r#"{{"ph":"{phase}","pid":{},"tid":{tid},"ts":"#, track.process);
        let (begin, end) = (head('B'), head('E'));
        for stretch in &track.stretches {
            let tail = Tail::new(&label(self.analysis, stretch.what));
            self.edge(&begin, stretch.start_ns);
            tail.close(&mut self.out.bytes);
            self.edge(&end, stretch.end_ns);
            tail.close_end(&mut self.out.bytes);
            self.out.flush_if_full()?;
        }
        Ok(())
    }
}
