//! The processes of a session: found, watched during startup, attached, and removed at their end.
//!
//! ```text
//! begin ─▶ stops (new processes, ptrace) ─▶ engine (mapped files ─▶ probes) ─▶ end (probes removed)
//!   └────▶ child (the program that the agent started)
//! ```

mod child;
mod end;
mod engine;
mod stops;

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use libbpf_rs::Link;
use profinfer_wire::record::control::level;

use crate::bpf::{Bpf, EngineConfig};
use crate::clock;
use crate::error::{Diagnostic, Result, log};
use crate::lower::Lower;
use crate::observe::start_up::StartUps;
use crate::probes::attach::Attached;
use crate::probes::operators::ProbeMode;
use crate::sys::spawn::spawn;
use crate::sys::tee::Tail;
use crate::target::catch::{Catch, Wanted};
use crate::target::process::{self, Target};
use crate::target::program;
use crate::target::watch::Watch;
use child::Child;

pub use stops::Late;

/// All traced processes.
#[derive(Debug)]
pub struct Tracer<'b, 's> {
    bpf: &'b Bpf<'s>,
    levels: u32,
    mode: ProbeMode,
    processes: Vec<Traced>,
    watch: Watch,
    child: Option<Child>,
    waiting_for: Option<Waiting>,
    seen_any: bool,
    late: Vec<Late>,
    start_ups: StartUps,
    /// An awaited process was found.
    met_any: bool,
    /// A process was dropped since the last call of [`Tracer::forgot_any`].
    forgot: bool,
}

/// The awaited processes, and the source of exec events.
#[derive(Debug)]
struct Waiting {
    wanted: Wanted,
    /// After all have ended, the session goes on.
    restarts: bool,
    _link: Link,
    catch: Option<Catch>,
}

#[derive(Debug)]
struct Traced {
    attached: Attached,
    /// When the agent found its program. A program that began later is a different one.
    begun_ns: u64,
    /// Time of its exec, if the agent waited for the process.
    executed_ns: Option<u64>,
    /// Still watched: its operators are not attached yet.
    watched: bool,
    reported: bool,
    /// [`Tracer::newly_reported`] has returned it.
    taken: bool,
    ended: bool,
}

impl<'b, 's> Tracer<'b, 's> {
    #[must_use]
    pub fn new(bpf: &'b Bpf<'s>, levels: u32, mode: ProbeMode) -> Self {
        let (processes, watch) = (Vec::new(), Watch::default());
        Self {
            bpf,
            levels,
            mode,
            processes,
            watch,
            child: None,
            waiting_for: None,
            seen_any: false,
            late: Vec::new(),
            start_ups: StartUps::default(),
            met_any: false,
            forgot: false,
        }
    }

    /// Starts to trace the target. `stderr`: standard error of a program that the agent starts, and
    /// the buffer of its last bytes.
    ///
    /// # Errors
    /// If there is no such process, the program cannot be started, or the kernel refuses.
    pub fn begin(
        &mut self,
        target: &Target,
        stderr: Option<(OwnedFd, Tail)>,
        lower: &mut Lower,
    ) -> Result<()> {
        match target {
            Target::Pid { pid, follow: false } => {
                process::check(*pid)?;
                self.add(*pid, lower)?;
                if self.seen_any { Ok(()) } else { Err(no_engine(*pid)) }
            }
            Target::Pid { pid, follow: true } => {
                process::check(*pid)?;
                self.wait_for(Wanted::Below(*pid), false)?;
                self.examine(*pid, lower)?;
                if self.seen_any {
                    self.attach(*pid, lower)?;
                } else {
                    // Like the server of Ollama. It may run for days, and a watched process stops at
                    // each signal.
                    log(&format!(
                        "process {pid} ({}) has not loaded a GGML engine: only the processes below it are traced",
                        process::name(*pid)
                    ));
                    self.leave_out(*pid);
                }
                for child in process::below(*pid) {
                    if let Err(e) = self.add(child, lower) {
                        self.leave_out(child);
                        self.note_untraced(child, clock::monotonic_ns(), &e);
                    }
                }
                Ok(())
            }
            Target::Name { name, restarts } => {
                self.wait_for(Wanted::Named(name.clone()), *restarts)?;
                for pid in process::find(name) {
                    self.add(pid, lower)?;
                    if self.processes.iter().any(|p| p.attached.pid == pid && p.attached.plan.is_none()) {
                        log(&format!(
                            "process {pid} ({}) has this name, but has not loaded a GGML engine: waiting for \
                             it to load one, and for other processes of this name",
                            process::name(pid)
                        ));
                    }
                }
                Ok(())
            }
            Target::Command { command, stdout_to_stderr, user } => {
                let (stderr, tail) = stderr.unzip();
                let shown = process::shown(command);
                program::check(command, &shown)?;
                let spawned = spawn(command, &shown, *stdout_to_stderr, stderr.as_ref(), user.as_ref())?;
                let pid = spawned.pid;
                self.watch.add(pid.as_raw().cast_unsigned())?;
                spawned.release();
                let words: Vec<&[u8]> = command.iter().map(|word| word.as_bytes()).collect();
                let cmdline = words.join(&0);
                self.child =
                    Some(Child { pid, command: shown, cmdline, spawned: Some(spawned), exit: None, tail });
                Ok(())
            }
        }
    }

