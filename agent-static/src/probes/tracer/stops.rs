//! New processes and ptrace stops while processes start.

use std::time::Instant;

use nix::unistd::Pid;
use profinfer_wire::record::control::level;

use super::engine::emit_probe;
use super::{Traced, Tracer};
use crate::clock;
use crate::error::{Diagnostic, Result, log};
use crate::lower::Lower;
use crate::proc_file::text_of_process;
use crate::target::catch::{Catch, Executed};
use crate::target::watch::Stop;

/// Most late processes that are remembered.
const LATE_KEPT: usize = 32;

/// A process whose first calls may be missing, because its engine was loaded before the agent
/// attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Late {
    pub pid: u32,
    /// When its program began, ns.
    pub begun_ns: u64,
    /// When its probes were attached, ns.
    pub met_ns: u64,
}

impl Tracer<'_, '_> {
    /// Some process is watched while it starts.
    #[must_use]
    pub fn watching(&self) -> bool {
        self.watch.active() || self.catch().is_some_and(Catch::holds)
    }

    /// Handles new awaited processes (`executed`: processes that called exec), and one stop of a
    /// watched process. Returns true if there was any; the next may wait already.
    ///
    /// # Errors
    /// If the program could not be started, or the kernel refuses a new process.
    pub fn step(&mut self, executed: &mut Vec<Executed>, lower: &mut Lower) -> Result<bool> {
        // New processes first: they run, but stopped ones wait. A stop can take 100 ms, so the
        // caller checks for new processes after each.
        let mut begun = false;
        let any = !executed.is_empty();
        if let Some(catch) = self.catch() {
            executed.clear();
            catch.take(executed);
        }
        for e in executed.drain(..) {
            begun |= self.executed(&e, lower);
        }
        if begun {
            self.drop_what_is_gone(lower);
        }
        self.start_ups.step(&mut lower.emit);
        let stop = self.watch.poll();
        if let Some(stop) = stop {
            let stopped = Instant::now();
            let result = self.stopped(stop, lower);
            if let Stop::Called(tid) = stop {
                lower.resumed(tid.as_raw().cast_unsigned(), clock::monotonic_ns());
            }
            self.watch.resume(stop);
            self.start_ups.held(group_of(stop.tid()), stopped.elapsed());
            result?;
        }
        self.reap()?;
        Ok(any || stop.is_some())
    }

    /// A process began or ended a part of its loading, see wire's `start_up::moment`.
    pub fn loading(&mut self, pid: u32, moment: u8, lower: &mut Lower) {
        self.start_ups.moment(pid, moment, &mut lower.emit);
    }

    /// Handles an exec. Returns true if the process is watched from now on.
    fn executed(&mut self, e: &Executed, lower: &mut Lower) -> bool {
        let (pid, at_ns) = (e.pid, e.at_ns);
        let wanted = self.waiting_for.as_ref().is_some_and(|w| w.wanted.includes(e));
        let known = |p: &Traced| p.attached.pid == pid && !p.ended && (p.watched || p.begun_ns >= at_ns);
        if !wanted || self.processes.iter().any(known) {
            self.release(pid);
            return false;
        }
        if !self.begin_new(pid, at_ns) {
            self.release(pid);
            return false;
        }
        if let Some(traced) = self.processes.last_mut() {
            traced.executed_ns = Some(at_ns);
        }
        // From here on the process runs and every microsecond counts: stop it first, then examine
        // it.
        self.release(pid);
        if let Err(e) = self.watch.freeze(pid) {
            log(&format!("{e}\n  waiting for other processes"));
        }
        let watched = self.watch.knows(pid.cast_signed());
        if watched {
            self.start_ups.begin(pid, at_ns, &mut lower.emit);
        } else {
            self.processes.retain(|p| p.attached.pid != pid);
            self.note_late(pid, at_ns);
        }
        watched
    }

    /// Begins to trace a new program. False if there is no slot for it: the session goes on, and the
    /// recording has the process among those whose calls may be missing.
    fn begin_new(&mut self, pid: u32, at_ns: u64) -> bool {
        if self.begin_process(pid, true).is_ok() {
            return true;
        }
        // Processes that ended since the last check have slots.
        self.look_alive();
        let begun = self.begin_process(pid, true);
        if let Err(e) = &begun {
            self.note_untraced(pid, at_ns, e);
        }
        begun.is_ok()
    }

