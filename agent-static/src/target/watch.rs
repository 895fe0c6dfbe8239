//! Watches processes with ptrace(2) from their start until their operators are attached.
//!
//! An engine loads its CPU backend while it starts, and no operator of the first token may be missed. The
//! dynamic linker's debugger hook and the first token stop the process with a SIGURG that the BPF programs
//! send; as its tracer the agent sees the signal first, attaches, and lets the process go on without it.
//!
//! ptrace is chosen for what happens when the agent dies: the kernel lets every tracee run on. A process
//! without a tracer ignores SIGURG, so no stop can be left behind.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::unistd::Pid;

use crate::error::{Diagnostic, Result};
use crate::proc_file::text_of_process;
use crate::sys::thread::{Exit, Go, WaitStatus, go, poll_any, wait_status};

/// What a watched process did. It stands still until [`Watch::resume`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It began another program.
    Exec(Pid),
    /// A new process was forked off.
    Forked(Pid),
    /// It was asked to stop by [`Watch::freeze`].
    Frozen(Pid),
    /// A thread met the linker's hook or its first token.
    Called(Pid),
}

/// The watched threads.
#[derive(Debug, Default)]
pub struct Watch {
    tracees: BTreeSet<i32>,
    exits: BTreeMap<i32, Exit>,
    freezing: BTreeSet<i32>,
    /// What others took of waitpid(2) that is the watch's.
    deferred: VecDeque<(i32, i32)>,
    /// Threads that are being let go.
    leaving: BTreeSet<i32>,
}

const EVENT_STOP: i32 = 128;
const SIGURG: i32 = nix::libc::SIGURG;

/// What watched threads are traced with.
#[must_use]
pub fn options() -> Options {
    Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
}

