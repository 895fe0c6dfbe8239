//! How the session ended, in one code; above all whether anything was traced, and if not, why.
//!
//! Stage: analysis. From: what the agent found out ([`EndingRow`]), calls, probes, facts. To: [`Ending`]. Promises: `traced` is false only where no call
//! was seen to its end. A recording of an agent that sends no such rows gets what can be derived from its tables.

use profinfer_trace::model::{EndReason, EndingKind, EndingRow, FactScope, FactValue, Level, Model, Probe};

/// Lines of an engine's output that are kept.
const LINES: usize = 5;
/// Longest text of a row that is kept, characters: it comes from the stream.
const TEXT: usize = 1500;
/// A call counts as unreturned if it has run longer than this, and [`OPEN_TIMES`] as long as the longest one that returned.
const OPEN_NS: u64 = 5_000_000_000;
const OPEN_TIMES: u64 = 10;
/// Signals by which people and systems end a program that works: SIGHUP, SIGINT, SIGPIPE, SIGTERM.
const ASKED: [i32; 4] = [1, 2, 13, 15];
/// A group is at its limit from this share of it on, per cent.
const AT_LIMIT: u64 = 95;
/// Share of an open call's time with no task of the group running for want of memory, per cent, from which on that is the reason.
const PRESSED: u64 = 20;

/// How a session ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EndingCode {
    /// Calls were traced, and nothing is wrong with the end.
    #[default]
    Computed,
    /// The engine ended by an error or a signal.
    EngineFailed,
    /// The engine ended, without an error that is known, and had computed nothing.
    EngineEnded,
    /// No process of the name appeared.
    NoProcess,
    /// No probe was attached.
    NoProbe,
    /// A call began and has not returned.
    CallUnreturned,
    /// The engine lives in a PID namespace below the agent's.
    PidNamespace,
    /// Its code is mapped out of an archive.
    PackedLibrary,
    /// Its children compute, and are not traced.
    ChildrenCompute,
    /// The agent refused the plan.
    Refused,
    /// The stream stops, and had no call before that.
    CutShort,
    /// The engine ran and computed nothing.
    NothingComputed,
    /// No level of the engine was asked for: measured ceilings, or the scheduler alone.
    NotAsked,
}

/// How that is to be shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EndingState {
    /// As it should be.
    #[default]
    Good,
    /// Nothing went wrong, and there is nothing to show: grey.
    Nothing,
    /// Something went wrong: red.
    Bad,
}

/// The end of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// Which.
    pub code: EndingCode,
    /// How to show it.
    pub state: EndingState,
    /// A call was seen to its end.
    pub traced: bool,
    /// Process that the code is about.
    pub pid: Option<u32>,
    /// Its name.
    pub name: Option<String>,
    /// Exit status of the program that the agent started, if it is known and not 0.
    pub status: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// Its last diagnostics on standard error, without prompts, answers and secrets.
    pub output: Vec<String>,
    /// The name of which no process appeared.
    pub waited_for: Option<String>,
    /// The process's id in its own PID namespace.
    pub inside_pid: Option<u32>,
    /// Where no probe was attached: how many were tried. None was where no part of an engine was found.
    pub tried: Option<u64>,
    /// The archive that code is mapped out of.
    pub file: Option<String>,
    /// Children that have the same engine and are not traced.
    pub children: Vec<Child>,
    /// How long the call has run that did not return, ns.
    pub open_ns: Option<u64>,
    /// Memory of the process's control group, where a call did not return and it is known.
    pub memory: Option<Memory>,
}

/// A child that is not traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// Process.
    pub pid: u32,
    /// Its name.
    pub name: String,
}

/// Memory of a control group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// `memory.high`, the tightest, bytes.
    pub high_bytes: Option<u64>,
    /// The hard limit, the tightest, bytes.
    pub limit_bytes: Option<u64>,
    /// In use at last, bytes.
    pub used_bytes: Option<u64>,
    /// How often `memory.high` was passed in the session.
    pub high_events: Option<u64>,
    /// How long no task of the group ran for want of memory in the session, ns.
    pub stalled_ns: Option<u64>,
    /// The figures show that this is why the call did not return.
    pub is_reason: bool,
}

impl Ending {
    /// Nothing was traced, although a level of the engine was requested.
    #[must_use]
    pub const fn nothing_traced(&self) -> bool {
        !self.traced && !matches!(self.code, EndingCode::NotAsked)
    }

