//! Tasks that had the CPUs that threads of the engine wanted.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::pieces::pieces;
use super::windows::{Windows, within};
use crate::shared::agent::is_agent;
use crate::shared::program::program;
use profinfer_trace::model::{Model, TaskId, ThreadId, ThreadState};

/// A task that had CPUs that threads of the engine wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interference {
    /// Thread id of the kernel; 0 for the CPUs' idle tasks.
    pub tid: u32,
    /// Its process; 0 when it had exited before the lookup.
    pub pid: u32,
    pub name: String,
    /// Command line; empty for kernel threads and for tasks that had exited.
    pub command: String,
    /// Control group; empty when unknown.
    pub cgroup: String,
    /// It is a thread of a traced process.
    pub engine: bool,
    /// It is a thread of the agent; `None` where the recording does not have the agent's process, and the task
    /// does not have its name.
    pub agent: Option<bool>,
    /// It is the idle task: a CPU was idle although a thread wanted it.
    pub idle: bool,
    /// How often it had a wanted CPU.
    pub turns: u64,
    /// Wall time of these turns, summed over the CPUs, ns.
    pub time_ns: u64,
    /// Part of `time_ns` in prefill calls.
    pub prefill_ns: u64,
    /// Part of `time_ns` in decode calls.
    pub decode_ns: u64,
    /// Time that preempted threads of the engine waited for it, summed over threads, ns.
    pub preempted_ns: u64,
    /// Time that woken threads of the engine waited for it, summed over threads, ns.
    pub woken_ns: u64,
    /// By number.
    pub cpus: Vec<OnCpu>,
    /// The threads that waited, in order of first appearance.
    pub threads: Vec<Waiter>,
}

impl Interference {
    /// Name of its program.
    #[must_use]
    pub fn program(&self) -> &str {
        program(self.pid, &self.name, &self.command)
    }
}

/// A CPU that the task had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnCpu {
    pub cpu: u16,
    pub turns: u64,
    pub time_ns: u64,
}

/// A thread of the engine that waited for the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiter {
    /// Thread id of the kernel.
    pub tid: u32,
    /// Wait after preemption, ns.
    pub preempted_ns: u64,
    /// Wait after wake-up, ns.
    pub woken_ns: u64,
}

#[derive(Default)]
struct Sum {
    turns: u64,
    time_ns: u64,
    prefill_ns: u64,
    decode_ns: u64,
    cpus: BTreeMap<u16, (u64, u64)>,
    /// Preempted and woken, ns.
    threads: BTreeMap<ThreadId, (u64, u64)>,
}

/// All of these tasks, longest wait first.
pub(super) fn interference(model: &Model, windows: &Windows) -> Vec<Interference> {
    let mut sums: Vec<Sum> = std::iter::repeat_with(Sum::default).take(model.sched.tasks.len()).collect();
    let turns = &model.sched.turns;
    for i in 0..turns.len() {
        let Some(sum) = sums.get_mut(turns.task[i].0 as usize) else { continue };
        let (from, length) = (turns.start_ns[i], turns.duration_ns[i]);
        sum.turns += 1;
        sum.time_ns = sum.time_ns.saturating_add(length);
        sum.prefill_ns += within(&windows.prefill, from, from.saturating_add(length));
        sum.decode_ns += within(&windows.decode, from, from.saturating_add(length));
        let cpu = sum.cpus.entry(turns.cpu[i]).or_default();
        *cpu = (cpu.0 + 1, cpu.1.saturating_add(length));
    }
    for piece in pieces(model) {
        let Some(TaskId(task)) = piece.task(model) else { continue };
        let waited = sums[task as usize].threads.entry(piece.thread).or_default();
        match piece.state {
            ThreadState::Woken => waited.1 += piece.end_ns - piece.start_ns,
            _ => waited.0 += piece.end_ns - piece.start_ns,
        }
    }
    let mut rows: Vec<Interference> = sums
        .iter()
        .enumerate()
        .filter(|(_, sum)| sum.turns > 0)
        .map(|(i, sum)| row(model, TaskId(u32::try_from(i).unwrap_or(u32::MAX)), sum))
        .collect();
    rows.sort_by_key(|r| (Reverse(r.time_ns), r.tid));
    rows
}

fn row(model: &Model, TaskId(id): TaskId, sum: &Sum) -> Interference {
    let task = &model.sched.tasks[id as usize];
    let text = |t| model.texts.get(t).to_owned();
    let waited = |of: fn(&(u64, u64)) -> u64| sum.threads.values().map(of).fold(0, u64::saturating_add);
    Interference {
        tid: task.tid,
        pid: task.pid,
        name: text(task.name),
        command: text(task.command),
        cgroup: text(task.cgroup),
        engine: task.pid != 0 && model.session.processes.iter().any(|p| p.pid == task.pid),
        agent: is_agent(model, task),
        idle: task.tid == 0,
        turns: sum.turns,
        time_ns: sum.time_ns,
        prefill_ns: sum.prefill_ns,
        decode_ns: sum.decode_ns,
        preempted_ns: waited(|w| w.0),
        woken_ns: waited(|w| w.1),
        cpus: sum
            .cpus
            .iter()
            .map(|(cpu, (turns, time_ns))| OnCpu { cpu: *cpu, turns: *turns, time_ns: *time_ns })
            .collect(),
        threads: sum
            .threads
            .iter()
            .map(|(thread, (preempted_ns, woken_ns))| Waiter {
                tid: model.threads.get(*thread).tid,
                preempted_ns: *preempted_ns,
                woken_ns: *woken_ns,
            })
            .collect(),
    }
}
