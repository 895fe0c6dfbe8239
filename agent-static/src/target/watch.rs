//! Watches processes with ptrace(2) from their start until their operators are attached.
//!
//! An engine loads its CPU backend while it starts, and no operator of the first decode call may be
//! missed. The BPF programs send a SIGURG at the dynamic linker's debugger hook and at the first
//! decode call, which stops the process. As its tracer the agent sees the signal first, attaches,
//! and lets the process continue without the signal.
//!
//! ptrace is safe if the agent dies: the kernel lets every tracee continue. A process without a
//! tracer ignores SIGURG, so no stop can remain.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::unistd::{Pid, gettid};

use super::process;
use crate::error::{Diagnostic, Result};
use crate::proc_file::text_of_process;
use crate::sys::thread::{Exit, Go, WaitStatus, go, poll_any, wait_status};

/// Event of a watched process. It stays stopped until [`Watch::resume`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It called exec.
    Exec(Pid),
    /// A new process was forked.
    Forked(Pid),
    /// It was stopped by [`Watch::freeze`].
    Frozen(Pid),
    /// A thread reached the linker's hook or its first decode call.
    Called(Pid),
}

impl Stop {
    /// The stopped thread.
    #[must_use]
    pub const fn tid(self) -> Pid {
        match self {
            Self::Exec(tid) | Self::Forked(tid) | Self::Frozen(tid) | Self::Called(tid) => tid,
        }
    }
}

/// The watched threads.
#[derive(Debug, Default)]
pub struct Watch {
    tracees: BTreeSet<i32>,
    exits: BTreeMap<i32, Exit>,
    freezing: BTreeSet<i32>,
    /// Results of waitpid(2) for watched threads that other code received.
    deferred: VecDeque<(i32, i32)>,
    /// Threads that are being released.
    leaving: BTreeSet<i32>,
}

const EVENT_STOP: i32 = 128;
const SIGURG: i32 = nix::libc::SIGURG;

/// ptrace options for watched threads.
#[must_use]
pub fn options() -> Options {
    Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
}

impl Watch {
    /// Starts to watch all threads of `pid` without stopping them.
    ///
    /// # Errors
    /// If the kernel refuses.
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
            // It was being released, but now it stays watched.
            if self.leaving.remove(&tid) {
                continue;
            }
            match ptrace::seize(Pid::from_raw(tid), options()) {
                Ok(()) => {
                    self.tracees.insert(tid);
                }
                Err(Errno::ESRCH) => {}
                // A watched process started it just now: the kernel has attached this thread to it.
                Err(_) if process::tracer(tid) == gettid().as_raw().cast_unsigned() => {
                    self.tracees.insert(tid);
                }
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

    /// Starts to watch `pid` and stops it at once.
    ///
    /// # Errors
    /// Same as [`Watch::add`].
    pub fn freeze(&mut self, pid: u32) -> Result<()> {
        self.add(pid)?;
        if ptrace::interrupt(Pid::from_raw(pid.cast_signed())).is_ok() {
            self.freezing.insert(pid.cast_signed());
        }
        Ok(())
    }

    /// Whether any thread is still watched.
    #[must_use]
    pub fn active(&self) -> bool {
        !self.tracees.is_empty()
    }

    /// The next event of a watched process; `None` if there is none.
    pub fn poll(&mut self) -> Option<Stop> {
        while self.active() {
            let taken = self.deferred.pop_front().map(|event| Ok(Some(event)));
            let (tid, status) = match taken.unwrap_or_else(poll_any) {
                Ok(Some(event)) => event,
                Ok(None) => return None,
                // No watched process is left.
                Err(_) => {
                    self.tracees.clear();
                    self.leaving.clear();
                    return None;
                }
            };
            if let Some(stop) = self.handle(Pid::from_raw(tid), wait_status(status)) {
                return Some(stop);
            }
        }
        None
    }

    /// Handles the status of a thread. Returns a stop if the caller has to act on it.
    fn handle(&mut self, pid: Pid, status: WaitStatus) -> Option<Stop> {
        match status {
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
                    // Job control stops are not ours: the process continues as if it were not
                    // watched.
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

    #[must_use]
    pub fn knows(&self, tid: i32) -> bool {
        self.tracees.contains(&tid)
    }

    /// Watches a thread that the agent traces already. It continues when it stops.
    pub fn adopt(&mut self, tid: i32) {
        self.tracees.insert(tid);
    }

    /// Takes over a waitpid(2) result that other code received for a thread.
    pub fn defer(&mut self, tid: i32, status: i32) {
        self.deferred.push_back((tid, status));
    }

    /// Whether the thread stays stopped until [`Self::poll`] handles its deferred event.
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

    /// How a process ended while it was watched.
    pub fn take_exit(&mut self, pid: Pid) -> Option<Exit> {
        self.exits.remove(&pid.as_raw())
    }

    /// Lets a stopped process continue.
    pub fn resume(&self, stop: Stop) {
        let (Stop::Exec(pid) | Stop::Forked(pid) | Stop::Frozen(pid) | Stop::Called(pid)) = stop;
        let _ = ptrace::cont(pid, None);
    }

    /// Stops watching all currently watched threads: each is stopped for a moment and released
    /// permanently. Threads that are added in the meantime stay watched.
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

    /// Whether a new thread belongs to a process that is being or was released. For a new process
    /// its parent counts.
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
    // An ended thread leads nothing.
    let status = text_of_process(&format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|l| l.strip_prefix("Tgid:").is_some_and(|t| t.trim() == pid.to_string()))
}

/// Whether the signal that stopped `pid` came from the kernel, like those of the BPF programs. A
/// SIGURG between processes (the Go runtime uses it) belongs to the engine.
fn from_kernel(pid: Pid) -> bool {
    ptrace::getsiginfo(pid).is_ok_and(|info| info.si_code == nix::libc::SI_KERNEL)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    /// The kernel attaches the tracer of a process to its new children as well.
    #[test]
    fn a_child_of_a_watched_process_can_be_added() {
        let mut shell = Command::new("sh")
            .args(["-c", "echo; read line; sleep 60 & wait"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // The shell has begun, so no stop at its exec is pending.
        shell.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let mut watch = Watch::default();
        watch.add(shell.id()).unwrap();
        shell.stdin.take().unwrap().write_all(b"\n").unwrap();
        let begun = Instant::now();
        let child = loop {
            if let [child] = process::children(shell.id())[..] {
                break child;
            }
            assert!(begun.elapsed() < Duration::from_secs(10), "no child");
        };
        assert_eq!(watch.add(child), Ok(()));
        assert!(watch.knows(child.cast_signed()));
        for pid in [child, shell.id()] {
            crate::sys::thread::signal_thread(pid, pid.cast_signed(), nix::libc::SIGKILL);
        }
        shell.wait().unwrap();
    }

    #[test]
    fn real_time_signals_are_delivered_and_every_exit_is_kept() {
        let mut children: Vec<_> = (0..2).map(|_| Command::new("sleep").arg("60").spawn().unwrap()).collect();
        let mut watch = Watch::default();
        children.iter().for_each(|c| watch.add(c.id()).unwrap());
        let [first, second] = [0, 1].map(|n: usize| Pid::from_raw(children[n].id().cast_signed()));
        for (pid, signal) in [(first, 40), (second, nix::libc::SIGTERM)] {
            crate::sys::thread::signal_thread(pid.as_raw().cast_unsigned(), pid.as_raw(), signal);
            let begun = Instant::now();
            let exit = loop {
                // The program may have called exec just now.
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
        // The watch has collected them already.
        children.iter_mut().for_each(|c| drop(c.wait()));
    }
}