    /// The end of the session in `model`.
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        let mut ending = Self { traced: traced(model), ..Self::default() };
        ending.code = if asked(model) { code(model, ending.traced) } else { EndingCode::NotAsked };
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
                let child = |row: &EndingRow| Child { pid: row.other, name: text(row) };
                self.children = rows(model, EndingKind::Child).map(child).collect();
            }
            EndingCode::CallUnreturned => {
                self.open_ns = about.map(open_ns);
                self.memory = about.and_then(|row| memory(model, row));
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

/// The call that has been open for the longest time.
fn open(model: &Model) -> Option<&EndingRow> {
    rows(model, EndingKind::CallOpen).min_by_key(|row| row.since_ns)
}

const fn open_ns(row: &EndingRow) -> u64 {
    row.at_ns.saturating_sub(row.since_ns)
}

/// A call was seen to its end. Of an engine that died or hangs in its first call, graphs in it are no call.
fn traced(model: &Model) -> bool {
    let cut = || failure(model).is_some() || open(model).is_some();
    let graphs = || !model.graph_calls.is_empty() || !model.spans.is_empty();
    !model.llama_calls.is_empty() || graphs() && !cut()
}

/// A level of the engine was asked for. Not known where the session's own record did not arrive.
fn asked(model: &Model) -> bool {
    let session = &model.session;
    session.agent.is_empty() || session.levels.iter().any(|level| *level != Level::Sched)
}

fn code(model: &Model, traced: bool) -> EndingCode {
    let has = |kind| rows(model, kind).next().is_some();
    let failed = failure(model);
    if traced {
        let longest = model.llama_calls.duration_ns.iter().max().copied().unwrap_or(0);
        let hangs = |row: &EndingRow| open_ns(row) > OPEN_NS.max(longest.saturating_mul(OPEN_TIMES));
        // Who ends an engine that works does not call it an error.
        let asked = |row: &EndingRow| row.signal.is_some_and(|signal| ASKED.contains(&signal));
        return match failed {
            Some(row) if !asked(row) => EndingCode::EngineFailed,
            _ if open(model).is_some_and(hangs) => EndingCode::CallUnreturned,
            _ => EndingCode::Computed,
        };
    }
    let session = &model.session;
    let ended = model.health.end.map(|end| end.reason);
    // Those of the scheduler level are the system's: they are in place without any engine.
    let mut probes = session.probes.iter().filter(|probe| probe.level != Some(Level::Sched)).peekable();
    let nobody = session.processes.is_empty() && probes.peek().is_none() && !has(EndingKind::NoProbe);
    let probed = probes.any(|probe| probe.attached);
    // First what makes all else meaningless.
    if model.health.refused.is_some() {
        EndingCode::Refused
    } else if has(EndingKind::PidNamespace) {
        EndingCode::PidNamespace
    } else if has(EndingKind::PackedLibrary) {
        EndingCode::PackedLibrary
    } else if failed.is_some() {
        EndingCode::EngineFailed
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
        // What was traced before is whole.
        _ if traced => EndingState::Nothing,
        _ => EndingState::Bad,
    }
}

/// What is known of the memory of a process's control group; `None` where there is nothing.
fn memory(model: &Model, row: &EndingRow) -> Option<Memory> {
    let numbers = |name: &str| -> Vec<u64> {
        let Some(name) = model.texts.find(name) else { return Vec::new() };
        let facts = model.facts.of(FactScope::Process(row.pid), name);
        facts
            .filter_map(|fact| match fact.value {
                FactValue::Number(number) => Some(number),
                FactValue::Text(_) | FactValue::Absent(_) => None,
            })
            .collect()
    };
    let last = |name| numbers(name).last().copied();
    let rise = |name| {
        let all = numbers(name);
        all.first().zip(all.last()).map(|(first, last)| last.saturating_sub(*first))
    };
    let mut memory = Memory {
        high_bytes: last("cgroup.memory.high"),
        limit_bytes: last("cgroup.memory.limit"),
        used_bytes: last("cgroup.memory.used"),
        high_events: rise("cgroup.memory.high_events"),
        stalled_ns: rise("cgroup.memory.stalled_ns"),
        is_reason: false,
    };
    if memory == Memory::default() {
        return None;
    }
    let full = |limit: Option<u64>| {
        let share = |(used, limit): (u64, u64)| used.saturating_mul(100) >= limit.saturating_mul(AT_LIMIT);
        memory.used_bytes.zip(limit).is_some_and(share)
    };
    let pressed =
        memory.stalled_ns.is_some_and(|ns| ns.saturating_mul(100) >= open_ns(row).saturating_mul(PRESSED));
    // Who passed a limit has one, whatever was read when the session began.
    let passed = memory.high_events.is_some_and(|n| n > 0);
    let limited = memory.high_bytes.is_some() || memory.limit_bytes.is_some();
    let at_limit = full(memory.high_bytes) || full(memory.limit_bytes);
    memory.is_reason = passed || limited && (pressed || at_limit);
    Some(memory)
}