    pub(super) fn note_untraced(&mut self, pid: u32, at_ns: u64, why: &Diagnostic) {
        log(&format!("{why}\n  process {pid} is not traced"));
        self.note_late(pid, at_ns);
    }

    fn catch(&self) -> Option<&Catch> {
        self.waiting_for.as_ref()?.catch.as_ref().filter(|catch| catch.works())
    }

    fn release(&self, pid: u32) {
        if let Some(catch) = self.catch() {
            catch.release(pid);
        }
    }

    /// A new process may be the next run of an ended one, or of one whose files were overwritten.
    /// It is stopped in the meantime, because this takes milliseconds.
    fn drop_what_is_gone(&mut self, lower: &mut Lower) {
        self.look_alive();
        for traced in &mut self.processes {
            for outcome in traced.attached.drop_overwritten() {
                emit_probe(traced.attached.pid, &outcome, lower);
            }
        }
    }

    fn stopped(&mut self, stop: Stop, lower: &mut Lower) -> Result<()> {
        match stop {
            Stop::Exec(pid) => {
                let pid = pid.as_raw().cast_unsigned();
                // The scheduler level reported its threads before the exec.
                lower.forget_threads(pid);
                if !self.begin_new(pid, clock::monotonic_ns()) {
                    return Ok(());
                }
                // It was stopped until here, so its start begins now.
                self.start_ups.begin(pid, clock::monotonic_ns(), &mut lower.emit);
                self.refresh(pid, lower)
            }
            Stop::Frozen(pid) => {
                let pid = pid.as_raw().cast_unsigned();
                self.refresh(pid, lower)?;
                self.note_if_late(pid);
                Ok(())
            }
            // It shares its parent's program until its exec.
            Stop::Forked(_) => Ok(()),
            Stop::Called(tid) => {
                let pid = group_of(tid);
                let first_call = self.bpf.held(pid);
                self.refresh(pid, lower)?;
                let Some(traced) = self.processes.iter_mut().find(|p| p.attached.pid == pid) else {
                    return Ok(());
                };
                if traced.attached.has(level::TOKEN | level::GRAPH) && !first_call {
                    traced.attached.forget_loads();
                }
                if first_call {
                    self.start_ups.called(pid, &mut lower.emit);
                    self.settle(pid, Some(tid), lower)?;
                }
                let Some(traced) = self.processes.iter_mut().find(|p| p.attached.pid == pid) else {
                    return Ok(());
                };
                if first_call {
                    // Files that are not mapped at the first decode call or graph are not part of
                    // this engine.
                    traced.attached.forget_loads();
                    traced.attached.hold(self.bpf, false);
                    traced.watched = false;
                    self.emit_missing(pid, lower);
                    if self.processes.iter().all(|p| !p.watched) {
                        self.watch.leave();
                    }
                }
                Ok(())
            }
        }
    }

    /// An awaited process that has all parts of an engine when the agent first examines it may have
    /// computed already.
    fn note_if_late(&mut self, pid: u32) {
        let traced = self.processes.iter().find(|p| p.attached.pid == pid && p.attached.complete());
        if let Some(begun_ns) = traced.and_then(|t| t.executed_ns) {
            self.note_late(pid, begun_ns);
        }
    }

    fn note_late(&mut self, pid: u32, begun_ns: u64) {
        if self.late.len() < LATE_KEPT {
            self.late.push(Late { pid, begun_ns, met_ns: clock::monotonic_ns() });
        }
    }

    /// Processes that were found late since the last call.
    pub fn take_late(&mut self) -> Vec<Late> {
        std::mem::take(&mut self.late)
    }
}

fn group_of(tid: Pid) -> u32 {
    let status = text_of_process(&format!("/proc/{tid}/status"));
    let tgid = status.and_then(|s| s.lines().find_map(|l| l.strip_prefix("Tgid:")?.trim().parse().ok()));
    // The thread has ended. Only the number of a process's first thread is still known to others.
    tgid.unwrap_or(tid.as_raw().cast_unsigned())
}
