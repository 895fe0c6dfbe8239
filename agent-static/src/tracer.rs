//! The processes of a session: found, watched while they start, attached, seen to end.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use libbpf_rs::Link;
use nix::unistd::Pid;
use profinfer_engine::describe;
use profinfer_wire::record::Record;
use profinfer_wire::record::control::level;
use profinfer_wire::record::session::{Library, Probe, Process};

use crate::attach::Attached;
use crate::bpf::{Bpf, EngineConfig, Totals};
use crate::clock;
use crate::cost;
use crate::duty::probes::Switched;
use crate::error::{Diagnostic, Result, log};
use crate::link::output::Weight;
use crate::lower::{EngineFacts, Lower};
use crate::operators::{self, Operators, Wish};
use crate::outcome::{Outcome, level_bit};
use crate::proc_file::text_of_process;
use crate::sys::direct::thread::{Exit, Told, poll, told};
use crate::sys::spawn::{Spawned, spawn};
use crate::sys::tee::Tail;
use crate::target::catch::{Catch, Executed};
use crate::target::output;
use crate::target::process::{self, Target};
use crate::target::watch::{Stop, Watch};

/// Engines that have ended and are remembered, where others of their name are waited for: a session may go on for days.
const ENDED_KEPT: usize = 8;

/// All traced processes.
#[derive(Debug)]
pub struct Tracer<'b, 's> {
    bpf: &'b Bpf<'s>,
    levels: u32,
    wish: Wish,
    processes: Vec<Traced>,
    watch: Watch,
    child: Option<Child>,
    waiting_for: Option<Waiting>,
    seen_any: bool,
    late: Vec<Late>,
    /// A process of the name that is waited for was met.
    met_any: bool,
    /// [`Tracer::forgot_any`] has not been asked since one was forgotten.
    forgot: bool,
}

/// Processes met late that are remembered.
const LATE_KEPT: usize = 32;

/// A process whose first calls may have been missed, because the agent came to it when its engine was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Late {
    /// Which.
    pub pid: u32,
    /// When its program began, ns.
    pub begun_ns: u64,
    /// When its probes were in place, ns.
    pub met_ns: u64,
}

/// A name, and what says that a program began.
#[derive(Debug)]
struct Waiting {
    name: String,
    restarts: bool,
    _link: Link,
    catch: Option<Catch>,
}

#[derive(Debug)]
struct Traced {
    attached: Attached,
    /// When the agent met its program. A program that began later is another one.
    begun_ns: u64,
    /// When it began its program, where the agent waited for that.
    executed_ns: Option<u64>,
    /// It is watched: its operators are not attached yet.
    watched: bool,
    reported: bool,
    /// [`Tracer::newly_reported`] has returned it.
    taken: bool,
    ended: bool,
}

#[derive(Debug)]
struct Child {
    pid: Pid,
    command: String,
    /// The same as /proc/PID/cmdline would have it.
    cmdline: Vec<u8>,
    spawned: Option<Spawned>,
    exit: Option<Exit>,
    tail: Option<Tail>,
}

impl<'b, 's> Tracer<'b, 's> {
    /// Traces nothing yet.
    #[must_use]
    pub fn new(bpf: &'b Bpf<'s>, levels: u32, wish: Wish) -> Self {
        let (processes, watch) = (Vec::new(), Watch::default());
        Self {
            bpf,
            levels,
            wish,
            processes,
            watch,
            child: None,
            waiting_for: None,
            seen_any: false,
            late: Vec::new(),
            met_any: false,
            forgot: false,
        }
    }

    /// Begins with what the target names. `stderr`: what a program that is started has as its standard error, and where its last bytes come
    /// from.
    ///
    /// # Errors
    /// When there is no such process, the program cannot be started, or the kernel refuses.
    pub fn begin(
        &mut self,
        target: &Target,
        stderr: Option<(OwnedFd, Tail)>,
        lower: &mut Lower,
    ) -> Result<()> {
        match target {
            Target::Pid(pid) => {
                process::check(*pid)?;
                self.add(*pid, lower)?;
                if self.seen_any { Ok(()) } else { Err(no_engine(*pid)) }
            }
            Target::Name { name, restarts } => {
                // Watch first, look second: nothing that starts in between is missed.
                let link = self.bpf.attach_exec()?;
                self.waiting_for =
                    Some(Waiting { name: name.clone(), restarts: *restarts, _link: link, catch: None });
                for pid in process::find(name) {
                    self.add(pid, lower)?;
                    if self.processes.iter().any(|p| p.attached.pid == pid && p.attached.plan.is_none()) {
                        log(&format!(
                            "process {pid} ({}) has that name, but no part of a GGML engine is mapped in it: waiting for \
                             it to load one, and for others of that name",
                            process::name(pid)
                        ));
                    }
                }
                Ok(())
            }
            Target::Command { command, stdout_to_stderr, user } => {
                let (stderr, tail) = stderr.unzip();
                let spawned = spawn(command, *stdout_to_stderr, stderr.as_ref(), user.as_ref())?;
                let pid = spawned.pid;
                self.watch.add(pid.as_raw().cast_unsigned())?;
                let shown = process::shown(command);
                spawned.release();
                let words: Vec<&[u8]> = command.iter().map(|word| word.as_bytes()).collect();
                let cmdline = words.join(&0);
                self.child =
                    Some(Child { pid, command: shown, cmdline, spawned: Some(spawned), exit: None, tail });
                Ok(())
            }
        }
    }

