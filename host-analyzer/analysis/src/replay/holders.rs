//! Who had the CPUs that a thread could have used while it waited behind a thread of its own engine.

use std::collections::{HashMap, HashSet};

use super::cause::Cause;
use super::computing::Computing;
use crate::shared::cpu_use::CpuUseIndex;
use profinfer_trace::model::{Model, TaskId, ThreadId, ThreadState};

/// A holder of another CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// A task of no traced engine.
    Task(TaskId),
    /// A thread of another traced engine.
    Engine(ThreadId),
    /// Known without a look-up.
    Known(Cause),
}

/// The holders of one CPU in some time, with their times in ns, which sum to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeldCpu {
    /// `None` where there is no such CPU, or its use was not recorded.
    pub(super) cpu: Option<u16>,
    pub(super) holders: Vec<(Holder, u64)>,
}

/// Time in which a thread of an engine ran, ns.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: u64,
    end: u64,
    thread: ThreadId,
}

/// Runs on one CPU, by start.
#[derive(Debug, Default)]
struct Runs {
    /// They do not overlap, so their ends are in order too.
    rows: Vec<Run>,
    /// Sum of the times before each of them, ns.
    before: Vec<u64>,
}

impl Runs {
    /// Those that have a part between two times, with the part's length in ns.
    fn between(&self, from: u64, to: u64) -> impl Iterator<Item = (ThreadId, u64)> {
        let first = self.rows.partition_point(|r| r.end <= from);
        let rows = self.rows[first..].iter().take_while(move |r| r.start < to);
        rows.map(move |r| (r.thread, r.end.min(to).saturating_sub(r.start.max(from))))
    }

    /// Their time up to `at`, ns.
    fn until(&self, at: u64) -> u64 {
        let behind = self.rows.partition_point(|r| r.start < at);
        let last = behind.checked_sub(1).map(|i| (self.before[i], self.rows[i]));
        last.map_or(0, |(before, r)| before.saturating_add(r.end.min(at).saturating_sub(r.start)))
    }

    fn sort(&mut self) {
        self.rows.sort_by_key(|r| r.start);
        let mut sum = 0u64;
        let mut next = |r: &Run| {
            let after = sum.saturating_add(r.end.saturating_sub(r.start));
            std::mem::replace(&mut sum, after)
        };
        self.before = self.rows.iter().map(&mut next).collect();
    }
}

pub(super) struct Holders<'a> {
    model: &'a Model,
    /// `None` if the use of the CPUs was not recorded.
    tasks: Option<CpuUseIndex<'a>>,
    /// Runs of engines' threads by CPU.
    runs: HashMap<u16, Runs>,
    /// Thread ids of these. Windows of the use of the CPUs may have them too.
    followed: HashSet<u32>,
}