    /// Waits for new processes from now on. Comes before the search for running ones: so no process
    /// that starts in between is missed.
    fn wait_for(&mut self, wanted: Wanted, restarts: bool) -> Result<()> {
        let link = self.bpf.attach_exec()?;
        self.waiting_for = Some(Waiting { wanted, restarts, _link: link, catch: None });
        Ok(())
    }

    /// Stops new awaited processes from now on, also while this thread is busy. Must be called after
    /// the agent has dropped its privileges, which threads inherit.
    pub fn begin_catch(&mut self) {
        if let Some(waiting) = &mut self.waiting_for {
            let executions = self.bpf.executions();
            waiting.catch = executions.ok().and_then(|map| Catch::begin(map, waiting.wanted.clone()));
        }
    }

    /// The awaited processes, while there is none.
    #[must_use]
    pub fn waits_for(&self) -> Option<&Wanted> {
        self.waiting_for.as_ref().filter(|_| self.processes.is_empty()).map(|w| &w.wanted)
    }

    /// Whether new processes below a traced process are traced as well.
    #[must_use]
    pub fn follows(&self) -> bool {
        self.waiting_for.as_ref().is_some_and(|w| matches!(w.wanted, Wanted::Below(_)))
    }

    /// Stops to trace a process that runs on.
    fn leave_out(&mut self, pid: u32) {
        for mut traced in self.processes.extract_if(.., |p| p.attached.pid == pid) {
            traced.attached.detach(self.bpf, &mut self.watch);
        }
    }

    /// Adds a process that runs already or has just started.
    fn add(&mut self, pid: u32, lower: &mut Lower) -> Result<()> {
        self.examine(pid, lower)?;
        self.attach(pid, lower)
    }

    /// Finds the engine that a process has loaded so far.
    fn examine(&mut self, pid: u32, lower: &mut Lower) -> Result<()> {
        self.begin_process(pid, false)?;
        self.refresh(pid, lower)
    }

    /// Completes the probes of an examined process, or watches it until they are complete.
    fn attach(&mut self, pid: u32, lower: &mut Lower) -> Result<()> {
        let Some(traced) = self.processes.iter_mut().find(|p| p.attached.pid == pid) else { return Ok(()) };
        if traced.attached.complete() {
            traced.attached.forget_loads();
            self.settle(pid, None, lower)?;
            self.emit_missing(pid, lower);
        } else {
            // More files are to be loaded. Attach the tracer first: without it a SIGURG would reach
            // the engine.
            self.watch.add(pid)?;
            traced.watched = true;
            traced.attached.hold(self.bpf, true);
        }
        Ok(())
    }

    fn begin_process(&mut self, pid: u32, watched: bool) -> Result<()> {
        self.met_any = true;
        self.processes.retain(|p| p.attached.pid != pid);
        self.bpf.begin_engine(pid, EngineConfig { hold: watched, ..EngineConfig::default() })?;
        let attached = Attached::new(pid, self.levels, &self.mode);
        let begun_ns = clock::monotonic_ns();
        self.processes.push(Traced {
            attached,
            begun_ns,
            executed_ns: None,
            watched,
            reported: false,
            taken: false,
            ended: false,
        });
        Ok(())
    }

    /// Processes whose operators can be switched on and off, with the time since which their probes
    /// are attached. They run, are no longer watched and have operator probes.
    pub fn steerable(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let ready = self.processes.iter().filter(|p| p.reported && !p.watched && !p.ended);
        ready.filter_map(|p| Some((p.attached.pid, p.attached.operators_since()?)))
    }

    /// Whether decode calls of a process are traced.
    #[must_use]
    pub fn sees_tokens(&self, pid: u32) -> bool {
        self.processes.iter().any(|p| p.attached.pid == pid && p.attached.has(level::TOKEN))
    }

    /// The probes of a running process, and the programs that attach them.
    pub fn operators(&mut self, pid: u32) -> Option<(&mut Attached, &'b Bpf<'s>)> {
        let traced = self.processes.iter_mut().find(|p| p.attached.pid == pid && !p.ended)?;
        Some((&mut traced.attached, self.bpf))
    }

    /// Hits of operator probes so far, of all processes.
    #[must_use]
    pub fn op_hits(&self) -> u64 {
        self.bpf.op_hits()
    }

    /// A process that was identified as an engine since the last call.
    pub fn newly_reported(&mut self) -> Option<u32> {
        let traced = self.processes.iter_mut().find(|p| p.reported && !p.taken)?;
        traced.taken = true;
        Some(traced.attached.pid)
    }

    /// Whether a process belongs to the session. Old ended engines are dropped.
    #[must_use]
    pub fn knows(&self, pid: u32) -> bool {
        self.processes.iter().any(|p| p.attached.pid == pid)
    }

    /// The traced processes, including ended ones that are still remembered.
    pub fn processes(&self) -> impl Iterator<Item = &Attached> {
        self.processes.iter().map(|p| &p.attached)
    }
}

fn no_engine(pid: u32) -> Diagnostic {
    Diagnostic::new(
        format!("looking for llama.cpp or GGML in process {pid} ({})", process::name(pid)),
        "none of its mapped code files contains the functions of a GGML engine",
        "check the process id; if the engine is loaded later, use --name or let the agent start it: `-- COMMAND`",
    )
}
