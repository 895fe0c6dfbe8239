//! When each thread of the engine was off the CPU, and which cause it is.
//!
//! A thread that waits behind a thread of its own engine blames the task that held another CPU
//! which it may use. The spin of a sibling is a consequence, never a cause.

use std::collections::{HashMap, HashSet};

use super::cause::{Amounts, Cause, Culprit, CulpritId, CulpritTable, Key};
use super::computing::{Computing, Newcomers};
use super::holders::{Holder, Holders};
use crate::results::fact::Conditions;
use crate::results::sched::pieces::{Piece, pieces};
use crate::shared::session::first_call;
use crate::shared::tracing::Tracing;
use profinfer_trace::model::{Model, ProbeSwitch, TaskId, Thread, ThreadId, ThreadState};

/// A time in which a thread was off the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Away {
    /// ns.
    pub(super) start: u64,
    /// ns.
    pub(super) end: u64,
    pub(super) cause: Cause,
}

/// By thread, by start; the times of a thread do not overlap.
#[derive(Debug, Default)]
pub(super) struct AwayTimes {
    rows: Vec<Vec<Away>>,
    pub(super) culprits: Vec<Culprit>,
    /// CPUs that a process may use, where known.
    pub(super) cpus: HashMap<u32, usize>,
    pub(super) newcomers: Newcomers,
}

/// From this number of processes on, tasks of one name are one culprit: a storm of short processes.
const MANY: usize = 8;

impl AwayTimes {
    pub(super) fn compute(model: &Model, tracing: &Tracing, conditions: &Conditions) -> Self {
        if model.sched.states.start_ns.is_empty() {
            // There is nobody to blame, and the sizes of teams take a pass over all spans.
            return Self::default();
        }
        let mut blame = Blame::new(model, tracing, conditions);
        let mut rows = vec![Vec::new(); model.threads.len()];
        for piece in pieces(model).filter(|p| p.state != ThreadState::Running && p.end_ns > p.start_ns) {
            let row: &mut Vec<Away> = &mut rows[piece.thread.0 as usize];
            let mut start = piece.start_ns;
            for (cause, ns) in blame.causes(&piece) {
                let cause = blame.after_stop(cause, &piece);
                let end = start.saturating_add(ns).min(piece.end_ns);
                match row.last_mut().filter(|last| last.end == start && last.cause == cause) {
                    Some(last) => last.end = end,
                    None => row.push(Away { start, end, cause }),
                }
                start = end;
            }
        }
        let cpus = blame.cpus.iter().filter_map(|(pid, cpus)| Some((*pid, cpus.as_ref()?.len())));
        let newcomers = blame.computing.newcomers(model);
        Self { rows, cpus: cpus.collect(), newcomers, culprits: blame.culprits.rows }
    }

    /// The times of a thread.
    pub(super) fn of(&self, thread: ThreadId) -> &[Away] {
        self.rows.get(thread.0 as usize).map_or(&[], Vec::as_slice)
    }
}

/// Time in which at least one of some threads was off the CPU, by the cause of the first of them.
pub(super) fn union(rows: &mut [Away], (from, to): (u64, u64)) -> Amounts {
    rows.sort_by_key(|a| a.start);
    let (mut sum, mut until) = (Amounts::default(), from);
    for away in rows {
        let (start, end) = (away.start.max(until), away.end.min(to));
        sum.add(away.cause, end.saturating_sub(start));
        until = until.max(end);
    }
    sum
}

struct Blame<'a> {
    model: &'a Model,
    culprits: CulpritTable,
    /// By task.
    known: Vec<Option<CulpritId>>,
    /// Names of tasks of many processes.
    storms: HashSet<&'a str>,
    /// By process: the CPUs that it may use, if known.
    cpus: HashMap<u32, Option<Vec<u16>>>,
    computing: Computing,
    holders: Holders<'a>,
    /// Ends of the first calls of processes that the agent started or waited for, ns.
    first_calls: HashMap<u32, u64>,
    /// Start of the first captured operator of each process, ns.
    first_operators: HashMap<u32, u64>,
}

