//! Threads: sent once, before their first span or call.

use std::collections::HashMap;

use profinfer_wire::record::Record;
use profinfer_wire::record::session::Thread;

use super::Lower;
use crate::link::output::Weight;
use crate::target::process;

/// Most threads remembered. If an engine creates new threads for every graph, they are sent again
/// after that.
const MAX_THREADS: usize = 4096;
/// Most threads whose facts wait to be read.
pub(super) const MAX_COMPUTING: usize = 64;

/// The threads that were sent, by process and thread. The value is true if the scheduler level
/// knows the thread's location.
#[derive(Debug, Default)]
pub struct Threads(HashMap<(u32, u32), bool>);

impl Threads {
    /// Drops the threads of all other processes.
    pub(super) fn keep(&mut self, kept: impl Fn(u32) -> bool) {
        self.0.retain(|(pid, _), _| kept(*pid));
    }
}

impl Lower {
    /// Drops the threads and calls of a process, because it runs another program under another
    /// name. They are sent and counted again.
    pub fn forget_threads(&mut self, pid: u32) {
        self.threads.0.retain(|(p, _), _| *p != pid);
        self.engines_progress.forget(pid);
    }

    /// Notes that the scheduler level knows a thread's location. Returns whether it was known
    /// before.
    pub(super) fn located(&mut self, pid: u32, tid: u32) -> bool {
        self.thread(pid, tid);
        self.threads.0.get_mut(&(pid, tid)).is_some_and(|located| std::mem::replace(located, true))
    }

    /// Sends a thread that the host does not know yet.
    pub(super) fn thread(&mut self, pid: u32, tid: u32) {
        if self.threads.0.contains_key(&(pid, tid)) {
            return;
        }
        if self.threads.0.len() >= MAX_THREADS {
            self.threads.0.clear();
        }
        if self.computing.len() < MAX_COMPUTING {
            self.computing.push((pid, tid));
        }
        let name = process::thread_name(pid, tid);
        if self.emit.emit(&Record::Thread(Thread { tid, pid, name: &name }), Weight::Essential) {
            self.threads.0.insert((pid, tid), false);
        }
    }
}
