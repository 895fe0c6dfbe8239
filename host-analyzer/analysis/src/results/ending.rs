//! How the session ended, as one code: above all whether anything was traced, and if not, why.
//!
//! Stage: analysis. From: what the agent found out ([`EndingRow`]), calls, probes, facts. To:
//! [`Ending`]. Promises: `traced` is false only where no call ended in the recording. For an agent
//! that sends no such rows, the ending is derived from the tables.

use profinfer_trace::model::{
    EndReason, EndingKind, EndingRow, FactScope, FactValue, Level, Model, Probe, rises,
};

/// Number of kept lines of an engine's output.
const LINES: usize = 5;
/// Longest kept text of a row, characters. The limit exists because the text comes from the stream.
const TEXT: usize = 1500;
/// A call counts as unreturned if it has run longer than this, and [`OPEN_TIMES`] times as long as
/// the longest call that returned.
const OPEN_NS: u64 = 5_000_000_000;
const OPEN_TIMES: u64 = 10;
/// Signals by which people and systems end a working program: SIGHUP, SIGINT, SIGPIPE, SIGTERM.
const STOP_SIGNALS: [i32; 4] = [1, 2, 13, 15];
/// The signal by which the kernel ends a process when memory runs out.
const SIGKILL: i32 = 9;
/// A group that uses at least this share of its limit, in percent, counts as at its limit.
const AT_LIMIT: u64 = 95;
/// Memory stall counts as the reason for an open call from this share on: time of the call, in
/// percent, during which no task of the group ran because of memory.
const PRESSED: u64 = 20;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EndingCode {
    /// Calls were traced, and the session ended normally.
    #[default]
    Computed,
    /// The engine ended with an error or by a signal.
    EngineFailed,
    /// The engine ended without a known error and had computed nothing.
    EngineEnded,
    /// No process with the requested name appeared.
    NoProcess,
    /// No probe was attached.
    NoProbe,
    /// The engine ended, and the kernel had killed a process of its control group because memory ran out.
    OutOfMemory,
    /// A call began and did not return.
    CallUnreturned,
    /// The engine runs in a PID namespace below the agent's.
    PidNamespace,
    /// The code of the engine is mapped from an archive.
    PackedLibrary,
    /// Untraced child processes compute.
    ChildrenCompute,
    /// The agent refused the plan.
    Refused,
    /// The stream ends early, and had no call before that.
    CutShort,
    /// The engine ran and computed nothing.
    NothingComputed,
    /// No level of the engine was requested: only ceilings or the scheduler level.
    NotAsked,
}

/// How views show an ending.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EndingState {
    /// As expected.
    #[default]
    Good,
    /// No error, but nothing to show: grey.
    Nothing,
    /// An error: red.
    Bad,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    pub code: EndingCode,
    pub state: EndingState,
    /// At least one call ended in the recording.
    pub traced: bool,
    /// Process that the code refers to.
    pub pid: Option<u32>,
    pub name: Option<String>,
    /// Exit status of the program that the agent started, if known and not 0.
    pub status: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// Its last diagnostics on standard error, without prompts, answers and secrets.
    pub output: Vec<String>,
    /// The process name that the agent waited for.
    pub waited_for: Option<String>,
    /// The process's id in its own PID namespace.
    pub inside_pid: Option<u32>,
    /// If no probe was attached: the number of attempts. `None` where no part of an engine was
    /// found.
    pub tried: Option<u64>,
    /// The archive that the code is mapped from.
    pub file: Option<String>,
    /// Untraced children that have the same engine.
    pub children: Vec<Child>,
    /// How long the unreturned call has run, ns.
    pub open_ns: Option<u64>,
    /// Memory of the process's control group where it is known, if a call did not return or the kernel killed
    /// a process of the group.
    pub memory: Option<Memory>,
}

/// An untraced child process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    pub pid: u32,
    pub name: String,
    /// Its command line; empty if the agent did not send it.
    pub command: String,
}

/// Memory of a control group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// The tightest `memory.high`, bytes.
    pub high_bytes: Option<u64>,
    /// The tightest hard limit, bytes.
    pub limit_bytes: Option<u64>,
    /// Last reading of the memory in use, bytes.
    pub used_bytes: Option<u64>,
    /// How often the session exceeded `memory.high`.
    pub high_events: Option<u64>,
    /// How long no task of the group ran because of memory, in the session, ns.
    pub stalled_ns: Option<u64>,
    /// How many of its processes the kernel killed in the session because memory ran out.
    pub oom_kills: Option<u64>,
    /// The figures show that memory is why the call did not return, or the engine ended.
    pub is_reason: bool,
}

impl Ending {
    /// Nothing was traced, although a level of the engine was requested.
    #[must_use]
    pub const fn nothing_traced(&self) -> bool {
        !self.traced && !matches!(self.code, EndingCode::NotAsked)
    }

    #[must_use]
    pub fn compute(model: &Model) -> Self {
        let mut ending = Self { traced: traced(model), ..Self::default() };
        ending.code = if requested(model) { code(model, ending.traced) } else { EndingCode::NotAsked };
        ending.state = state(ending.code, ending.traced);
        ending.fill(model);
        ending
    }

