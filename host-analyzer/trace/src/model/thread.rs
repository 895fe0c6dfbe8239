//! Threads of the traced processes.

use super::rows::rows;
use super::text::Text;

/// Position in [`Threads`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

/// One thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thread {
    /// Thread id of the kernel.
    pub tid: u32,
    /// Its process; 0 when unknown.
    pub pid: u32,
    /// Name; empty when unknown.
    pub name: Text,
}

/// Threads in order of first appearance.
#[derive(Debug, Default, Clone)]
pub struct Threads {
    rows: Vec<Thread>,
}

rows!(Threads, rows);

impl Threads {
    /// The row of `tid`, made if it is new.
    pub fn find_or_add(&mut self, tid: u32) -> ThreadId {
        let i = self.rows.iter().position(|t| t.tid == tid).unwrap_or_else(|| {
            self.rows.push(Thread { tid, pid: 0, name: Text::default() });
            self.rows.len() - 1
        });
        ThreadId(u32::try_from(i).unwrap_or(u32::MAX))
    }

    /// Sets process and name of a thread.
    pub fn describe(&mut self, id: ThreadId, pid: u32, name: Text) {
        if let Some(t) = self.rows.get_mut(id.0 as usize) {
            t.pid = pid;
            t.name = name;
        }
    }

    /// Those that `keep` has, and where each of all went.
    pub(super) fn only(&self, keep: impl Fn(&Thread) -> bool) -> (Self, Vec<Option<u32>>) {
        let mut next = 0;
        let mut place = |kept: bool| {
            kept.then(|| {
                next += 1;
                next - 1
            })
        };
        let places = self.rows.iter().map(|t| place(keep(t))).collect();
        (Self { rows: self.rows.iter().copied().filter(|t| keep(t)).collect() }, places)
    }

    /// One thread.
    #[must_use]
    pub fn get(&self, id: ThreadId) -> Thread {
        self.rows[id.0 as usize]
    }

    /// All threads with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (ThreadId, Thread)> + '_ {
        (0..).map(ThreadId).zip(self.rows.iter().copied())
    }
}
