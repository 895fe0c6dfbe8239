//! A stopped process: ptrace(2) stops all its threads, including those created in the meantime.
//!
//! Threads that the session watches already are its tracees and stay so. Their pending events are
//! left to the watch.

use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::unistd::Pid;

use super::checks::{GRACE, own, tasks};
use super::refused::Refused;
use crate::sys::thread::{Go, WaitStatus, go, poll, wait_status};
use crate::target::process::{alive, tracer};
use crate::target::watch::Watch;

/// How long a thread may take to stop: it may be reading a model from a slow disk.
const PATIENCE: Duration = Duration::from_secs(1);
/// Polling interval for a thread that is to stop.
const LOOK: Duration = Duration::from_micros(30);
/// Retries of a refused seize without a visible tracer.
const TRIES: u32 = 3;
const EVENT_STOP: i32 = 128;
const SIGTRAP: i32 = nix::libc::SIGTRAP;

/// A stopped process. It continues when this is dropped.
#[derive(Debug)]
pub(super) struct Halted<'w> {
    pub(super) pid: u32,
    pub(super) threads: Vec<Stopped>,
    watch: &'w mut Watch,
    began: Instant,
}

/// One stopped thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopped {
    pub(super) tid: i32,
    /// Signal to deliver when the thread continues, 0: none.
    pub(super) signal: i32,
    pub(super) held: Held,
}

/// Who releases a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// Seized for this purpose, and released completely.
    Seized,
    /// A tracee of the watch: it continues, watched.
    Watched,
    /// A tracee of the watch, held by the caller, who lets it continue.
    Called,
    /// A tracee of the watch, stopped by an event that the watch must handle first.
    Deferred,
}

impl Held {
    /// ptrace(2) options of the thread.
    pub(super) fn options(self) -> i32 {
        if self == Self::Seized { 0 } else { crate::target::watch::options().bits() }
    }
}

impl<'w> Halted<'w> {
    /// Stops every thread of `pid`. `called` is the thread that the watch holds stopped.
    pub(super) fn new(pid: u32, called: Option<i32>, watch: &'w mut Watch) -> Result<Self, Refused> {
        let mut halted = Self { pid, threads: Vec::new(), watch, began: Instant::now() };
        loop {
            let new: Vec<i32> =
                tasks(pid).into_iter().filter(|t| halted.threads.iter().all(|s| s.tid != *t)).collect();
            let mut more = false;
            let mut pending = Vec::with_capacity(new.len());
            for tid in new {
                if called == Some(tid) {
                    halted.threads.push(Stopped { tid, signal: 0, held: Held::Called });
                } else if halted.watch.is_deferred(tid) {
                    halted.threads.push(Stopped { tid, signal: 0, held: Held::Deferred });
                } else if let Some(held) = halted.interrupt(tid)? {
                    pending.push((tid, held));
                } else {
                    continue;
                }
                more = true;
            }
            for (n, (tid, held)) in pending.iter().enumerate() {
                if let Err(refused) = halted.await_stop(*tid, *held) {
                    // These threads are traced and will stop later; the watch releases them then.
                    pending[n..].iter().for_each(|(tid, _)| halted.watch.adopt(*tid));
                    return Err(refused);
                }
            }
            if !more {
                break;
            }
        }
        if halted.threads.is_empty() { Err(Refused::Ended) } else { Ok(halted) }
    }

    /// Requests a thread to stop; `None`: it is gone.
    fn interrupt(&mut self, tid: i32) -> Result<Option<Held>, Refused> {
        let pid = Pid::from_raw(tid);
        let mut held = Held::Watched;
        if !self.watch.knows(tid) {
            let mut seized = ptrace::seize(pid, Options::empty());
            let mut nobody = 0;
            // A killed agent releases the thread any moment, possibly between the refusal and the
            // check for its tracer.
            while seized == Err(Errno::EPERM) && self.began.elapsed() < GRACE {
                match tracer(tid) {
                    0 if nobody == TRIES => break,
                    0 => nobody += 1,
                    tracer if tracer == own() => break,
                    _ => {}
                }
                std::thread::sleep(LOOK);
                seized = ptrace::seize(pid, Options::empty());
            }
            held = match seized {
                Ok(()) => Held::Seized,
                Err(Errno::ESRCH) => return Ok(None),
                // A thread that is ending is refused with the same error.
                Err(_) if !alive(tid.unsigned_abs()) => return Ok(None),
                // A thread created by a watched thread is watched from its beginning.
                Err(_) if tracer(tid) == own() => {
                    self.watch.adopt(tid);
                    Held::Watched
                }
                Err(e) => {
                    return Err(match tracer(tid) {
                        0 => Refused::NotAllowed(e.desc().to_owned()),
                        other => Refused::Tracer(other),
                    });
                }
            };
        }
        match ptrace::interrupt(pid) {
            Ok(()) => Ok(Some(held)),
            Err(_) => Ok(None),
        }
    }

    fn await_stop(&mut self, tid: i32, held: Held) -> Result<(), Refused> {
        let stopped = |signal, held| Stopped { tid, signal, held };
        let Some(status) = wait(tid, PATIENCE)? else { return Ok(()) };
        match wait_status(status) {
            WaitStatus::Ended(_) => self.watch.defer(tid, status),
            WaitStatus::Event { signal, event: EVENT_STOP } => {
                self.threads.push(stopped(0, held));
                if signal != SIGTRAP {
                    return Err(Refused::JobControl);
                }
            }
            WaitStatus::Signal(signal) if held == Held::Seized => {
                // A signal came first: it is delivered when the thread continues.
                self.threads.push(stopped(signal, held));
            }
            _ => {
                self.watch.defer(tid, status);
                self.threads.push(stopped(0, Held::Deferred));
            }
        }
        Ok(())
    }

    /// Any stopped thread, for writing code.
    pub(super) fn any(&self) -> i32 {
        self.threads.first().map_or(0, |t| t.tid)
    }

    /// How long the process has been stopped, ns.
    pub(super) fn stopped_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Drop for Halted<'_> {
    fn drop(&mut self) {
        for thread in &self.threads {
            let how = match thread.held {
                Held::Seized => Go::Free,
                Held::Watched => Go::On,
                Held::Called | Held::Deferred => continue,
            };
            // A thread that is gone, or was killed in the meantime, needs nothing.
            let _ = go(thread.tid, how, thread.signal);
        }
    }
}

/// The waitpid(2) status of a thread that was requested to stop; `None`: it is gone.
fn wait(tid: i32, patience: Duration) -> Result<Option<i32>, Refused> {
    let begun = Instant::now();
    loop {
        match poll(tid) {
            Err(_) => return Ok(None),
            Ok(None) if begun.elapsed() > patience => return Err(Refused::DoesNotStop(tid)),
            Ok(None) => std::thread::sleep(LOOK),
            Ok(Some(status)) => return Ok(Some(status)),
        }
    }
}

/// Signal and event of the next stop of a running thread; `None`: it is gone, or does not stop in
/// time.
pub(super) fn next_stop(tid: i32, patience: Duration) -> Option<(i32, i32)> {
    match wait_status(wait(tid, patience).ok()??) {
        WaitStatus::Event { signal, event } => Some((signal, event)),
        WaitStatus::Signal(signal) => Some((signal, 0)),
        WaitStatus::Ended(_) => None,
    }
}