    /// Stops new processes of the name that is waited for from now on, also while this thread is busy. To be called when the agent has given up its
    /// privileges, which threads inherit.
    pub fn begin_catch(&mut self) {
        if let Some(waiting) = &mut self.waiting_for {
            let executions = self.bpf.executions();
            waiting.catch = executions.ok().and_then(|map| Catch::begin(map, &waiting.name));
        }
    }

    /// The name that is looked out for, while no process has it.
    #[must_use]
    pub fn waits_for(&self) -> Option<&str> {
        self.waiting_for.as_ref().filter(|_| self.processes.is_empty()).map(|w| w.name.as_str())
    }

    /// A process that runs already, or has just begun.
    fn add(&mut self, pid: u32, lower: &mut Lower) -> Result<()> {
        self.begin_process(pid, false)?;
        self.refresh(pid, lower)?;
        let Some(traced) = self.processes.iter_mut().find(|p| p.attached.pid == pid) else { return Ok(()) };
        if traced.attached.complete() {
            traced.attached.forget_loads();
            self.settle(pid, None, lower)?;
            self.emit_missing(pid, lower);
        } else {
            // More is to be loaded. The tracer first: a SIGURG without one would be the engine's.
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
        let attached = Attached::new(pid, self.levels, &self.wish);
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

    /// Some process is watched while it starts.
    #[must_use]
    pub fn watching(&self) -> bool {
        self.watch.active() || self.catch().is_some_and(Catch::holds)
    }

    /// Handles new processes of the name that is waited for (`executed`: processes that began a program), and one stop of a watched
    /// process. True if there was any: the next one may wait already.
    ///
    /// # Errors
    /// When the program could not be started, or the kernel refuses a new process.
    pub fn step(&mut self, executed: &mut Vec<Executed>, lower: &mut Lower) -> Result<bool> {
        // New processes first: they run, but stopped ones wait. A stop can take 100 ms, so the caller looks for new ones after each.
        let mut begun = false;
        let any = !executed.is_empty();
        if let Some(catch) = self.catch() {
            executed.clear();
            catch.take(executed);
        }
        for e in executed.drain(..) {
            begun |= self.executed(&e)?;
        }
        if begun {
            self.drop_what_is_gone(lower);
        }
        let stop = self.watch.poll();
        if let Some(stop) = stop {
            let result = self.stopped(stop, lower);
            if let Stop::Called(tid) = stop {
                lower.resumed(tid.as_raw().cast_unsigned(), clock::monotonic_ns());
            }
            self.watch.resume(stop);
            result?;
        }
        self.reap()?;
        Ok(any || stop.is_some())
    }

    /// A process began a new program. True if it is watched from now on.
    fn executed(&mut self, e: &Executed) -> Result<bool> {
        let (pid, at_ns) = (e.pid, e.at_ns);
        let wanted = self.waiting_for.as_ref().is_some_and(|w| e.is_named(&w.name));
        let known = |p: &Traced| p.attached.pid == pid && !p.ended && (p.watched || p.begun_ns >= at_ns);
        if !wanted || self.processes.iter().any(known) {
            self.release(pid);
            return Ok(false);
        }
        self.begin_process(pid, true)?;
        if let Some(traced) = self.processes.last_mut() {
            traced.executed_ns = Some(at_ns);
        }
        // From here on it runs: every microsecond counts, so stop first and look at it then.
        self.release(pid);
        if let Err(e) = self.watch.freeze(pid) {
            log(&format!("{e}\n  waiting for others of that name"));
        }
        let watched = self.watch.knows(pid.cast_signed());
        if !watched {
            self.processes.retain(|p| p.attached.pid != pid);
            self.note_late(pid, at_ns);
        }
        Ok(watched)
    }

    fn catch(&self) -> Option<&Catch> {
        self.waiting_for.as_ref()?.catch.as_ref().filter(|catch| catch.works())
    }

    fn release(&self, pid: u32) {
        if let Some(catch) = self.catch() {
            catch.release(pid);
        }
    }

    /// A new process may be the next run of one that has ended, or of one whose files were overwritten. It stands still meanwhile, because this
    /// takes milliseconds.
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
                // The scheduler level has told of it before its program began.
                lower.forget_threads(pid);
                self.begin_process(pid, true)?;
                self.refresh(pid, lower)
            }
            Stop::Frozen(pid) => {
                let pid = pid.as_raw().cast_unsigned();
                self.refresh(pid, lower)?;
                self.note_if_late(pid);
                Ok(())
            }
            // It shares its parent's program until it begins its own.
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
                    self.settle(pid, Some(tid), lower)?;
                }
                let Some(traced) = self.processes.iter_mut().find(|p| p.attached.pid == pid) else {
                    return Ok(());
                };
                if first_call {
                    // What is not mapped at the first token or graph is not part of this engine.
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

    /// A process that was waited for and has all parts of an engine when the agent looks at it first may have computed already.
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

    /// Processes that were met late since the last call.
    pub fn take_late(&mut self) -> Vec<Late> {
        std::mem::take(&mut self.late)
    }

    fn refresh(&mut self, pid: u32, lower: &mut Lower) -> Result<()> {
        let Some(traced) = self.processes.iter_mut().find(|p| p.attached.pid == pid) else { return Ok(()) };
        let outcomes = traced.attached.refresh(self.bpf, traced.watched)?;
        if !outcomes.is_empty() {
            cost::forget_peak_rss();
        }
        let Some(plan) = &traced.attached.plan else { return Ok(()) };
        if !outcomes.is_empty() || !traced.reported {
            if let Some(layout) = plan.layout() {
                lower.set_engine(EngineFacts { pid, layout, tables: plan.tables.clone() });
            }
            emit_process(&traced.attached, lower);
            traced.reported = true;
            self.seen_any = true;
        }
        for outcome in &outcomes {
            emit_probe(pid, outcome, lower);
        }
        Ok(())
    }

    /// Decides how the operators of a process are probed, once its engine is known; `called` is the thread that is held.
    fn settle(&mut self, pid: u32, called: Option<Pid>, lower: &mut Lower) -> Result<()> {
        let Some(traced) = self.processes.iter_mut().find(|p| p.attached.pid == pid) else { return Ok(()) };
        if let Wish::Refused(why) = &self.wish {
            operators::refuse(pid, why, lower);
        }
        let called = called.map(Pid::as_raw);
        let Some((done, outcomes)) = traced.attached.settle(self.bpf, called, &mut self.watch)? else {
            return Ok(());
        };
        match (done, &self.wish) {
            (Ok(done), Wish::Direct(cost)) => {
                traced.attached.probed_directly(operators::begin(pid, done, *cost, lower));
            }
            (Ok(_), _) => {}
            (Err(why), _) => operators::refuse(pid, &why, lower),
        }
        for outcome in &outcomes {
            emit_probe(pid, outcome, lower);
        }
        Ok(())
    }

    /// Processes whose operators may be captured for some of the time, and since when their probes are in place: those that run,
    /// are no longer watched and have operator probes.
    pub fn steerable(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let ready = self.processes.iter().filter(|p| p.reported && !p.watched && !p.ended);
        ready.filter_map(|p| Some((p.attached.pid, p.attached.operators_since()?)))
    }

    /// Whether token calls of a process are seen.
    #[must_use]
    pub fn sees_tokens(&self, pid: u32) -> bool {
        self.processes.iter().any(|p| p.attached.pid == pid && p.attached.has(level::TOKEN))
    }

    /// The operator probes of a process that runs.
    pub fn operators(&mut self, pid: u32) -> Option<Switched<'_, 's>> {
        let traced = self.processes.iter_mut().find(|p| p.attached.pid == pid && !p.ended)?;
        Some(Switched { attached: &mut traced.attached, bpf: self.bpf })
    }

    /// A process that is known to be an engine since the last call.
    pub fn newly_reported(&mut self) -> Option<u32> {
        let traced = self.processes.iter_mut().find(|p| p.reported && !p.taken)?;
        traced.taken = true;
        Some(traced.attached.pid)
    }

    fn emit_missing(&self, pid: u32, lower: &mut Lower) {
        let traced = self.processes.iter().find(|p| p.attached.pid == pid);
        for outcome in traced.iter().flat_map(|t| t.attached.missing()) {
            emit_probe(pid, &outcome, lower);
        }
    }

    /// Says in the recording of which probes it is known by now that they are not where the engine works.
    pub fn check(&mut self, lower: &mut Lower, totals: &Totals) {
        for traced in &mut self.processes {
            let pid = traced.attached.pid;
            for outcome in traced.attached.check(&lower.hits(pid), totals) {
                emit_probe(pid, &outcome, lower);
            }
        }
    }

    /// Notes the processes that have ended, and removes their probes: files may be changed from now on, and the kernel's
    /// room for processes is needed by those that come.
    pub fn look_alive(&mut self) {
        let waiting_for = self.waiting_for.as_ref().map(|w| w.name.as_str());
        let mut was_watched = false;
        for gone in self.processes.iter_mut().filter(|p| p.ended) {
            // What removed its probes is collected.
            gone.attached.operators_out();
        }
        for traced in self.processes.iter_mut().filter(|p| !p.ended && !process::alive(p.attached.pid)) {
            traced.ended = true;
            traced.attached.ended(self.bpf, &mut self.watch);
            if let (Some(name), None) = (waiting_for, &traced.attached.plan) {
                let pid = traced.attached.pid;
                log(&format!(
                    "process {pid} ({name}) has ended without a part of a GGML engine: waiting for others"
                ));
            }
            was_watched |= std::mem::take(&mut traced.watched);
        }
        if waiting_for.is_some() {
            self.processes.retain(|p| !p.ended || p.attached.plan.is_some());
            // All that was to be said of the older ones has been said.
            let ended = self.processes.iter().filter(|p| p.ended).count();
            let mut old = ended.saturating_sub(ENDED_KEPT);
            self.processes.retain(|p| {
                let forgotten = p.ended && old > 0;
                old -= usize::from(forgotten);
                self.forgot |= forgotten;
                !forgotten
            });
        }
        if was_watched && self.processes.iter().all(|p| !p.watched) {
            self.watch.leave();
        }
    }

    /// Whether a process was forgotten since the last call.
    pub fn forgot_any(&mut self) -> bool {
        std::mem::take(&mut self.forgot)
    }

    /// Whether a process is one of the session's; engines that have ended are forgotten some time.
    #[must_use]
    pub fn knows(&self, pid: u32) -> bool {
        self.processes.iter().any(|p| p.attached.pid == pid)
    }

    /// Collects the program that the agent started.
    fn reap(&mut self) -> Result<()> {
        let Some(child) = &mut self.child else { return Ok(()) };
        if child.exit.is_some() {
            return Ok(());
        }
        // While it is watched, the watch collects it.
        child.exit = self.watch.take_exit(child.pid);
        if child.exit.is_none() && !self.watch.active() {
            child.exit = match poll(child.pid.as_raw()).map(|status| status.map(told)) {
                Ok(Some(Told::Ended(exit))) => Some(exit),
                Ok(_) | Err(_) => None,
            };
        }
        if child.exit.is_some()
            && let Some(spawned) = child.spawned.take()
        {
            spawned.check(&child.command)?;
        }
        self.look_alive();
        Ok(())
    }

    /// Everything that was to be traced has ended.
    #[must_use]
    pub fn finished(&self) -> bool {
        let all_ended = self.processes.iter().all(|p| p.ended);
        match (&self.child, &self.waiting_for) {
            (Some(child), _) => child.exit.is_some() && all_ended,
            (None, Some(waiting)) => {
                // What has the name and is no engine is not what was waited for.
                let engines_ended = self.processes.iter().all(|p| p.ended || p.attached.plan.is_none());
                !waiting.restarts && self.seen_any && engines_ended
            }
            (None, None) => all_ended,
        }
    }

    /// Exit status of the program that the agent started.
    #[must_use]
    pub fn status(&self) -> Option<i32> {
        self.child.as_ref()?.exit.map(Exit::shell)
    }

    /// How the program ended that the agent started, its process, and what may leave the board of the last lines that it wrote. Once.
    pub fn take_ending(&mut self) -> Option<(u32, Exit, String)> {
        let child = self.child.as_mut()?;
        let exit = child.exit?;
        let tail = child.tail.take().and_then(Tail::read).unwrap_or_default();
        Some((child.pid.as_raw().cast_unsigned(), exit, output::of_engine(&tail, &child.cmdline)))
    }

    /// The name of which no process appeared.
    #[must_use]
    pub fn waited_for_nobody(&self) -> Option<&str> {
        self.waits_for().filter(|_| !self.met_any)
    }

    /// The processes that are traced, with those that have ended and are remembered.
    pub fn processes(&self) -> impl Iterator<Item = &Attached> {
        self.processes.iter().map(|p| &p.attached)
    }

    /// Why nothing was traced, when nothing was.
    #[must_use]
    pub fn nothing_traced(&self) -> Option<Diagnostic> {
        let waited_in_vain = self.waiting_for.is_some() && self.processes.is_empty();
        if waited_in_vain || self.processes.iter().any(|p| p.attached.probes() > 0) {
            return None;
        }
        let tried = match &self.child {
            Some(child) => format!("tracing `{}`", child.command),
            None => "tracing the engine".to_owned(),
        };
        let reason = |o: &Outcome| format!("{}: {}", o.symbol, o.note());
        let refused: Vec<String> =
            self.processes.iter().flat_map(|p| p.attached.refused()).map(reason).collect();
        if !refused.is_empty() && self.processes.iter().all(|p| p.ended) {
            // It unloads its backends while it ends: what is missing by then says nothing.
            let help =
                "start the engine when the agent waits for it (`analyze` says so), or let it run for longer";
            let answer = format!("the engine ended while its probes were placed: {}", refused.join("; "));
            return Some(Diagnostic::new(tried, answer, help));
        }
        let missing = self.processes.iter().flat_map(|p| p.attached.missing());
        let reasons: Vec<String> = refused.into_iter().chain(missing.map(|o| reason(&o))).collect();
        Some(if reasons.is_empty() {
            let help = "check that it runs llama.cpp or another GGML engine; `profinfer-agent engine FILE` shows \
                        what a file offers";
            Diagnostic::new(tried, "no part of a GGML engine was found in what it mapped", help)
        } else {
            let help = "use a build of the engine that is not stripped, or one with shared libraries";
            Diagnostic::new(tried, format!("no probe could be placed: {}", reasons.join("; ")), help)
        })
    }

    /// Removes every probe and lets every watched process go.
    pub fn detach(&mut self) {
        // Before the calls that operators belong to are no longer seen.
        for traced in &self.processes {
            if let Operators::Direct(installed) = &traced.attached.operators {
                installed.pause();
            }
        }
        self.bpf.stop();
        self.waiting_for = None;
        for traced in &mut self.processes {
            traced.attached.detach(self.bpf, &mut self.watch);
        }
        self.watch.leave();
        let begun = std::time::Instant::now();
        while self.watch.active() && begun.elapsed() < std::time::Duration::from_secs(1) {
            if let Some(stop) = self.watch.poll() {
                self.watch.resume(stop);
            } else {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
    }
}

fn group_of(tid: Pid) -> u32 {
    let status = text_of_process(&format!("/proc/{tid}/status"));
    let tgid = status.and_then(|s| s.lines().find_map(|l| l.strip_prefix("Tgid:")?.trim().parse().ok()));
    // It has ended: only the first thread's number is still known by anybody.
    tgid.unwrap_or(tid.as_raw().cast_unsigned())
}

fn no_engine(pid: u32) -> Diagnostic {
    Diagnostic::new(
        format!("looking for llama.cpp or GGML in process {pid} ({})", process::name(pid)),
        "none of the files that it maps as code exports or contains what a GGML engine has",
        "check the process id; if the engine is loaded later, use --name or let the agent start it: `-- COMMAND`",
    )
}

fn emit_process(attached: &Attached, lower: &mut Lower) {
    let pid = attached.pid;
    let Some(plan) = &attached.plan else { return };
    let command = process::command_line(pid);
    let command = &command[..command.floor_char_boundary(2000)];
    let record = Process { pid, name: &process::name(pid), command, engine_version: &plan.version };
    lower.emit.emit(&Record::Process(record), Weight::Essential);
    for (file, found) in attached.files.iter().zip(&plan.files) {
        let path = &file.path[..file.path.floor_char_boundary(1000)];
        let build_id = &found.build_id[..found.build_id.len().min(64)];
        let record = Library { pid, path, build_id, role: &describe::roles(&found.roles) };
        lower.emit.emit(&Record::Library(record), Weight::Essential);
    }
}

fn emit_probe(pid: u32, o: &Outcome, lower: &mut Lower) {
    let cut = |s: &'_ str| s[..s.floor_char_boundary(1000)].to_owned();
    let record = Probe {
        pid,
        level: level_bit(o.kind.level()),
        what: describe::kind(o.kind),
        symbol: &cut(&o.symbol),
        library: &cut(&o.library),
        offset: o.offset(),
        attached: o.attached(),
        note: &cut(&o.note()),
    };
    lower.emit.emit(&Record::Probe(record), Weight::Essential);
}