impl<'a> Blame<'a> {
    fn new(model: &'a Model, tracing: &Tracing, conditions: &Conditions) -> Self {
        let mut pids: HashMap<&str, HashSet<u32>> = HashMap::new();
        for task in &model.sched.tasks {
            // A task that had exited before it was looked up is a process of its own.
            let pid = if task.pid == 0 { task.tid } else { task.pid };
            pids.entry(model.texts.get(task.name)).or_default().insert(pid);
        }
        let storms = pids.into_iter().filter(|(_, p)| p.len() >= MANY).map(|(name, _)| name).collect();
        let computing = Computing::new(model, tracing);
        Self {
            model,
            culprits: CulpritTable::default(),
            known: vec![None; model.sched.tasks.len()],
            storms,
            cpus: computing.teams.keys().map(|pid| (*pid, conditions.cpus_ever_of(model, *pid))).collect(),
            computing,
            holders: Holders::new(model),
            first_calls: first_calls(model),
            first_operators: first_operators(model),
        }
    }

    /// In the first call the agent stops the process to attach probes. When it continues, the agent has a
    /// CPU, so new threads are placed on the other ones, and stay there for tens of milliseconds although
    /// its CPU is idle by then. Without the agent they do not share a CPU.
    fn after_stop(&self, cause: Cause, piece: &Piece) -> Cause {
        let pid = self.model.threads.get(piece.thread).pid;
        let first = self.first_calls.get(&pid).is_some_and(|end| piece.start_ns < *end);
        if first && cause == Cause::Placement { Cause::Agent } else { cause }
    }

    /// Who stopped a thread: the agent stops the process before its first captured operator to attach
    /// probes, and whenever it switches them later; else a signal or a debugger.
    fn stopped(&self, piece: &Piece) -> Cause {
        let pid = self.model.threads.get(piece.thread).pid;
        let attaching = self.first_operators.get(&pid).is_some_and(|first| piece.start_ns < *first);
        let meets = |s: &ProbeSwitch| s.pid == pid && s.began_ns < piece.end_ns && piece.start_ns < s.done_ns;
        let switching = || self.model.duty.switches.iter().any(meets);
        if attaching || switching() { Cause::Agent } else { Cause::Stopped }
    }

    /// The causes of a piece, with their times in ns; they sum to its length.
    fn causes(&mut self, piece: &Piece) -> Vec<(Cause, u64)> {
        let length = piece.end_ns - piece.start_ns;
        let one = |cause| vec![(cause, length)];
        match piece.state {
            ThreadState::Sleeping => one(Cause::Asleep),
            ThreadState::Blocked => one(Cause::Blocked),
            ThreadState::Stopped => one(self.stopped(piece)),
            ThreadState::Running | ThreadState::Preempted | ThreadState::Woken => {
                let pid = self.model.threads.get(piece.thread).pid;
                match piece.task(self.model) {
                    Some(id) => {
                        let task = &self.model.sched.tasks[id.0 as usize];
                        if task.tid == 0 {
                            let woken = piece.state == ThreadState::Woken;
                            return one(if woken { Cause::WakeUp } else { Cause::Throttled });
                        }
                        if task.pid != 0 && task.pid == pid {
                            return self.behind_own_thread(pid, task.tid, piece);
                        }
                        one(self.holder(Holder::Task(id), piece.cpu))
                    }
                    None => {
                        let held = self.holders.of(pid, piece.cpu, (piece.start_ns, piece.end_ns));
                        held.into_iter().map(|(holder, ns)| (self.holder(holder, piece.cpu), ns)).collect()
                    }
                }
            }
        }
    }

