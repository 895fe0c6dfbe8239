//! Codes who had the CPUs: a row for each task in a window of a CPU.
//!
//! ```text
//! row    = head [step length] [cpu] busy
//! head   = new | other_cpu << 1 | kind << 2 | who << 4     other_cpu only in a new window
//! step   zigzag of the window's start minus the end of the window before, `base_ns` before the
//!        first
//! cpu    where other_cpu is set; else the CPU of the window before, 0 before the first
//! kind   0 a task, who is its number; 1 a thread, who is the zigzag of its number minus that of the
//!        previous thread in the batch, 0 before the first; 2 further tasks, who is 0
//! ```

use crate::batch::{Batch, Decode};
use crate::sched::Who;
use crate::varint::{MAX_LEN, put, take, unzigzag, zigzag};

/// A window of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The CPU.
    pub cpu: u16,
    /// Start, ns.
    pub start_ns: u64,
    /// Length, ns.
    pub duration_ns: u64,
}

/// A task that had a CPU in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// The window.
    pub window: Window,
    /// The first row of the window.
    pub first: bool,
    /// The task; `None` for all that the window does not distinguish.
    pub who: Option<Who>,
    /// Its time on the CPU, ns.
    pub busy_ns: u64,
}

/// Longest encoding of one row in bytes.
pub const MAX_USED_LEN: usize = 5 * MAX_LEN;

/// The state that one row is coded against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    window: Window,
    tid: u32,
    begun: bool,
}

impl Cursor {
    /// The state before the first row of a batch.
    #[must_use]
    pub const fn new(base_ns: u64) -> Self {
        Self { window: Window { cpu: 0, start_ns: base_ns, duration_ns: 0 }, tid: 0, begun: false }
    }

    const fn end(&self) -> u64 {
        self.window.start_ns.wrapping_add(self.window.duration_ns)
    }

    /// Appends a row to `buf` at `at`; returns the next free position. A row that is not the first
    /// of its window belongs to that of the row before. `None`, with the cursor unchanged, when
    /// there is no space.
    #[must_use]
    pub fn encode(&mut self, used: &Used, buf: &mut [u8], mut at: usize) -> Option<usize> {
        let mut next = *self;
        let (kind, who) = match used.who {
            Some(Who::Task(id)) => (0, u64::from(id)),
            Some(Who::Thread(tid)) => {
                next.tid = tid;
                (1, zigzag(i64::from(tid) - i64::from(self.tid)))
            }
            None => (2, 0),
        };
        let Window { cpu, start_ns, duration_ns } = used.window;
        let other = used.first && cpu != self.window.cpu;
        at = put(buf, at, u64::from(used.first) | u64::from(other) << 1 | kind << 2 | who << 4)?;
        if used.first {
            at = put(buf, at, zigzag(start_ns.wrapping_sub(self.end()).cast_signed()))?;
            at = put(buf, at, duration_ns)?;
            (next.window, next.begun) = (used.window, true);
        }
        if other {
            at = put(buf, at, cpu.into())?;
        }
        at = put(buf, at, used.busy_ns)?;
        *self = next;
        Some(at)
    }

    fn who(&mut self, head: u64) -> Option<Option<Who>> {
        let who = head >> 4;
        Some(match head >> 2 & 3 {
            0 => Some(Who::Task(u32::try_from(who).ok()?)),
            1 => {
                self.tid = u32::try_from(i64::from(self.tid).checked_add(unzigzag(who))?).ok()?;
                Some(Who::Thread(self.tid))
            }
            2 if who == 0 => None,
            _ => return None,
        })
    }
}

impl Decode<'_> for Cursor {
    type Item = Used;

    fn decode(&mut self, buf: &mut &[u8]) -> Option<Used> {
        let head = take(buf)?;
        let (first, other) = (head & 1 != 0, head & 2 != 0);
        let who = self.who(head)?;
        if first {
            let start_ns = self.end().wrapping_add_signed(unzigzag(take(buf)?));
            self.window = Window { start_ns, duration_ns: take(buf)?, ..self.window };
            self.begun = true;
        }
        if other {
            self.window.cpu = u16::try_from(take(buf)?).ok()?;
        }
        // A window that did not begin; a CPU in the middle of one.
        if !self.begun || other && !first {
            return None;
        }
        Some(Used { window: self.window, first, who, busy_ns: take(buf)? })
    }
}

/// The rows of a batch.
pub type CpuUses<'a> = Batch<'a, Cursor>;

impl<'a> CpuUses<'a> {
    /// The rows of one batch, see [`crate::record::cpu_use::CpuUseBatch`].
    #[must_use]
    pub const fn new(base_ns: u64, count: u16, bytes: &'a [u8]) -> Self {
        Self::with(Cursor::new(base_ns), count, bytes)
    }
}
