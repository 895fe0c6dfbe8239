//! Facts: settings of the system and the engine's processes, and kernel counters about them.
//! docs/facts.md lists them.
//!
//! ```text
//! session begins ─▶ system, CPUs ┐
//! process found  ─▶ its facts    ├─▶ Fact records
//! heartbeat      ─▶ numbers that have changed, threads that compute ┘
//! ```
//! Sampled files stay open, so a heartbeat opens nothing and allocates nothing. A value that cannot
//! be read is absent with the reason, never 0.

mod affinity;
mod agent;
mod cgroup;
mod cpu;
mod environment;
mod features;
mod file;
mod kernel;
mod memory;
pub(crate) mod preemption;
mod process;
pub(in crate::observe) mod read;
mod send;
mod thread;

use std::path::{Path, PathBuf};

use profinfer_wire::record::fact::FactScope;

use crate::bpf::page_read::PageRead;
use crate::confine::Confined;
use crate::link::emit::Emitter;
use crate::link::output::Weight;
use cpu::Cpus;
use memory::Memory;
use process::Process;
use send::Sender;
use thread::Thread;

/// Most processes whose facts are sent.
pub const MAX_PROCESSES: usize = 16;
/// Most threads whose facts are sent.
pub const MAX_THREADS: usize = 64;
/// Buffer for one file: /proc/stat has 100 bytes per CPU before the parts that are not needed here.
const BUFFER: usize = 32 << 10;

/// Bytes that a process may still allocate within the limits of its control groups; `None` without
/// limits. `root` is `/`.
#[cfg(feature = "bench")]
#[must_use]
pub fn memory_left(root: &Path, pid: u32) -> Option<u64> {
    cgroup::memory_left(root, pid)
}

#[derive(Debug)]
pub struct Facts {
    root: PathBuf,
    buffer: Box<[u8; BUFFER]>,
    memory: Memory,
    cpus: Cpus,
    processes: Vec<Process>,
    threads: Vec<Thread>,
}

impl Facts {
    /// Sends the facts of the system; `root` is `/`.
    #[must_use]
    pub fn begin(root: &Path, emit: &mut Emitter) -> Self {
        let mut buffer = Box::new([0; BUFFER]);
        let mut out = Sender::now(emit, Weight::Essential);
        kernel::send(root, &mut out);
        let memory = Memory::begin(root, &mut *buffer, &mut out);
        let cpus = Cpus::begin(root, &mut *buffer, &mut out);
        let (processes, threads) = (Vec::with_capacity(MAX_PROCESSES), Vec::with_capacity(MAX_THREADS));
        Self { root: root.to_owned(), buffer, memory, cpus, processes, threads }
    }

    /// Sends the privileges that the agent has dropped.
    pub fn agent(&self, confined: &Confined, emit: &mut Emitter) {
        agent::send(confined, &mut Sender::now(emit, Weight::Essential));
    }

    /// Sends how often a program of the scheduler level was skipped; called at the end of the
    /// session.
    pub fn sched_missed(&self, missed: Result<u64, String>, emit: &mut Emitter) {
        agent::send_missed(missed, &mut Sender::now(emit, Weight::Essential));
    }

    /// Sends how often the probes on functions that fill a batch, take an output or edit the memory were
    /// hit; called at the end of the session.
    pub fn batch_hits(&self, hits: u64, emit: &mut Emitter) {
        agent::send_batch_hits(hits, &mut Sender::now(emit, Weight::Essential));
    }

    /// Sends the facts of a process that is traced from now on, or that called exec.
    pub fn process(&mut self, pid: u32, emit: &mut Emitter) {
        self.processes.retain(|p| p.pid != pid);
        if self.processes.len() < MAX_PROCESSES {
            let mut out = Sender::now(emit, Weight::Essential);
            self.processes.extend(Process::begin(&self.root, pid, &mut *self.buffer, &mut out));
        }
    }

    /// Sends changed values, and the facts of threads that have computed since the last call:
    /// process and thread, taken from `computing`. `reads`: what processes read from files so far.
    pub fn sample(&mut self, computing: &mut Vec<(u32, u32)>, reads: &[PageRead], emit: &mut Emitter) {
        self.send(&mut Sender::now(emit, Weight::Droppable), computing, reads);
    }

    /// The threads that are known to compute.
    pub fn computing(&self) -> impl Iterator<Item = u32> {
        self.threads.iter().map(|t| t.tid)
    }

    /// Sends changed values at the end of the session.
    pub fn end(&mut self, computing: &mut Vec<(u32, u32)>, reads: &[PageRead], emit: &mut Emitter) {
        let mut out = Sender::now(emit, Weight::Essential);
        self.send(&mut out, computing, reads);
        for process in &mut self.processes {
            process.sample_huge(&mut *self.buffer, &mut out);
        }
    }

    fn send(&mut self, out: &mut Sender<'_>, computing: &mut Vec<(u32, u32)>, reads: &[PageRead]) {
        // First, because a process may have ended.
        for process in &mut self.processes {
            process.files.send(&self.root, process.pid, reads, out);
        }
        let buffer = &mut *self.buffer;
        self.memory.sample(buffer, out);
        self.cpus.sample(buffer, out);
        self.processes
            .retain_mut(|process| process.sample(buffer, out) || ended(FactScope::Process(process.pid), out));
        self.threads
            .retain_mut(|thread| thread.sample(buffer, out) || ended(FactScope::Thread(thread.tid), out));
        for (pid, tid) in computing.drain(..) {
            let process = self.processes.iter_mut().find(|p| p.pid == pid);
            if let Some(process) = process
                && !std::mem::replace(&mut process.computes, true)
            {
                // Its weights have been loaded since it was found.
                process.sample_huge(buffer, out);
            }
            let known = self.threads.iter().any(|t| (t.pid, t.tid) == (pid, tid));
            if !known && self.threads.len() < MAX_THREADS {
                let affinity = self.processes.iter().find(|p| p.pid == pid).map(|p| &p.affinity);
                self.threads.extend(Thread::begin(&self.root, (pid, tid), affinity, buffer, out));
            }
        }
    }
}

/// Marks the end of counters. Without this, readers would assume an interval without changes.
/// Always returns false.
fn ended(scope: FactScope, out: &mut Sender<'_>) -> bool {
    out.number(scope, "ended", 1);
    false
}
