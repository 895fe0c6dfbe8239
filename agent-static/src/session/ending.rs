//! How engines ended, and why nothing was traced: detects causes, sends them, and words them for
//! the terminal.
//!
//! ```text
//! while processes compute nothing ─▶ look: PID namespace, mapped files, children ─┐
//! at the end ─▶ exit status, calls that did not return, names without a process ──┴▶ Ending records
//! ```

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use profinfer_wire::record::Record;
use profinfer_wire::record::ending::{Ending, code};
use serde::Serialize;

use crate::bpf::own_pid_namespace;
use crate::clock;
use crate::error::log;
use crate::link::output::Weight;
use crate::lower::Lower;
use crate::lower::hits::Hits;
use crate::probes::attach::Attached;
use crate::probes::tracer::{Late, Tracer};
use crate::sys::thread::Exit;
use crate::target::process;

/// Maximum number of causes that are noted during a session.
const MOST: usize = 32;
/// Interval between two checks in the first seconds: a program may exit soon.
const OFTEN: Duration = Duration::from_millis(100);
const OFTEN_FOR: Duration = Duration::from_secs(5);
const SELDOM: Duration = Duration::from_secs(1);
/// Maximum text length of a record, bytes.
const TEXT: usize = 1500;

/// One cause why a session ended or traced nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// No process with this name appeared.
    NoProcess(String),
    /// No probe was attached to this process.
    NoProbe(u32),
    /// The program that the agent started exited with an error, or a signal killed it.
    Ended {
        pid: u32,
        exit: Exit,
        /// Its last lines, filtered to what may leave the board.
        output: String,
    },
    /// A call of this process began at this time and has not returned.
    CallOpen(u32, u64),
    /// The process, and its ID in a PID namespace below that of the agent.
    Namespace(u32, u32),
    /// The process, and its children that map the same engine and are not traced.
    Children(u32, Vec<Untraced>),
    /// A process whose first calls may be missing.
    Late(Late),
    /// None of these.
    Idle,
}

/// A process that is not traced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Untraced {
    pub pid: u32,
    pub name: String,
    /// The harmless part of its command line, which names the model.
    pub command: String,
}

/// The noted causes, and the time of the last check.
#[derive(Debug)]
pub(super) struct Endings {
    noted: Vec<Cause>,
    /// Children that had their parent's command line at the last check: forked, and perhaps about to
    /// call exec.
    alike: BTreeSet<u32>,
    /// Processes that existed at the last check.
    known: Vec<u32>,
    begun: Instant,
    looked: Option<Instant>,
}

impl Endings {
    pub(super) fn new() -> Self {
        let (noted, alike, known) = (Vec::new(), BTreeSet::new(), Vec::new());
        Self { noted, alike, known, begun: Instant::now(), looked: None }
    }

    /// Checks processes that have computed nothing yet, if the interval has passed or one is new: it may end before the
    /// interval does.
    pub(super) fn look(&mut self, tracer: &Tracer<'_, '_>, lower: &Lower) {
        let pause = if self.begun.elapsed() < OFTEN_FOR { OFTEN } else { SELDOM };
        let new = tracer.processes().any(|attached| !self.known.contains(&attached.pid));
        if !new && self.looked.is_some_and(|at| at.elapsed() < pause) {
            return;
        }
        self.looked = Some(Instant::now());
        self.known.clear();
        self.known.extend(tracer.processes().map(|attached| attached.pid));
        for attached in tracer.processes() {
            if lower.hits(attached.pid) == Hits::default() {
                self.look_at(attached, tracer);
            }
        }
    }

    fn look_at(&mut self, attached: &Attached, tracer: &Tracer<'_, '_>) {
        let pid = attached.pid;
        if own_pid_namespace().is_some()
            && let Some(inside) = process::id_below(pid)
        {
            self.note(Cause::Namespace(pid, inside));
        }
        if attached.probes() == 0 {
            return;
        }
        // The tracer reports new processes that it could not trace.
        if !tracer.follows() {
            self.look_at_children(attached, tracer);
        }
    }

