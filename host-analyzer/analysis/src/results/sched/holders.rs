//! The tasks that had each CPU, whether or not a thread of the engine wanted it.
//!
//! Other tasks are from the use of the CPUs. The threads of the engine are from their states, which
//! are exact and have also the time in which nobody else had the CPU.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::windows::{Window, Windows, within};
use crate::shared::agent::is_agent;
use crate::shared::cpu_use::part;
use crate::shared::program::program;
use profinfer_trace::model::{Model, OTHER_TASKS, Task, ThreadState};

/// A CPU with its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuHolders {
    pub cpu: u16,
    /// Longest time first; at most [`MAX_HOLDERS`]. Without the idle task.
    pub holders: Vec<Holder>,
    /// Number of further tasks, as far as they were distinguished.
    pub rest_tasks: u64,
    /// Time of the further tasks, ns.
    pub rest_ns: u64,
}

/// Most tasks that are listed for a CPU.
pub const MAX_HOLDERS: usize = 10;

/// A task that had the CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Thread id of the kernel.
    pub tid: u32,
    /// Its process; 0 when it had exited before the lookup.
    pub pid: u32,
    pub name: String,
    /// Program, with its script; empty for kernel threads and for tasks that had exited.
    pub command: String,
    /// Control group; empty when unknown.
    pub cgroup: String,
    /// It is a thread of a traced process.
    pub engine: bool,
    /// It is a thread of the agent; `None` where the recording does not have the agent's process, and the task
    /// does not have its name.
    pub agent: Option<bool>,
    /// Time on the CPU, ns.
    pub busy_ns: u64,
    /// Part of `busy_ns` in prefill calls. A window that is only partly in calls counts in
    /// proportion.
    pub prefill_ns: u64,
    /// Part of `busy_ns` in decode calls.
    pub decode_ns: u64,
}

impl Holder {
    /// Name of its program.
    #[must_use]
    pub fn program(&self) -> &str {
        program(self.pid, &self.name, &self.command)
    }
}

/// Busy, in prefill, in decode, ns.
type Times = (u64, u64, u64);

/// All CPUs with a task, by number; empty if the use was not recorded.
pub(super) fn holders(model: &Model, windows: &Windows) -> Vec<CpuHolders> {
    if !model.sched.cpu_use_recorded {
        return Vec::new();
    }
    let mut cpus: BTreeMap<u16, BTreeMap<u32, Times>> = BTreeMap::new();
    let rows = &model.sched.cpu_use;
    for i in 0..rows.len() {
        let task = rows.task[i].0;
        let Some(described) = model.sched.tasks.get(task as usize) else { continue };
        if described.tid == 0 || is_engine(model, described) {
            continue;
        }
        let window = (rows.start_ns[i], rows.start_ns[i].saturating_add(rows.duration_ns[i]));
        add(cpus.entry(rows.cpu[i]).or_default().entry(task).or_default(), windows, window, rows.busy_ns[i]);
    }
    let mut own: BTreeMap<u16, BTreeMap<u32, Times>> = BTreeMap::new();
    let states = &model.sched.states;
    for i in (0..states.len()).filter(|i| states.state[*i] == ThreadState::Running) {
        let window = (states.start_ns[i], states.start_ns[i].saturating_add(states.duration_ns[i]));
        let times = own.entry(states.cpu[i]).or_default().entry(states.thread[i].0).or_default();
        add(times, windows, window, states.duration_ns[i]);
    }
    let all: std::collections::BTreeSet<u16> = cpus.keys().chain(own.keys()).copied().collect();
    let of = |of: &BTreeMap<u16, BTreeMap<u32, Times>>, cpu| of.get(cpu).cloned().unwrap_or_default();
    all.iter()
        .map(|cpu| {
            let tasks = of(&cpus, cpu).into_iter().map(|(task, times)| other(model, task, times));
            let threads = of(&own, cpu).into_iter().map(|(thread, times)| thread_of(model, thread, times));
            listed(*cpu, tasks.chain(threads).collect())
        })
        .collect()
}

fn add(times: &mut Times, windows: &Windows, (from, to): Window, busy_ns: u64) {
    let inside = |calls: &[Window]| part(busy_ns, within(calls, from, to), to - from);
    times.0 = times.0.saturating_add(busy_ns);
    times.1 = times.1.saturating_add(inside(&windows.prefill));
    times.2 = times.2.saturating_add(inside(&windows.decode));
}

fn is_engine(model: &Model, task: &Task) -> bool {
    task.pid != 0 && model.session.processes.iter().any(|p| p.pid == task.pid)
}

fn other(model: &Model, task: u32, (busy_ns, prefill_ns, decode_ns): Times) -> Holder {
    let task = &model.sched.tasks[task as usize];
    let text = |t| model.texts.get(t).to_owned();
    Holder {
        tid: task.tid,
        pid: task.pid,
        name: text(task.name),
        command: text(task.command),
        cgroup: text(task.cgroup),
        engine: false,
        agent: is_agent(model, task),
        busy_ns,
        prefill_ns,
        decode_ns,
    }
}

fn thread_of(model: &Model, thread: u32, (busy_ns, prefill_ns, decode_ns): Times) -> Holder {
    let thread = model.threads.get(profinfer_trace::model::ThreadId(thread));
    let process = model.session.processes.iter().rev().find(|p| p.pid == thread.pid);
    Holder {
        tid: thread.tid,
        pid: thread.pid,
        name: model.texts.get(thread.name).to_owned(),
        command: process.map_or_else(String::new, |p| p.command.clone()),
        cgroup: String::new(),
        engine: true,
        agent: Some(false),
        busy_ns,
        prefill_ns,
        decode_ns,
    }
}

/// The longest ones, and the sum of the rest. Tasks that were not distinguished are no single task.
fn listed(cpu: u16, all: Vec<Holder>) -> CpuHolders {
    let (mixed, mut holders): (Vec<Holder>, Vec<Holder>) =
        all.into_iter().partition(|h| h.tid == OTHER_TASKS);
    holders.sort_by_key(|h| (Reverse(h.busy_ns), h.tid));
    let rest = holders.split_off(MAX_HOLDERS.min(holders.len()));
    let rest_ns = rest.iter().chain(&mixed).fold(0, |sum: u64, h| sum.saturating_add(h.busy_ns));
    CpuHolders { cpu, holders, rest_tasks: rest.len() as u64, rest_ns }
}