    fn fill(&mut self, model: &Model) {
        if let Some(row) = failure(model) {
            (self.status, self.signal) = (row.status, row.signal);
            let lines: Vec<&str> = row.text.lines().filter(|l| !l.is_empty()).collect();
            self.output = lines[lines.len().saturating_sub(LINES)..]
                .iter()
                .map(|l| l.chars().take(TEXT).collect())
                .collect();
        }
        let row = |kind| rows(model, kind).next();
        let about = match self.code {
            EndingCode::EngineFailed => failure(model),
            EndingCode::NoProbe => row(EndingKind::NoProbe),
            EndingCode::CallUnreturned => open(model),
            EndingCode::PidNamespace => row(EndingKind::PidNamespace),
            EndingCode::PackedLibrary => row(EndingKind::PackedLibrary),
            EndingCode::ChildrenCompute => row(EndingKind::Child),
            _ => None,
        };
        let processes = &model.session.processes;
        self.pid = about.map(|row| row.pid).or(processes.first().map(|p| p.pid)).filter(|pid| *pid != 0);
        self.name = processes.iter().find(|p| Some(p.pid) == self.pid).map(|p| p.name.clone());
        let text = |row: &EndingRow| row.text.chars().take(TEXT).collect::<String>();
        match self.code {
            EndingCode::NoProcess => {
                self.pid = None;
                self.waited_for = row(EndingKind::NoProcess).map(text);
            }
            EndingCode::NoProbe => {
                let of_process = |p: &&Probe| Some(p.pid) == self.pid;
                self.tried = Some(model.session.probes.iter().filter(of_process).count() as u64);
            }
            EndingCode::PidNamespace => self.inside_pid = about.map(|row| row.other),
            EndingCode::PackedLibrary => self.file = about.map(text),
            EndingCode::ChildrenCompute => {
                let child = |row: &EndingRow| {
                    let text = text(row);
                    let (name, command) = text.split_once('\n').unwrap_or((&text, ""));
                    Child { pid: row.other, name: name.to_owned(), command: command.to_owned() }
                };
                self.children = rows(model, EndingKind::Child).map(child).collect();
            }
            EndingCode::CallUnreturned => {
                self.open_ns = about.map(open_ns);
                self.memory = about.and_then(|row| memory(model, row.pid, Some(open_ns(row))));
            }
            EndingCode::OutOfMemory => {
                self.pid = out_of_memory(model);
                self.name = processes.iter().find(|p| Some(p.pid) == self.pid).map(|p| p.name.clone());
                self.memory = self.pid.and_then(|pid| memory(model, pid, None));
            }
            EndingCode::EngineFailed if self.signal == Some(SIGKILL) => {
                let killed = |memory: &Memory| memory.oom_kills > Some(0);
                self.memory = self.pid.and_then(|pid| memory(model, pid, None)).filter(killed);
            }
            _ => {}
        }
    }
}

fn rows(model: &Model, kind: EndingKind) -> impl Iterator<Item = &EndingRow> {
    model.endings.iter().filter(move |row| row.kind == kind)
}

/// The program that the agent started ended with an error or by a signal.
fn failure(model: &Model) -> Option<&EndingRow> {
    model.endings.iter().find(|row| matches!(row.kind, EndingKind::Exited | EndingKind::Killed))
}

/// The call that has been open longest.
fn open(model: &Model) -> Option<&EndingRow> {
    rows(model, EndingKind::CallOpen).min_by_key(|row| row.since_ns)
}

const fn open_ns(row: &EndingRow) -> u64 {
    row.at_ns.saturating_sub(row.since_ns)
}

/// Whether a call ended in the recording. Graphs of a first call in which an engine died or hangs
/// do not count.
fn traced(model: &Model) -> bool {
    let cut = || failure(model).is_some() || open(model).is_some();
    let graphs = || !model.graph_calls.is_empty() || !model.spans.is_empty();
    !model.llama_calls.is_empty() || graphs() && !cut()
}

/// Whether a level of the engine was requested. Unknown if the session record did not arrive.
fn requested(model: &Model) -> bool {
    let session = &model.session;
    session.agent.is_empty() || session.levels.iter().any(|level| *level != Level::Sched)
}

