//! `sched`: scheduling of the engine's threads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Results of the scheduler level. If `recorded` is false, the rest is empty and has no meaning.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sched {
    /// The scheduler level was recorded.
    pub recorded: bool,
    /// Interrupts were recorded. If false, `interrupts` is empty and has no meaning.
    pub interrupts_recorded: bool,
    /// Engine threads with scheduler events, in order of first appearance.
    pub threads: Vec<SchedThread>,
    /// Tasks that occupied a CPU while an engine thread waited for it; the longest time first.
    /// Other time of these tasks does not count.
    pub interference: Vec<Interferer>,
    /// Further tasks that are not listed.
    pub left_out: LeftOut,
    /// Which tasks had which CPU was recorded. If false, `cpu_use` is empty and has no meaning.
    #[serde(default)]
    pub cpu_use_recorded: bool,
    /// The tasks that had each CPU, whether or not an engine thread waited for it; by CPU.
    #[serde(default)]
    pub cpu_use: Vec<CpuUse>,
    /// CPU time of all programs except the engine and the agent, on all CPUs; `null` if it was not
    /// recorded.
    #[serde(default)]
    pub other_programs: Option<OtherPrograms>,
    /// Interrupts on CPUs of engine threads, by name, the longest time first. Interrupts that the
    /// architecture handles without a handler (the local timer of x86-64) are not seen. Interrupt
    /// threads (`irq/…`, `ksoftirqd/…`) are tasks and appear in `interference`.
    pub interrupts: Vec<Interrupt>,
}

/// One engine thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchedThread {
    /// Kernel thread id.
    pub tid: u32,
    /// Process id; 0 if not recorded.
    pub pid: u32,
    /// Thread name.
    pub name: String,
    /// How often it got a CPU.
    pub runs: u64,
    /// How often it lost its CPU although it was runnable.
    pub preemptions: u64,
    /// How often it continued on a different CPU.
    pub migrations: u64,
    /// Time by state, from the first to the last event of the thread.
    pub total: StateTimes,
    /// Share of `total` within prefill calls of any thread.
    pub prefill: StateTimes,
    /// Share of `total` within decode calls of any thread.
    pub decode: StateTimes,
}

/// Time by thread state, ns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateTimes {
    /// On a CPU, including spinning at a barrier.
    pub running_ns: u64,
    /// Lost its CPU, or yielded it, and was still runnable.
    pub preempted_ns: u64,
    /// Woken, but not on a CPU yet.
    pub woken_ns: u64,
    /// Sleeping, interruptible.
    pub sleeping_ns: u64,
    /// Sleeping, uninterruptible.
    pub blocked_ns: u64,
    /// Stopped.
    pub stopped_ns: u64,
    /// Unknown: events were lost, or a wake-up was not seen.
    pub unknown_ns: u64,
}

/// A task that occupied a CPU while an engine thread was preempted or woken there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interferer {
    /// Kernel thread id; 0 for the idle tasks.
    pub tid: u32,
    /// Process id; 0 if the task ended before the agent could look it up.
    pub pid: u32,
    /// Task name.
    pub name: String,
    /// File name of its program; the task name if the command is unknown.
    #[serde(default)]
    pub program: String,
    /// Command line; empty for kernel threads and for tasks that ended early.
    pub command: String,
    /// Control group; empty if unknown.
    pub cgroup: String,
    /// The task is a thread of a traced process.
    pub engine: bool,
    /// The task is a thread of the agent; `null` if the recording does not name the agent's
    /// process, and the task does not have its name.
    #[serde(default)]
    pub agent: Option<bool>,
    /// The idle task: the CPU did nothing although a thread wanted it, for example because a quota
    /// was used up, or while the CPU left a deep sleep state.
    pub idle: bool,
    /// How often it occupied a wanted CPU.
    pub turns: u64,
    /// CPU time on wanted CPUs, summed over CPUs, ns.
    pub time_ns: u64,
    /// Part of `time_ns` within prefill calls.
    pub prefill_ns: u64,
    /// Part of `time_ns` within decode calls.
    pub decode_ns: u64,
    /// Time that preempted engine threads waited for it, summed over threads, ns.
    pub preempted_ns: u64,
    /// Time that woken engine threads waited for it, summed over threads, ns.
    pub woken_ns: u64,
    /// The CPUs that it occupied, by number.
    pub cpus: Vec<OnCpu>,
    /// The engine threads that waited, in order of first appearance.
    pub threads: Vec<Waiter>,
}

/// Time of a task on one wanted CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OnCpu {
    /// CPU number.
    pub cpu: u16,
    /// How often it occupied this CPU.
    pub turns: u64,
    /// CPU time, ns.
    pub time_ns: u64,
}

/// An engine thread that waited for the task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Waiter {
    /// Kernel thread id.
    pub tid: u32,
    /// Wait while preempted, ns.
    pub preempted_ns: u64,
    /// Wait after a wake-up, ns.
    pub woken_ns: u64,
}

/// The tasks that had one CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuUse {
    /// CPU number.
    pub cpu: u16,
    /// The ten tasks with the longest time, longest first. The idle task is not one of them.
    pub tasks: Vec<CpuHolder>,
    /// Number of further tasks, as far as they were distinguished.
    pub rest_tasks: u64,
    /// CPU time of the further tasks, ns.
    pub rest_ns: u64,
}

/// CPU time of other programs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherPrograms {
    /// Sum, ns. With the tasks that are not listed by name.
    pub busy_ns: u64,
    /// The ten programs with the longest time, longest first.
    pub programs: Vec<ProgramTime>,
}

/// CPU time of a program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramTime {
    /// File name of the program.
    pub program: String,
    /// CPU time, ns.
    pub busy_ns: u64,
}

/// A task that had a CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuHolder {
    /// Kernel thread id.
    pub tid: u32,
    /// Process id; 0 if the task ended before the agent could look it up.
    pub pid: u32,
    /// Task name.
    pub name: String,
    /// File name of its program; the task name if the command is unknown.
    #[serde(default)]
    pub program: String,
    /// Program, with its script; empty for kernel threads and for tasks that ended early.
    pub command: String,
    /// Control group; empty if unknown, and for engine threads.
    pub cgroup: String,
    /// The task is a thread of a traced process.
    pub engine: bool,
    /// The task is a thread of the agent; `null` if the recording does not name the agent's
    /// process, and the task does not have its name.
    pub agent: Option<bool>,
    /// Time on the CPU, ns. Of other tasks than the engine's, less than 0.5 % of a CPU may be
    /// missing.
    pub busy_ns: u64,
    /// Part of `busy_ns` within prefill calls. It is known to 10 ms, and to the length of a turn
    /// that is longer.
    pub prefill_ns: u64,
    /// Part of `busy_ns` within decode calls.
    pub decode_ns: u64,
}

/// Tasks below the listed ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Number of tasks.
    pub tasks: u64,
    /// Their CPU time on wanted CPUs, ns.
    pub time_ns: u64,
}

/// Interrupts with one name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interrupt {
    /// `hard` (device handler) or `soft` (deferred work).
    pub kind: String,
    /// Kernel name.
    pub name: String,
    /// Number of interrupts.
    pub count: u64,
    /// Total time, ns. A hard interrupt inside a soft one counts in both rows.
    pub time_ns: u64,
    /// Part of `time_ns` within prefill calls.
    pub prefill_ns: u64,
    /// Part of `time_ns` within decode calls.
    pub decode_ns: u64,
    /// Longest one, ns.
    pub longest_ns: u64,
}