impl<'a> Holders<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let tasks = CpuUseIndex::new(model);
        let mut runs: HashMap<u16, Runs> = HashMap::new();
        let states = &model.sched.states;
        if tasks.is_some() {
            for i in (0..states.len()).filter(|i| states.state[*i] == ThreadState::Running) {
                let start = states.start_ns[i];
                let end = start.saturating_add(states.duration_ns[i]);
                let run = Run { start, end, thread: states.thread[i] };
                runs.entry(states.cpu[i]).or_default().rows.push(run);
            }
        }
        runs.values_mut().for_each(Runs::sort);
        let threads = runs.values().flat_map(|r| &r.rows).map(|run| model.threads.get(run.thread).tid);
        let followed = threads.collect();
        Self { model, tasks, runs, followed }
    }

    /// Who had the other CPUs from `from` to `to`, while a thread of process `pid` waited: the
    /// holders of the CPU that other programs, or idle threads of the engine, had longest.
    pub(super) fn others(
        &self,
        (pid, thread): (u32, ThreadId),
        cpus: &[u16],
        (from, to): (u64, u64),
        computing: &Computing,
    ) -> HeldCpu {
        let length = to.saturating_sub(from);
        let known = |cause| HeldCpu { cpu: None, holders: vec![(Holder::Known(cause), length)] };
        let Some(tasks) = &self.tasks else { return known(Cause::SharedCpu) };
        let idle = |own: ThreadId| computing.is_idle(own, thread, from);
        let held = |cpu: &u16| (*cpu, self.held(tasks, *cpu, (pid, &idle), (from, to)));
        let foreign = |held: &Held| held.foreign.iter().map(|(_, ns)| *ns).sum::<u64>() + held.idle;
        // If no program had one of them, the one that was idle longest.
        let most = cpus.iter().map(held).max_by_key(|(_, h)| (foreign(h), std::cmp::Reverse(h.own)));
        let Some((cpu, held)) = most else { return known(Cause::TooManyThreads) };
        let idle = (Holder::Known(Cause::IdleTeam), held.idle);
        let own = (Holder::Known(Cause::TooManyThreads), held.own);
        let unknown = held.unknown.saturating_add(tasks.unknown(from, to));
        let unknown = (Holder::Known(Cause::SharedCpu), unknown);
        let (mut holders, left) = fitting(length, held.foreign.into_iter().chain([idle, own, unknown]));
        if left > 0 {
            holders.push((Holder::Known(Cause::Placement), left));
        }
        HeldCpu { cpu: Some(cpu), holders }
    }

    /// Who had `cpu` from `from` to `to`, while a thread of process `pid` waited for it and no recorded switch
    /// names the task that ran. The times sum to the length of the wait.
    pub(super) fn of(&self, pid: u32, cpu: u16, (from, to): (u64, u64)) -> Vec<(Holder, u64)> {
        let foreign = self.tasks.as_ref().map(|t| self.held(t, cpu, (pid, &|_| false), (from, to)).foreign);
        let (mut holders, left) = fitting(to.saturating_sub(from), foreign.into_iter().flatten());
        if left > 0 {
            holders.push((Holder::Known(Cause::UnknownHolder), left));
        }
        holders
    }

    fn held(
        &self,
        tasks: &CpuUseIndex<'a>,
        cpu: u16,
        (pid, idle): (u32, &dyn Fn(ThreadId) -> bool),
        (from, to): (u64, u64),
    ) -> Held {
        let mut held = Held::default();
        let none = Runs::default();
        let runs = self.runs.get(&cpu).unwrap_or(&none);
        let engines = |from, to| runs.until(to).saturating_sub(runs.until(from));
        held.unknown = tasks.covered_beside(cpu, from, to, engines);
        for (task, ns) in tasks.busy_beside(cpu, from, to, engines) {
            let row = &self.model.sched.tasks[task.0 as usize];
            // The runs have these.
            if self.followed.contains(&row.tid) {
                continue;
            }
            held.unknown = held.unknown.saturating_sub(ns);
            if row.tid != 0 {
                held.add(Holder::Task(task), ns);
            }
        }
        for (thread, ns) in runs.between(from, to) {
            if self.model.threads.get(thread).pid != pid {
                held.add(Holder::Engine(thread), ns);
            } else if idle(thread) {
                held.idle = held.idle.saturating_add(ns);
            } else {
                held.own = held.own.saturating_add(ns);
            }
        }
        held
    }
}

/// As much of each holder's time as fits into `length`, in order, and what is left of it, ns.
fn fitting(length: u64, all: impl Iterator<Item = (Holder, u64)>) -> (Vec<(Holder, u64)>, u64) {
    let (mut holders, mut left) = (Vec::new(), length);
    for (holder, ns) in all {
        let ns = ns.min(left);
        left -= ns;
        if ns > 0 {
            holders.push((holder, ns));
        }
    }
    (holders, left)
}

/// Who had one CPU, ns.
#[derive(Debug, Default)]
struct Held {
    foreign: Vec<(Holder, u64)>,
    /// Threads of the same engine.
    own: u64,
    /// Those of them that computed nothing.
    idle: u64,
    /// Nobody is known to have had it.
    unknown: u64,
}

impl Held {
    fn add(&mut self, holder: Holder, ns: u64) {
        match self.foreign.iter_mut().find(|(h, _)| *h == holder) {
            Some((_, sum)) => *sum = sum.saturating_add(ns),
            None => self.foreign.push((holder, ns)),
        }
    }
}
