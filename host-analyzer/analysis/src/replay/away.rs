//! When each thread of the engine was off the CPU, and which cause it is.
//!
//! A thread that waits behind a thread of its own engine blames the task that held another CPU
//! which it may use. The spin of a sibling is a consequence, never a cause.

use std::collections::{HashMap, HashSet};

use super::cause::{Cause, Culprit, CulpritId, CulpritTable, Key};
use crate::results::fact::Conditions;
use crate::results::sched::pieces::{Piece, pieces};
use profinfer_trace::model::{Model, TaskId, Thread, ThreadId, ThreadState};

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
}

/// From this number of processes on, tasks of one name are one culprit: a storm of short processes.
const MANY: usize = 8;

impl AwayTimes {
    pub(super) fn compute(model: &Model, conditions: &Conditions) -> Self {
        let mut blame = Blame::new(model, conditions);
        let mut rows = vec![Vec::new(); model.threads.len()];
        for piece in pieces(model).filter(|p| p.state != ThreadState::Running && p.end_ns > p.start_ns) {
            let cause = blame.cause(&piece);
            let row: &mut Vec<Away> = &mut rows[piece.thread.0 as usize];
            match row.last_mut().filter(|last| last.end == piece.start_ns && last.cause == cause) {
                Some(last) => last.end = piece.end_ns,
                None => row.push(Away { start: piece.start_ns, end: piece.end_ns, cause }),
            }
        }
        Self { rows, culprits: blame.culprits.rows }
    }

    /// The times of a thread.
    pub(super) fn of(&self, thread: ThreadId) -> &[Away] {
        self.rows.get(thread.0 as usize).map_or(&[], Vec::as_slice)
    }
}

struct Blame<'a> {
    model: &'a Model,
    culprits: CulpritTable,
    /// By task.
    known: Vec<Option<CulpritId>>,
    /// Names of tasks of many processes.
    storms: HashSet<&'a str>,
    /// By process: its threads are more than the CPUs that it may use, if both are known.
    crowded: HashMap<u32, Option<bool>>,
}

impl<'a> Blame<'a> {
    fn new(model: &'a Model, conditions: &Conditions) -> Self {
        let mut pids: HashMap<&str, HashSet<u32>> = HashMap::new();
        for task in &model.sched.tasks {
            // A task that had exited before it was looked up is a process of its own.
            let pid = if task.pid == 0 { task.tid } else { task.pid };
            pids.entry(model.texts.get(task.name)).or_default().insert(pid);
        }
        let storms = pids.into_iter().filter(|(_, p)| p.len() >= MANY).map(|(name, _)| name).collect();
        let teams = teams(model);
        let crowded = |pid: u32| {
            let cpus = conditions.cpus_of(model, pid)?;
            Some(teams.get(&pid).copied().unwrap_or(0) > cpus.len())
        };
        Self {
            model,
            culprits: CulpritTable::default(),
            known: vec![None; model.sched.tasks.len()],
            storms,
            crowded: teams.keys().map(|pid| (*pid, crowded(*pid))).collect(),
        }
    }

    fn cause(&mut self, piece: &Piece) -> Cause {
        match piece.state {
            ThreadState::Sleeping => Cause::Asleep,
            ThreadState::Blocked => Cause::Blocked,
            ThreadState::Stopped => Cause::Stopped,
            ThreadState::Running | ThreadState::Preempted | ThreadState::Woken => {
                let thread = self.model.threads.get(piece.thread);
                match piece.task(self.model) {
                    Some(task) => self.holder(thread, task, piece),
                    None => Cause::UnknownHolder,
                }
            }
        }
    }

    /// The cause of a wait for a CPU that `task` has.
    fn holder(&mut self, thread: Thread, id: TaskId, piece: &Piece) -> Cause {
        let task = &self.model.sched.tasks[id.0 as usize];
        if task.tid == 0 {
            return if piece.state == ThreadState::Woken { Cause::WakeUp } else { Cause::Throttled };
        }
        if self.model.session.agent_pid.is_some_and(|pid| pid != 0 && pid == task.pid) {
            return Cause::Agent;
        }
        if task.pid != 0 && task.pid == thread.pid {
            return match self.crowded.get(&thread.pid) {
                Some(Some(true)) => Cause::TooManyThreads,
                _ => Cause::SharedCpu,
            };
        }
        let id = self.culprit(id);
        let cpus = &mut self.culprits.rows[id.0 as usize].cpus;
        if let Err(at) = cpus.binary_search(&piece.cpu) {
            cpus.insert(at, piece.cpu);
        }
        Cause::Program(id)
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
        let text = |t| model.texts.get(t).to_owned();
        let new = || Culprit {
            tid: if storm { 0 } else { task.tid },
            pid: if storm { 0 } else { task.pid },
            name: name.to_owned(),
            command: text(task.command),
            cgroup: text(task.cgroup),
            engine: model.session.processes.iter().any(|p| p.pid == task.pid),
            tasks: 0,
            cpus: Vec::new(),
        };
        let culprit = self.culprits.find_or_add(key, new);
        self.culprits.rows[culprit.0 as usize].tasks += 1;
        self.known[id.0 as usize] = Some(culprit);
        culprit
    }
}

/// Most threads that computed a graph together, by process.
fn teams(model: &Model) -> HashMap<u32, usize> {
    let mut teams = HashMap::new();
    for (_, rows) in model.spans.by_call() {
        let mut threads = 0;
        let mut pid = 0;
        for (thread, _) in model.spans.by_thread(rows) {
            threads += 1;
            pid = model.threads.get(thread).pid;
        }
        let most = teams.entry(pid).or_insert(0);
        *most = threads.max(*most);
    }
    teams
}