    /// A wait behind a thread of the same engine: whoever had the other CPUs is to blame.
    fn behind_own_thread(&mut self, pid: u32, tid: u32, piece: &Piece) -> Vec<(Cause, u64)> {
        let time = (piece.start_ns, piece.end_ns);
        if self.computing.task_is_idle(tid, piece.thread, time.0) {
            return vec![(Cause::IdleTeam, time.1 - time.0)];
        }
        let Some(cpus) = self.cpus.get(&pid).cloned().flatten() else {
            return vec![(Cause::SharedCpu, time.1 - time.0)];
        };
        if self.computing.teams.get(&pid).copied().unwrap_or(0) > cpus.len() {
            return vec![(Cause::TooManyThreads, time.1 - time.0)];
        }
        let others: Vec<u16> = cpus.into_iter().filter(|cpu| *cpu != piece.cpu).collect();
        let own = (pid, piece.thread, self.computing.thread(tid), piece.cpu);
        let held = self.holders.others(own, &others, time, &self.computing);
        let cpu = held.cpu.unwrap_or(piece.cpu);
        held.holders.into_iter().map(|(holder, ns)| (self.holder(holder, cpu), ns)).collect()
    }

    /// The cause for which `holder` on `cpu` stands.
    fn holder(&mut self, holder: Holder, cpu: u16) -> Cause {
        let id = match holder {
            Holder::Known(cause) => return cause,
            Holder::Task(task) => {
                let pid = self.model.sched.tasks[task.0 as usize].pid;
                if self.model.session.agent_pid.is_some_and(|agent| agent != 0 && agent == pid) {
                    return Cause::Agent;
                }
                self.culprit(task)
            }
            Holder::Engine(thread) => self.engine(thread),
        };
        self.culprits.rows[id.0 as usize].had(cpu);
        Cause::Program(id)
    }

    /// Another traced engine as a culprit.
    fn engine(&mut self, thread: ThreadId) -> CulpritId {
        let Thread { tid, pid, name } = self.model.threads.get(thread);
        let process = self.model.session.processes.iter().rev().find(|p| p.pid == pid);
        let new = || Culprit {
            tid,
            pid,
            name: process.map_or_else(|| self.model.texts.get(name).to_owned(), |p| p.name.clone()),
            command: process.map_or_else(String::new, |p| p.command.clone()),
            cgroup: String::new(),
            engine: true,
            tasks: 1,
            cpus: Vec::new(),
        };
        self.culprits.find_or_add(Key::Process(pid), new)
    }

    fn culprit(&mut self, id: TaskId) -> CulpritId {
        if let Some(known) = self.known[id.0 as usize] {
            return known;
        }
        let model = self.model;
        let task = &model.sched.tasks[id.0 as usize];
        let name = model.texts.get(task.name);
        let storm = self.storms.contains(name);
        let key = match (storm, task.pid) {
            (true, _) => Key::Name(name.to_owned()),
            (false, 0) => Key::Task(task.tid),
            (false, pid) => Key::Process(pid),
        };
        let new = || {
            let of_task = Culprit::of_task(model, task);
            if storm { Culprit { tid: 0, pid: 0, ..of_task } } else { of_task }
        };
        let culprit = self.culprits.find_or_add(key, new);
        self.culprits.rows[culprit.0 as usize].tasks += 1;
        self.known[id.0 as usize] = Some(culprit);
        culprit
    }
}

fn first_operators(model: &Model) -> HashMap<u32, u64> {
    let mut first = HashMap::new();
    for (call, rows) in model.spans.by_call() {
        let pid = model.threads.get(model.graph_calls.thread[call.0 as usize]).pid;
        first.entry(pid).or_insert_with(|| model.spans.start_ns[rows].iter().copied().min().unwrap_or(0));
    }
    first
}

fn first_calls(model: &Model) -> HashMap<u32, u64> {
    let calls = &model.llama_calls;
    let end = |i: usize| calls.start_ns[i].saturating_add(calls.duration_ns[i]);
    let last_execs: HashMap<u32, u64> = model.start_ups.iter().map(|s| (s.pid, s.exec_ns)).collect();
    let first = |(pid, exec_ns)| Some((pid, end(first_call(model, pid, exec_ns)?)));
    last_execs.into_iter().filter_map(first).collect()
}