    fn look_at_children(&mut self, attached: &Attached, tracer: &Tracer<'_, '_>) {
        let (pid, own) = (attached.pid, process::command_line(attached.pid));
        for child in process::children(pid) {
            if tracer.knows(child) || self.has_child(pid, child) || !attached.shares_engine(child) {
                continue;
            }
            let command = process::command_line(child);
            if command == own && self.alike.insert(child) {
                continue;
            }
            self.alike.remove(&child);
            self.note_child(pid, Untraced { pid: child, name: process::name(child), command });
        }
    }

    fn has_child(&self, pid: u32, child: u32) -> bool {
        let known = |cause: &Cause| matches!(cause, Cause::Children(p, all) if *p == pid && all.iter().any(|c| c.pid == child));
        self.noted.iter().any(known)
    }

    /// Reports it at once as well: a recording may take long.
    fn note_child(&mut self, pid: u32, child: Untraced) {
        let shown = format!(
            "process {pid} has computed nothing; its child {} runs the same engine and is not traced: {}\n  trace it with --pid {}, or \
             all of them with --pid {pid} --follow",
            child.pid, child.command, child.pid
        );
        let known = self.noted.iter_mut().find_map(|cause| match cause {
            Cause::Children(p, all) if *p == pid => Some(all),
            _ => None,
        });
        match known {
            Some(all) if all.len() >= MOST => return,
            Some(all) => all.push(child),
            None => self.note(Cause::Children(pid, vec![child])),
        }
        log(&shown);
    }

    fn note(&mut self, cause: Cause) {
        if self.noted.len() < MOST && !self.noted.contains(&cause) {
            self.noted.push(cause);
        }
    }

    /// Notes causes that are no longer known after the probes are removed.
    pub(super) fn before_detach(&mut self, tracer: &Tracer<'_, '_>) {
        if let Some(name) = tracer.waited_for_nobody() {
            self.note(Cause::NoProcess(name.to_owned()));
        }
    }

    /// Sends all causes after the last event. Returns the one to report if nothing was traced.
    pub(super) fn finish(&mut self, tracer: &mut Tracer<'_, '_>, lower: &mut Lower) -> Option<Cause> {
        let mut causes: Vec<Cause> = Vec::new();
        let silent = |lower: &Lower, pid: u32| lower.hits(pid) == Hits::default();
        causes.extend(self.noted.drain(..).filter(|cause| match cause {
            Cause::Namespace(pid, _) | Cause::Children(pid, _) => silent(lower, *pid),
            _ => true,
        }));
        let failed = tracer.take_ending().filter(|(_, exit, _)| *exit != Exit::Status(0));
        causes.extend(failed.map(|(pid, exit, output)| Cause::Ended { pid, exit, output }));
        for attached in tracer.processes() {
            let pid = attached.pid;
            if attached.probes() == 0 {
                causes.push(Cause::NoProbe(pid));
            }
            causes.extend(lower.token_since(pid).map(|since| Cause::CallOpen(pid, since)));
        }
        let late = tracer.take_late().into_iter().map(Cause::Late);
        for cause in causes.iter().cloned().chain(late) {
            cause.records(|record| {
                lower.emit.emit(&Record::Ending(record), Weight::Essential);
            });
        }
        // Engines without `llama_decode` calls compute graphs. If the engine ended or was left in
        // its first call, its graphs are not a complete call.
        let cut = causes.iter().any(|c| matches!(c, Cause::Ended { .. } | Cause::CallOpen(..)));
        let traced = tracer.processes().any(|p| {
            let hits = lower.hits(p.pid);
            hits.returned > 0 || !cut && hits.scheduler.max(hits.cpu) > 0
        });
        (!traced).then(|| causes.into_iter().next().unwrap_or(Cause::Idle))
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT)]
}

