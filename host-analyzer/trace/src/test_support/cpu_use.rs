//! Records of the CPUs' use, as in docs/wire-format.md.

use super::bytes::Fields;
use super::records::Record;

/// A task in a window.
#[derive(Debug, Clone, Copy)]
pub enum By {
    /// By the number of its record; 0 is the idle task.
    Task(u64),
    /// A thread of a traced process.
    Thread(u64),
    /// All that are not distinguished.
    Others,
}

/// Rows of one batch.
#[derive(Debug, Clone)]
pub struct Uses {
    fields: Fields,
    count: u64,
    base: u64,
    end: u64,
    cpu: u64,
    tid: i64,
}

impl Uses {
    /// No rows yet.
    pub fn new(base: u64) -> Self {
        Self { fields: Fields::default(), count: 0, base, end: base, cpu: 0, tid: 0 }
    }

    /// A window from `start` to `end` with its tasks and their times.
    pub fn window(mut self, cpu: u64, (start, end): (u64, u64), tasks: &[(By, u64)]) -> Self {
        let mut new = true;
        for (by, busy) in tasks {
            let other = new && cpu != self.cpu;
            let by = match by {
                By::Task(id) => id * 16,
                By::Thread(tid) => {
                    let step = *tid as i64 - std::mem::replace(&mut self.tid, *tid as i64);
                    let step = if step < 0 { (-(step + 1)) as u64 * 2 + 1 } else { step as u64 * 2 };
                    4 + step * 16
                }
                By::Others => 8,
            };
            self.fields = self.fields.uint(by + if new { 1 } else { 0 } + if other { 2 } else { 0 });
            if new {
                self.fields = self.fields.int(start as i64 - self.end as i64).uint(end - start);
            }
            if other {
                self.fields = self.fields.uint(cpu);
            }
            self.fields = self.fields.uint(*busy);
            self.count += 1;
            new = false;
        }
        (self.cpu, self.end) = (cpu, end);
        self
    }

    /// The record.
    pub fn batch(self, seq: u64) -> Record {
        (0x63, Fields::default().uint(seq).uint(self.base).uint(self.count).bytes(&self.fields.0).0)
    }
}

/// The totals.
pub fn loss(at: u64, windows: u64, sent: u64) -> Record {
    let fields = Fields::default().uint(at).uint(windows).uint(sent).uint(windows.saturating_sub(sent));
    (0x79, fields.uint(0).uint(0).uint(0).0)
}