fn code(model: &Model, traced: bool) -> EndingCode {
    let has = |kind| rows(model, kind).next().is_some();
    let failed = failure(model);
    if traced {
        let longest = model.llama_calls.duration_ns.iter().max().copied().unwrap_or(0);
        let hangs = |row: &EndingRow| open_ns(row) > OPEN_NS.max(longest.saturating_mul(OPEN_TIMES));
        // Someone who stops a working engine does not call that an error.
        let stopped = |row: &EndingRow| row.signal.is_some_and(|signal| STOP_SIGNALS.contains(&signal));
        return match failed {
            Some(row) if !stopped(row) => EndingCode::EngineFailed,
            None if out_of_memory(model).is_some() => EndingCode::OutOfMemory,
            _ if open(model).is_some_and(hangs) => EndingCode::CallUnreturned,
            _ => EndingCode::Computed,
        };
    }
    let session = &model.session;
    let ended = model.health.end.map(|end| end.reason);
    // Probes of the scheduler level are system-wide: they exist without any engine.
    let mut probes = session.probes.iter().filter(|probe| probe.level != Some(Level::Sched)).peekable();
    let nobody = session.processes.is_empty() && probes.peek().is_none() && !has(EndingKind::NoProbe);
    let probed = probes.any(|probe| probe.attached);
    // First, what makes everything else meaningless.
    if model.health.refused.is_some() {
        EndingCode::Refused
    } else if has(EndingKind::PidNamespace) {
        EndingCode::PidNamespace
    } else if has(EndingKind::PackedLibrary) {
        EndingCode::PackedLibrary
    } else if failed.is_some() {
        EndingCode::EngineFailed
    } else if out_of_memory(model).is_some() {
        EndingCode::OutOfMemory
    } else if has(EndingKind::Child) {
        EndingCode::ChildrenCompute
    } else if open(model).is_some() {
        EndingCode::CallUnreturned
    } else if ended.is_none() {
        EndingCode::CutShort
    } else if has(EndingKind::NoProcess) || nobody {
        EndingCode::NoProcess
    } else if has(EndingKind::NoProbe) || !probed {
        EndingCode::NoProbe
    } else if ended == Some(EndReason::EngineEnded) {
        EndingCode::EngineEnded
    } else {
        EndingCode::NothingComputed
    }
}

const fn state(code: EndingCode, traced: bool) -> EndingState {
    match code {
        EndingCode::Computed | EndingCode::NotAsked => EndingState::Good,
        EndingCode::EngineEnded | EndingCode::NothingComputed | EndingCode::NoProcess => EndingState::Nothing,
        // Everything traced before is complete.
        _ if traced => EndingState::Nothing,
        _ => EndingState::Bad,
    }
}

/// Numeric values of a fact of a process, by time.
fn numbers(model: &Model, pid: u32, name: &str) -> Vec<u64> {
    let Some(name) = model.texts.find(name) else { return Vec::new() };
    let facts = model.facts.of(FactScope::Process(pid), name);
    facts
        .filter_map(|fact| match fact.value {
            FactValue::Number(number) => Some(number),
            FactValue::Text(_) | FactValue::Absent(_) => None,
        })
        .collect()
}

/// Rise of a counter of a process's control group.
fn rise(model: &Model, pid: u32, name: &str) -> Option<u64> {
    let name = model.texts.find(name)?;
    let facts = || model.facts.of(FactScope::Process(pid), name);
    facts().find(|fact| matches!(fact.value, FactValue::Number(_)))?;
    Some(rises(facts()).map(|rise| rise.by).fold(0, u64::saturating_add))
}

/// A process that ended in the session, and in whose control group the kernel killed one because memory ran
/// out. The status of a process that the agent did not start is unknown.
fn out_of_memory(model: &Model) -> Option<u32> {
    let ended = model.health.end.is_some_and(|end| end.reason == EndReason::EngineEnded);
    let killed = |pid: &u32| {
        let gone = ended || !numbers(model, *pid, "ended").is_empty();
        gone && rise(model, *pid, OOM_KILLS) > Some(0)
    };
    model.session.processes.iter().map(|p| p.pid).find(killed)
}

const OOM_KILLS: &str = "cgroup.memory.oom_kills";

/// Memory of a process's control group; `None` where nothing is known. `open_ns`: how long its call has not
/// returned.
fn memory(model: &Model, pid: u32, open_ns: Option<u64>) -> Option<Memory> {
    let last = |name| numbers(model, pid, name).last().copied();
    let rise = |name| rise(model, pid, name);
    let mut memory = Memory {
        high_bytes: last("cgroup.memory.high"),
        limit_bytes: last("cgroup.memory.limit"),
        used_bytes: last("cgroup.memory.used"),
        high_events: rise("cgroup.memory.high_events"),
        stalled_ns: rise("cgroup.memory.stalled_ns"),
        oom_kills: rise(OOM_KILLS),
        is_reason: false,
    };
    if memory == Memory::default() {
        return None;
    }
    let full = |limit: Option<u64>| {
        let share = |(used, limit): (u64, u64)| used.saturating_mul(100) >= limit.saturating_mul(AT_LIMIT);
        memory.used_bytes.zip(limit).is_some_and(share)
    };
    let part = |(ns, open): (u64, u64)| ns.saturating_mul(100) >= open.saturating_mul(PRESSED);
    let pressed = memory.stalled_ns.zip(open_ns).is_some_and(part);
    // A group that exceeded a limit has one, whatever the first reading was.
    let passed = memory.high_events.is_some_and(|n| n > 0);
    let limited = memory.high_bytes.is_some() || memory.limit_bytes.is_some();
    let at_limit = full(memory.high_bytes) || full(memory.limit_bytes);
    memory.is_reason = passed || memory.oom_kills > Some(0) || limited && (pressed || at_limit);
    Some(memory)
}