impl Watch {
    /// Begins to watch all threads of `pid`, without stopping them.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn add(&mut self, pid: u32) -> Result<()> {
        let mut tids: Vec<i32> = std::fs::read_dir(format!("/proc/{pid}/task"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|e| e.file_name().to_str()?.parse().ok())
            .collect();
        if tids.is_empty() {
            tids.push(pid.cast_signed());
        }
        for tid in tids {
            // It was being let go: it stays.
            if self.leaving.remove(&tid) {
                continue;
            }
            match ptrace::seize(Pid::from_raw(tid), options()) {
                Ok(()) => {
                    self.tracees.insert(tid);
                }
                Err(Errno::ESRCH) => {}
                Err(e) if tid.cast_unsigned() == pid => {
                    return Err(Diagnostic::new(
                        format!("watching process {pid} while it starts (ptrace)"),
                        e.desc(),
                        "run the agent as root, end a debugger or strace that holds the process, and see \
                         /proc/sys/kernel/yama/ptrace_scope",
                    ));
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Begins to watch `pid` and stops it at once.
    ///
    /// # Errors
    /// As [`Watch::add`].
    pub fn freeze(&mut self, pid: u32) -> Result<()> {
        self.add(pid)?;
        if ptrace::interrupt(Pid::from_raw(pid.cast_signed())).is_ok() {
            self.freezing.insert(pid.cast_signed());
        }
        Ok(())
    }

    /// Some thread is still watched.
    #[must_use]
    pub fn active(&self) -> bool {
        !self.tracees.is_empty()
    }

    /// The next thing that a watched process did; `None` when nothing happened.
    pub fn poll(&mut self) -> Option<Stop> {
        while self.active() {
            let taken = self.deferred.pop_front().map(|told| Ok(Some(told)));
            let (tid, status) = match taken.unwrap_or_else(poll_any) {
                Ok(Some(told)) => told,
                Ok(None) => return None,
                // There is nobody left to be watched.
                Err(_) => {
                    self.tracees.clear();
                    self.leaving.clear();
                    return None;
                }
            };
            if let Some(stop) = self.saw(Pid::from_raw(tid), wait_status(status)) {
                return Some(stop);
            }
        }
        None
    }

    /// What a thread did, if that is somebody else's to answer.
    fn saw(&mut self, pid: Pid, told: WaitStatus) -> Option<Stop> {
        match told {
            WaitStatus::Ended(exit) => self.ended(pid, exit),
            WaitStatus::Event { event, .. } => {
                let first = self.tracees.insert(pid.as_raw());
                if self.leaves(pid) || first && self.belongs_to_one_that_leaves(pid) {
                    self.detach(pid, 0);
                } else if event == ptrace::Event::PTRACE_EVENT_EXEC as i32 {
                    return Some(Stop::Exec(pid));
                } else if event == EVENT_STOP && self.freezing.remove(&pid.as_raw()) {
                    return Some(Stop::Frozen(pid));
                } else if event == EVENT_STOP && first && is_leader(pid) {
                    return Some(Stop::Forked(pid));
                } else {
                    // A stop by job control is not ours to keep: the process goes on as if unwatched.
                    let _ = go(pid.as_raw(), Go::On, 0);
                }
            }
            WaitStatus::Signal(SIGURG) if from_kernel(pid) => {
                if !self.leaves(pid) {
                    return Some(Stop::Called(pid));
                }
                self.detach(pid, 0);
            }
            WaitStatus::Signal(signal) if self.leaves(pid) => self.detach(pid, signal),
            WaitStatus::Signal(signal) => {
                let _ = go(pid.as_raw(), Go::On, signal);
            }
        }
        None
    }

    /// Whether the thread is watched.
    #[must_use]
    pub fn knows(&self, tid: i32) -> bool {
        self.tracees.contains(&tid)
    }

    /// Watches a thread that the agent traces already: it is let go on when it stops.
    pub fn adopt(&mut self, tid: i32) {
        self.tracees.insert(tid);
    }

    /// Takes over what somebody else was told of a thread by waitpid(2).
    pub fn defer(&mut self, tid: i32, status: i32) {
        self.deferred.push_back((tid, status));
    }

    /// Whether the thread stands still until [`Self::poll`] comes to what was deferred of it.
    #[must_use]
    pub fn is_deferred(&self, tid: i32) -> bool {
        self.deferred.iter().any(|(t, _)| *t == tid)
    }

    fn ended(&mut self, pid: Pid, exit: Exit) {
        self.forget(pid);
        self.exits.insert(pid.as_raw(), exit);
        while self.exits.len() > 64 {
            self.exits.pop_first();
        }
    }

    /// How a process ended that was watched then.
    pub fn take_exit(&mut self, pid: Pid) -> Option<Exit> {
        self.exits.remove(&pid.as_raw())
    }

    /// Lets a stopped process go on.
    pub fn resume(&self, stop: Stop) {
        let (Stop::Exec(pid) | Stop::Forked(pid) | Stop::Frozen(pid) | Stop::Called(pid)) = stop;
        let _ = ptrace::cont(pid, None);
    }

    /// Ends watching of all that is watched now: every thread is stopped for a moment and let go for good. What is added meanwhile
    /// stays.
    pub fn leave(&mut self) {
        let tids: Vec<i32> = self.tracees.difference(&self.leaving).copied().collect();
        for tid in tids {
            if ptrace::interrupt(Pid::from_raw(tid)).is_ok() {
                self.leaving.insert(tid);
            } else {
                self.tracees.remove(&tid);
            }
        }
    }

    fn leaves(&self, pid: Pid) -> bool {
        self.leaving.contains(&pid.as_raw())
    }

    /// Whether a new thread is one of a process that is being let go or was; of a new process its parent counts.
    fn belongs_to_one_that_leaves(&self, new: Pid) -> bool {
        let status = text_of_process(&format!("/proc/{new}/status")).unwrap_or_default();
        let number = |name: &str| -> Option<i32> {
            status.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok())
        };
        let group = number("Tgid").filter(|group| *group != new.as_raw()).or_else(|| number("PPid"));
        group.is_none_or(|group| !self.tracees.contains(&group) || self.leaving.contains(&group))
    }

    fn detach(&mut self, pid: Pid, signal: i32) {
        let _ = go(pid.as_raw(), Go::Free, signal);
        self.forget(pid);
    }

    fn forget(&mut self, pid: Pid) {
        self.tracees.remove(&pid.as_raw());
        self.leaving.remove(&pid.as_raw());
    }
}

/// Whether the new tracee is a process and not a further thread of one.
fn is_leader(pid: Pid) -> bool {
    // One that has ended leads nothing.
    let status = text_of_process(&format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|l| l.strip_prefix("Tgid:").is_some_and(|t| t.trim() == pid.to_string()))
}

/// Whether the signal that stopped `pid` came from the kernel, as the ones of the BPF programs do. A
/// SIGURG between processes (Go's runtime uses it) is the engine's own business.
fn from_kernel(pid: Pid) -> bool {
    ptrace::getsiginfo(pid).is_ok_and(|info| info.si_code == nix::libc::SI_KERNEL)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_signal_of_real_time_is_delivered_and_nobody_is_forgotten() {
        let mut children: Vec<_> = (0..2).map(|_| Command::new("sleep").arg("60").spawn().unwrap()).collect();
        let mut watch = Watch::default();
        children.iter().for_each(|c| watch.add(c.id()).unwrap());
        let [first, second] = [0, 1].map(|n: usize| Pid::from_raw(children[n].id().cast_signed()));
        for (pid, signal) in [(first, 40), (second, nix::libc::SIGTERM)] {
            crate::sys::thread::signal_thread(pid.as_raw().cast_unsigned(), pid.as_raw(), signal);
            let begun = Instant::now();
            let exit = loop {
                // The program may have begun just now.
                if let Some(stop) = watch.poll() {
                    watch.resume(stop);
                }
                if let Some(exit) = watch.take_exit(pid) {
                    break exit;
                }
                assert!(begun.elapsed() < Duration::from_secs(10), "signal {signal} was lost");
                std::thread::sleep(Duration::from_millis(1));
            };
            assert_eq!(exit, Exit::Signal(signal));
        }
        assert!(!watch.active());
        // They were collected by the watch.
        children.iter_mut().for_each(|c| drop(c.wait()));
    }
}
