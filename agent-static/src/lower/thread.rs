//! Threads: sent once, before their first span or call.

use std::collections::HashSet;

use profinfer_wire::record::Record;
use profinfer_wire::record::session::Thread;

use super::Lower;
use crate::link::output::Weight;
use crate::target::process;

/// Threads remembered; an engine that makes new ones for every graph is sent again beyond it.
const MAX_THREADS: usize = 4096;
/// Threads that wait for their facts to be read.
pub(super) const MAX_COMPUTING: usize = 64;

/// The threads that were sent.
#[derive(Debug, Default)]
pub struct Threads(HashSet<(u32, u32)>);

impl Threads {
    /// Forgets those of all other processes.
    pub(super) fn keep(&mut self, kept: impl Fn(u32) -> bool) {
        self.0.retain(|(pid, _)| kept(*pid));
    }
}

impl Lower {
    /// Tells of the threads of a process anew, and counts its calls anew: it began another program, under another name.
    pub fn forget_threads(&mut self, pid: u32) {
        self.threads.0.retain(|(p, _)| *p != pid);
        self.engines_progress.forget(pid);
    }

    /// Tells of a thread that the host does not know yet.
    pub(super) fn thread(&mut self, pid: u32, tid: u32) {
        if self.threads.0.contains(&(pid, tid)) {
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
            self.threads.0.insert((pid, tid));
        }
    }
}
