//! Who had the CPUs that a thread could have used while it waited behind a thread of its own engine.

use std::collections::{HashMap, HashSet};

use super::cause::Cause;
use super::computing::Computing;
use super::missed::MissedSwitches;
use super::runs::{Run, Runs};
use super::stays::{Stay, Stays};
use crate::shared::cpu_use::{CpuUseIndex, part};
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

/// Who had the CPU for which a thread waited, with their times in ns, which sum to the wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WaitedFor {
    /// Tasks of other processes.
    pub(super) others: Vec<(Holder, u64)>,
    /// Another thread of the same process.
    pub(super) own: Option<(ThreadId, u64)>,
}

/// The holders of one CPU in some time, with their times in ns, which sum to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeldCpu {
    /// `None` where there is no such CPU, or its use was not recorded.
    pub(super) cpu: Option<u16>,
    pub(super) holders: Vec<(Holder, u64)>,
}

/// Nobody is known to have had the CPU.
const UNKNOWN: Holder = Holder::Known(Cause::UnknownHolder);
/// Longest time for which the kernel leaves two threads on one CPU although another one is free, ns. It
/// balances busy CPUs in intervals of 16 ms per CPU (`min_interval` and `busy_factor` of
/// kernel/sched/topology.c), and boards have up to eight.
const BALANCED_NS: u64 = 128_000_000;
/// Whoever had the CPU that a thread left is seen in this time, ns.
const LEFT_NS: u64 = 1_000_000;

pub(super) struct Holders<'a> {
    model: &'a Model,
    /// `None` if the use of the CPUs was not recorded.
    tasks: Option<CpuUseIndex<'a>>,
    /// Runs of engines' threads by CPU.
    runs: HashMap<u16, Runs>,
    stays: Stays,
    missed: MissedSwitches,
    /// Thread ids of these. Windows of the use of the CPUs may have them too.
    followed: HashSet<u32>,
}