impl Cause {
    fn records(&self, mut emit: impl FnMut(Ending<'_>)) {
        let at_ns = clock::monotonic_ns();
        let of = |code, pid: u32| Ending { at_ns, code, pid, ..Ending::default() };
        emit(match self {
            Self::NoProcess(name) => Ending { text: cut(name), ..of(code::NO_PROCESS, 0) },
            Self::NoProbe(pid) => of(code::NO_PROBE, *pid),
            Self::Ended { pid, exit: Exit::Status(status), output } => {
                Ending { status: Some(*status), text: cut(output), ..of(code::EXITED, *pid) }
            }
            Self::Ended { pid, exit: Exit::Signal(signal), output } => {
                Ending { signal: Some(*signal), text: cut(output), ..of(code::KILLED, *pid) }
            }
            Self::CallOpen(pid, since_ns) => Ending { since_ns: *since_ns, ..of(code::CALL_OPEN, *pid) },
            Self::Namespace(pid, inside) => Ending { other: *inside, ..of(code::PID_NAMESPACE, *pid) },
            Self::Children(pid, children) => {
                for c in children {
                    let text = format!("{}\n{}", c.name, c.command);
                    emit(Ending { other: c.pid, text: cut(&text), ..of(code::CHILD, *pid) });
                }
                return;
            }
            Self::Late(late) => {
                Ending { at_ns: late.met_ns, since_ns: late.begun_ns, ..of(code::LATE, late.pid) }
            }
            Self::Idle => of(0, 0),
        });
    }

    /// The code for programs: that of `session.ending.code` of the host, if it has one.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoProcess(_) => "no_process",
            Self::NoProbe(_) => "no_probe",
            Self::Ended { .. } => "engine_failed",
            Self::CallOpen(..) => "call_unreturned",
            Self::Namespace(..) => "pid_namespace",
            Self::Children(..) => "children_compute",
            Self::Late(_) => "late",
            Self::Idle => "nothing_computed",
        }
    }

    /// The process that the cause is about, if any.
    #[must_use]
    pub const fn pid(&self) -> Option<u32> {
        match self {
            Self::NoProcess(_) | Self::Idle => None,
            Self::NoProbe(pid)
            | Self::Ended { pid, .. }
            | Self::CallOpen(pid, _)
            | Self::Namespace(pid, _)
            | Self::Children(pid, _)
            | Self::Late(Late { pid, .. }) => Some(*pid),
        }
    }

    /// Children that compute and are not traced.
    #[must_use]
    pub fn children(&self) -> &[Untraced] {
        match self {
            Self::Children(_, children) => children,
            _ => &[],
        }
    }

    /// The cause in words, for the terminal.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::NoProcess(name) => format!("no process named `{name}` appeared"),
            Self::NoProbe(pid) => format!("no probe was attached to process {pid}"),
            Self::Ended { exit: Exit::Status(status), .. } => {
                format!("the engine exited with status {status} before its first token")
            }
            Self::Ended { exit: Exit::Signal(signal), .. } => {
                format!("signal {signal} ended the engine before its first token")
            }
            Self::CallOpen(pid, _) => {
                format!("a llama_decode call of process {pid} began and never returned")
            }
            Self::Namespace(pid, inside) => format!(
                "process {pid} runs as process {inside} in a PID namespace below that of the agent. Without BTF of the kernel, the \
                 agent cannot assign events to it: run the agent in the root PID namespace, or in that of the engine"
            ),
            Self::Children(pid, children) => {
                let row = |c: &Untraced| format!("\n    {}: {}", c.pid, c.command);
                format!(
                    "process {pid} computed nothing; its children run the same engine and are not traced:{}\n  trace one of them \
                     with --pid, or all with --pid {pid} --follow",
                    children.iter().map(row).collect::<String>()
                )
            }
            Self::Late(late) => format!("the agent attached to process {} after its first calls", late.pid),
            Self::Idle => "the engine computed nothing while it was traced".to_owned(),
        }
    }
}
