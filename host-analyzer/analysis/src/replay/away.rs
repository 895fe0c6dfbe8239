//! When each thread of the engine was off the CPU, and which cause it is.
//!
//! A thread that waits behind a thread of its own engine blames the task that held another CPU
//! which it may use. The spin of a sibling is a consequence, never a cause. The same holds for the agent,
//! which goes to a free CPU if there is one.

use std::collections::HashMap;

use super::cause::{Amounts, Cause};
use super::computing::{Computing, Newcomers};
use super::frozen::Frozen;
use super::holders::{HeldCpu, Holder, Holders, WaitedFor};
use super::offline::Offline;
use super::programs::Programs;
use crate::results::fact::Conditions;
use crate::results::sched::pieces::{Piece, pieces};
use crate::shared::agent::is_agent;
use crate::shared::throttled::ThrottledTimes;
use crate::shared::tracing::Tracing;
use profinfer_trace::model::{Model, ProbeSwitch, ThreadId, ThreadState};

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
    /// CPUs that a process may use, where known.
    pub(super) cpus: HashMap<u32, usize>,
    pub(super) newcomers: Newcomers,
}

impl AwayTimes {
    pub(super) fn compute<'a>(
        model: &'a Model,
        tracing: &Tracing,
        conditions: &Conditions,
        programs: &mut Programs<'a>,
    ) -> Self {
        if model.sched.states.start_ns.is_empty() {
            // There is nobody to blame, and the sizes of teams take a pass over all spans.
            return Self::default();
        }
        let mut blame = Blame::new(model, tracing, conditions, programs);
        let mut rows = vec![Vec::new(); model.threads.len()];
        for piece in pieces(model).filter(|p| p.state != ThreadState::Running && p.end_ns > p.start_ns) {
            let row: &mut Vec<Away> = &mut rows[piece.thread.0 as usize];
            let mut start = piece.start_ns;
            for (cause, ns) in blame.causes(&piece) {
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
        Self { rows, cpus: cpus.collect(), newcomers }
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

struct Blame<'a, 'p> {
    model: &'a Model,
    programs: &'p mut Programs<'a>,
    /// By process: the CPUs that it may use, if known.
    cpus: HashMap<u32, Option<Vec<u16>>>,
    computing: Computing,
    holders: Holders<'a>,
    frozen: Frozen,
    offline: Offline,
    throttled: ThrottledTimes,
    /// Start of the first captured operator of each process, ns.
    first_operators: HashMap<u32, u64>,
}

impl<'a, 'p> Blame<'a, 'p> {
    fn new(
        model: &'a Model,
        tracing: &Tracing,
        conditions: &Conditions,
        programs: &'p mut Programs<'a>,
    ) -> Self {
        let computing = Computing::new(model, tracing);
        Self {
            model,
            programs,
            cpus: computing.teams.keys().map(|pid| (*pid, conditions.cpus_ever_of(model, *pid))).collect(),
            computing,
            holders: Holders::new(model),
            frozen: Frozen::new(model),
            offline: Offline::new(model),
            throttled: ThrottledTimes::new(model),
            first_operators: first_operators(model),
        }
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
        let pid = self.model.threads.get(piece.thread).pid;
        match piece.state {
            ThreadState::Sleeping => self.or_frozen(pid, Cause::Asleep, piece),
            ThreadState::Blocked => self.or_frozen(pid, Cause::Blocked, piece),
            ThreadState::Stopped => one(self.stopped(piece)),
            ThreadState::Running | ThreadState::Preempted | ThreadState::Woken => {
                match piece.task(self.model) {
                    Some(id) => {
                        let task = &self.model.sched.tasks[id.0 as usize];
                        if task.tid == 0 {
                            let woken = piece.state == ThreadState::Woken;
                            let throttled = || self.throttled.has(pid, (piece.start_ns, piece.end_ns));
                            return one(if woken && !throttled() { Cause::WakeUp } else { Cause::Throttled });
                        }
                        if task.pid != 0 && task.pid == pid {
                            return self.behind_own_thread(pid, task.tid, piece);
                        }
                        if is_agent(self.model, task) == Some(true) {
                            return self.behind_agent(pid, piece);
                        }
                        one(self.holder(Holder::Task(id), piece.cpu))
                    }
                    None => {
                        let WaitedFor { others, own } =
                            self.holders.of(pid, piece.cpu, (piece.start_ns, piece.end_ns));
                        let other = |(holder, ns)| (self.holder(holder, piece.cpu), ns);
                        let mut causes: Vec<_> = others.into_iter().map(other).collect();
                        if let Some((thread, ns)) = own {
                            let tid = self.model.threads.get(thread).tid;
                            let piece = Piece { end_ns: piece.start_ns.saturating_add(ns), ..*piece };
                            causes.extend(self.behind_own_thread(pid, tid, &piece));
                        }
                        causes
                    }
                }
            }
        }
    }

    /// A sleep, or a stop as far as the control group was frozen.
    fn or_frozen(&self, pid: u32, sleep: Cause, piece: &Piece) -> Vec<(Cause, u64)> {
        let (from, to) = (piece.start_ns, piece.end_ns);
        let (start, end) = self.frozen.part(pid, (from, to)).unwrap_or((to, to));
        let parts = [(sleep, start - from), (Cause::Stopped, end - start), (sleep, to - end)];
        parts.into_iter().filter(|(_, ns)| *ns > 0).collect()
    }

    /// A wait behind a thread of the same engine: whoever had the other CPUs is to blame.
    fn behind_own_thread(&mut self, pid: u32, tid: u32, piece: &Piece) -> Vec<(Cause, u64)> {
        let time = (piece.start_ns, piece.end_ns);
        if self.computing.task_is_idle(tid, piece.thread, time.0) {
            return vec![(Cause::IdleTeam, time.1 - time.0)];
        }
        let Some(mut cpus) = self.cpus.get(&pid).cloned().flatten() else {
            return vec![(Cause::SharedCpu, time.1 - time.0)];
        };
        cpus.retain(|cpu| !self.offline.meets(*cpu, time));
        if self.computing.teams.get(&pid).copied().unwrap_or(0) > cpus.len() {
            return vec![(Cause::TooManyThreads, time.1 - time.0)];
        }
        let others: Vec<u16> = cpus.into_iter().filter(|cpu| *cpu != piece.cpu).collect();
        let own = (pid, piece.thread, self.computing.thread(tid), piece.cpu);
        let held = self.holders.others(own, &others, time, &self.computing);
        let cpu = held.cpu.unwrap_or(piece.cpu);
        held.holders.into_iter().map(|(holder, ns)| (self.holder(holder, cpu), ns)).collect()
    }

    /// A wait for a CPU that the agent had.
    fn behind_agent(&mut self, pid: u32, piece: &Piece) -> Vec<(Cause, u64)> {
        let time = (piece.start_ns, piece.end_ns);
        let cpus = self.cpus.get(&pid).cloned().flatten().unwrap_or_default();
        // It is not recorded who has the CPUs that the process may not use, where the agent may go, too.
        let all = cpus.len() >= usize::from(self.model.session.cpus);
        let others: Vec<u16> = cpus.into_iter().filter(|cpu| *cpu != piece.cpu && all).collect();
        let held = self.holders.behind_agent((pid, piece.thread), &others, time, &self.computing);
        let Some(HeldCpu { cpu: Some(cpu), holders }) = held else {
            return vec![(Cause::Agent, time.1 - time.0)];
        };
        holders.into_iter().map(|(holder, ns)| (self.holder(holder, cpu), ns)).collect()
    }

    /// The cause for which `holder` on `cpu` stands.
    fn holder(&mut self, holder: Holder, cpu: u16) -> Cause {
        match holder {
            Holder::Known(cause) => cause,
            Holder::Task(task) => {
                if is_agent(self.model, &self.model.sched.tasks[task.0 as usize]) == Some(true) {
                    return Cause::Agent;
                }
                Cause::Program(self.programs.of_task(task, cpu))
            }
            Holder::Engine(thread) => Cause::Program(self.programs.of_engine(thread, cpu)),
        }
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