impl<'a> Holders<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let tasks = CpuUseIndex::new(model);
        let mut runs: HashMap<u16, Runs> = HashMap::new();
        let mut stays = Stays::new(model.threads.len());
        let states = &model.sched.states;
        if tasks.is_some() {
            for i in (0..states.len()).filter(|i| states.state[*i] == ThreadState::Running) {
                let (start, cpu) = (states.start_ns[i], states.cpu[i]);
                let end = start.saturating_add(states.duration_ns[i]);
                let run = Run { start, end, thread: states.thread[i] };
                runs.entry(cpu).or_default().rows.push(run);
                stays.add(run.thread, Stay { cpu, start, end });
            }
        }
        runs.values_mut().for_each(Runs::sort);
        let threads = runs.values().flat_map(|r| &r.rows).map(|run| model.threads.get(run.thread).tid);
        let followed = threads.collect();
        let missed = tasks.as_ref().map(|_| MissedSwitches::new(model, &followed)).unwrap_or_default();
        Self { model, tasks, runs, stays, missed, followed }
    }

    /// Who had the other CPUs from `from` to `to`, while `thread` of process `pid` waited for CPU `on`, which its
    /// thread `other` had: the holders of the CPU that other programs, or idle threads of the engine, had longest.
    /// While that one was free, the program that made the two threads share a CPU.
    pub(super) fn others(
        &self,
        (pid, thread, other, on): (u32, ThreadId, Option<ThreadId>, u16),
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
            let threads = [Some(thread), other];
            let pushed = self.pushed(tasks, (pid, threads), on, from);
            let holder = pushed
                .or_else(|| self.kept_out(tasks, (pid, threads), cpu, from))
                .unwrap_or(Holder::Known(Cause::Placement));
            match holders.iter_mut().find(|(h, _)| *h == holder) {
                Some((_, ns)) => *ns = ns.saturating_add(left),
                None => holders.push((holder, left)),
            }
        }
        HeldCpu { cpu: Some(cpu), holders }
    }

    /// Who kept the agent from going to another CPU while it had the one for which `thread` of process `pid` waited:
    /// the holders of the CPU that was free longest. `None` if that is not known, or there is no other CPU.
    pub(super) fn behind_agent(
        &self,
        (pid, thread): (u32, ThreadId),
        cpus: &[u16],
        (from, to): (u64, u64),
        computing: &Computing,
    ) -> Option<HeldCpu> {
        let tasks = self.tasks.as_ref()?;
        let idle = |own: ThreadId| computing.is_idle(own, thread, from);
        let held = cpus.iter().map(|cpu| (*cpu, self.held(tasks, *cpu, (pid, &idle), (from, to))));
        let busy = |h: &Held| h.foreign.iter().map(|(_, ns)| *ns).sum::<u64>() + h.idle + h.own + h.unknown;
        let (cpu, held) = held.min_by_key(|(_, held)| busy(held))?;
        let idle = (Holder::Known(Cause::IdleTeam), held.idle);
        let (mut holders, left) = fitting(to.saturating_sub(from), held.foreign.into_iter().chain([idle]));
        if left > 0 {
            holders.push((Holder::Known(Cause::Agent), left));
        }
        Some(HeldCpu { cpu: Some(cpu), holders })
    }

    /// Who took the CPU from which one of two threads of process `pid` came to `cpu`, where they are at `at`. The
    /// kernel brings it back some time after that CPU is free again.
    fn pushed(
        &self,
        tasks: &CpuUseIndex<'a>,
        (pid, threads): (u32, [Option<ThreadId>; 2]),
        cpu: u16,
        at: u64,
    ) -> Option<Holder> {
        let came = |thread: &ThreadId| self.stays.came(*thread, cpu, at);
        let (came, left) = threads.iter().flatten().filter_map(came).max_by_key(|(came, _)| *came)?;
        if at.saturating_sub(came) > BALANCED_NS {
            return None;
        }
        let time = (left.end.max(came.saturating_sub(LEFT_NS)), came.max(left.end.saturating_add(LEFT_NS)));
        self.holder_of_most(tasks, left.cpu, pid, time)
    }

    /// Who had `cpu`, which is free at `at`, when one of two threads of process `pid` began on another one.
    fn kept_out(
        &self,
        tasks: &CpuUseIndex<'a>,
        (pid, threads): (u32, [Option<ThreadId>; 2]),
        cpu: u16,
        at: u64,
    ) -> Option<Holder> {
        let began = threads.iter().flatten().filter_map(|thread| self.stays.began(*thread, at)).max()?;
        let recent = at.saturating_sub(began) <= BALANCED_NS;
        let time = (began.saturating_sub(LEFT_NS), began);
        recent.then(|| self.holder_of_most(tasks, cpu, pid, time)).flatten()
    }

    /// The task of another process that had `cpu` for more than half of the time.
    fn holder_of_most(
        &self,
        tasks: &CpuUseIndex<'a>,
        cpu: u16,
        pid: u32,
        (from, to): (u64, u64),
    ) -> Option<Holder> {
        let held = self.held(tasks, cpu, (pid, &|_| false), (from, to));
        let (holder, ns) = held.foreign.into_iter().max_by_key(|(_, ns)| *ns)?;
        (ns.saturating_mul(2) > to.saturating_sub(from)).then_some(holder)
    }

    /// Who had `cpu` from `from` to `to`, while a thread of process `pid` waited for it and no recorded switch
    /// names the task that ran. A CPU that a thread waits for is not
    /// idle, so it was that of the tasks that had it around that time, in proportion.
    pub(super) fn of(&self, pid: u32, cpu: u16, (from, to): (u64, u64)) -> WaitedFor {
        let held = self.tasks.as_ref().map(|t| self.held(t, cpu, (pid, &|_| false), (from, to)));
        let Held { foreign, own, .. } = held.unwrap_or_default();
        let length = to.saturating_sub(from);
        let thread = self.own(pid, cpu, (from, to));
        let own = thread.map(|thread| (thread, own.min(length))).filter(|(_, ns)| *ns > 0);
        let (left, all) = (length - own.map_or(0, |(_, ns)| ns), foreign.iter().map(|(_, ns)| *ns).sum());
        let mut others: Vec<_> =
            foreign.into_iter().map(|(holder, ns)| (holder, part(ns, left, all))).collect();
        let given: u64 = others.iter().map(|(_, ns)| *ns).sum();
        match others.iter_mut().max_by_key(|(_, ns)| *ns) {
            Some((_, most)) => *most += left.saturating_sub(given),
            None if left > 0 => others.push((UNKNOWN, left)),
            None => {}
        }
        WaitedFor { others, own }
    }

    /// The thread of process `pid` that had `cpu` longest in some time.
    fn own(&self, pid: u32, cpu: u16, (from, to): (u64, u64)) -> Option<ThreadId> {
        let runs = self.runs.get(&cpu)?.between(from, to);
        let own = runs.filter(|(thread, _)| self.model.threads.get(*thread).pid == pid);
        own.max_by_key(|(_, ns)| *ns).map(|(thread, _)| thread)
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
        for (task, from, to) in self.missed.between(cpu, from, to) {
            let ns = to.saturating_sub(from).saturating_sub(engines(from, to)).min(held.unknown);
            held.unknown -= ns;
            if ns > 0 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_trace::model::{Task, Text};

    const MS: u64 = 1_000_000;

    /// Thread 1 of process 7 runs on CPU 0 for 10 ms, and after one more on CPU 1. Then a program has CPU 0 for
    /// `busy` of 10 ms.
    fn pushed(busy: u64, at: u64) -> Option<Holder> {
        let mut model = Model::default();
        let threads = [100, 101].map(|tid| model.threads.find_or_add(tid));
        threads.iter().for_each(|thread| model.threads.describe(*thread, 7, Text::default()));
        program_on_cpu_0(&mut model, busy);
        for (thread, cpu, start, end) in [(0, 1, 0, 400), (1, 0, 0, 10), (1, 1, 11, 400)] {
            runs(&mut model, threads[thread], cpu, (start, end));
        }
        let holders = Holders::new(&model);
        holders.pushed(holders.tasks.as_ref()?, (7, threads.map(Some)), 1, at * MS)
    }

    /// Both threads of process 7 run on CPU 1, the second one from 20 ms on. A program had CPU 0 for `busy` of the
    /// 10 ms before.
    fn kept_out(busy: u64, at: u64) -> Option<Holder> {
        let mut model = Model::default();
        let threads = [100, 101].map(|tid| model.threads.find_or_add(tid));
        threads.iter().for_each(|thread| model.threads.describe(*thread, 7, Text::default()));
        program_on_cpu_0(&mut model, busy);
        threads.iter().zip([0, 20]).for_each(|(thread, start)| runs(&mut model, *thread, 1, (start, 400)));
        let holders = Holders::new(&model);
        holders.kept_out(holders.tasks.as_ref()?, (7, threads.map(Some)), 0, at * MS)
    }

    #[test]
    fn a_program_kept_a_new_thread_out_of_a_cpu_that_is_free_since() {
        let program = Some(Holder::Task(TaskId(0)));
        assert_eq!([20, 30, 148].map(|at| kept_out(10, at)), [program; 3]);
        // It was free for most of that time; the kernel would have moved the thread by now.
        assert_eq!([kept_out(4, 30), kept_out(10, 149)], [None; 2]);
    }

    /// A program that has CPU 0 for `busy` of the 10 ms from 10 ms on.
    fn program_on_cpu_0(model: &mut Model, busy: u64) {
        let (sched, none) = (&mut model.sched, Text::default());
        sched.tasks.push(Task { tid: 4242, pid: 4242, name: none, command: none, cgroup: none });
        sched.cpu_use_recorded = true;
        sched.cpu_use.cpu.push(0);
        sched.cpu_use.start_ns.push(10 * MS);
        sched.cpu_use.duration_ns.push(10 * MS);
        sched.cpu_use.task.push(TaskId(0));
        sched.cpu_use.busy_ns.push(busy * MS);
    }

    fn runs(model: &mut Model, thread: ThreadId, cpu: u16, (start, end): (u64, u64)) {
        let states = &mut model.sched.states;
        states.thread.push(thread);
        states.start_ns.push(start * MS);
        states.duration_ns.push((end - start) * MS);
        states.state.push(ThreadState::Running);
        states.cpu.push(cpu);
    }

    #[test]
    fn a_cpu_that_is_waited_for_is_that_of_its_tasks_in_proportion() {
        let of = |cpu, recorded| {
            let (mut model, none) = (Model::default(), Text::default());
            let sched = &mut model.sched;
            sched.cpu_use_recorded = recorded;
            for (i, (tid, busy_ns)) in (0..).zip([(0, 20), (7, 30), (8, 10)]) {
                sched.tasks.push(Task { tid, pid: tid, name: none, command: none, cgroup: none });
                sched.cpu_use.task.push(TaskId(i));
                sched.cpu_use.cpu.push(3);
                sched.cpu_use.start_ns.push(0);
                sched.cpu_use.duration_ns.push(100);
                sched.cpu_use.busy_ns.push(busy_ns);
            }
            Holders::new(&model).of(1, cpu, (10, 20)).others
        };
        let (seven, eight) = (Holder::Task(TaskId(1)), Holder::Task(TaskId(2)));
        assert_eq!(of(3, true), [(seven, 8), (eight, 2)]);
        let unknown = [(Holder::Known(Cause::UnknownHolder), 10)];
        assert_eq!([of(2, true), of(3, false)], [unknown.to_vec(), unknown.to_vec()]);
    }

    #[test]
    fn the_agent_would_go_to_the_cpu_that_is_free_longest() {
        let (mut model, none) = (Model::default(), Text::default());
        let sched = &mut model.sched;
        sched.cpu_use_recorded = true;
        for (i, (cpu, tid, busy)) in (0..).zip([(1, 7, 10), (2, 8, 4), (2, 0, 6), (3, 9, 6), (3, 0, 4)]) {
            sched.tasks.push(Task { tid, pid: tid, name: none, command: none, cgroup: none });
            sched.cpu_use.cpu.push(cpu);
            sched.cpu_use.start_ns.push(0);
            sched.cpu_use.duration_ns.push(10 * MS);
            sched.cpu_use.task.push(TaskId(i));
            sched.cpu_use.busy_ns.push(busy * MS);
        }
        let holders = Holders::new(&model);
        let behind = |cpus: &[u16]| {
            let held =
                holders.behind_agent((1, ThreadId(0)), cpus, (0, 10 * MS), &Computing::default())?.holders;
            Some(held.into_iter().map(|(holder, ns)| (holder, ns / MS)).collect::<Vec<_>>())
        };
        let program = |task| Holder::Task(TaskId(task));
        let agent = Holder::Known(Cause::Agent);
        assert_eq!(behind(&[1]), Some(vec![(program(0), 10)]));
        assert_eq!(behind(&[1, 3, 2]), Some(vec![(program(1), 4), (agent, 6)]));
        assert_eq!(behind(&[]), None);
    }

    #[test]
    fn a_missed_switch_hides_the_task_that_was_there_before_and_after() {
        let (mut model, none) = (Model::default(), Text::default());
        let sched = &mut model.sched;
        sched.cpu_use_recorded = true;
        sched.tasks.push(Task { tid: 7, pid: 7, name: none, command: none, cgroup: none });
        for (start, length, busy) in [(0, 20, 20), (20, 70, 0), (90, 20, 20)] {
            sched.cpu_use.cpu.push(3);
            sched.cpu_use.start_ns.push(start * MS);
            sched.cpu_use.duration_ns.push(length * MS);
            sched.cpu_use.task.push(TaskId(0));
            sched.cpu_use.busy_ns.push(busy * MS);
        }
        let held = Holders::new(&model).of(1, 3, (30 * MS, 40 * MS)).others;
        assert_eq!(held, [(Holder::Task(TaskId(0)), 10 * MS)]);
    }

    #[test]
    fn a_program_that_took_the_cpu_before_made_the_threads_share_the_other_one() {
        let program = Some(Holder::Task(TaskId(0)));
        assert_eq!([30, 130].map(|at| pushed(10, at)), [program; 2]);
        // Most likely another reason, or too long ago.
        assert_eq!([pushed(4, 30), pushed(10, 150), pushed(0, 30)], [None; 3]);
    }
}
