//! `sched`: what the scheduler did with the engine's threads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Results of the scheduler level.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sched {
    /// The level was recorded. If not, what follows is empty and says nothing.
    pub recorded: bool,
    /// Interrupts were recorded.
    pub interrupts_recorded: bool,
    /// Threads of the engine of which something is known, in order of first appearance.
    pub threads: Vec<SchedThread>,
    /// Tasks that had CPUs while threads of the engine wanted them, the longest time first; at most
    /// `MAX_TASKS`.
    pub interference: Vec<Interferer>,
    /// Those that are not listed.
    pub left_out: LeftOut,
    /// Interrupts by name, the longest time first.
    pub interrupts: Vec<Interrupt>,
}

/// One thread of the engine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchedThread {
    /// Thread id of the kernel.
    pub tid: u32,
    /// Its process; 0 when the stream did not tell.
    pub pid: u32,
    /// Name.
    pub name: String,
    /// How often it was put on a CPU, or seen to have one first.
    pub runs: u64,
    /// How often it was taken off its CPU although it wanted to go on.
    pub preemptions: u64,
    /// How often it ran on another CPU than before.
    pub migrations: u64,
    /// Time from what is known first to what is known last of it.
    pub whole: StateTimes,
    /// Part of it in prefill calls of any thread.
    pub prefill: StateTimes,
    /// Part of it in decode calls of any thread.
    pub decode: StateTimes,
}

/// Time by state, ns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateTimes {
    /// It had a CPU.
    pub running_ns: u64,
    /// It was taken off its CPU and wanted to go on.
    pub preempted_ns: u64,
    /// It was woken and had no CPU yet.
    pub woken_ns: u64,
    /// It slept.
    pub sleeping_ns: u64,
    /// It slept and no signal could wake it.
    pub blocked_ns: u64,
    /// It was stopped.
    pub stopped_ns: u64,
    /// Not known, between what is known first and last of the thread.
    pub unknown_ns: u64,
}

/// A task that had CPUs which threads of the engine wanted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interferer {
    /// Thread id of the kernel; 0 for the CPUs' idle tasks.
    pub tid: u32,
    /// Its process; 0 when it was gone before it could be looked up.
    pub pid: u32,
    /// Name.
    pub name: String,
    /// Command line; empty for threads of the kernel and for tasks that were gone.
    pub command: String,
    /// Control group; empty when not known.
    pub cgroup: String,
    /// It is a thread of a traced process itself.
    pub engine: bool,
    /// It is the idle task: a CPU did nothing although a thread wanted it.
    pub idle: bool,
    /// How often it had a CPU that was wanted.
    pub turns: u64,
    /// How long, ns: wall time, summed over the CPUs.
    pub time_ns: u64,
    /// Part of `time_ns` in prefill calls.
    pub prefill_ns: u64,
    /// Part of `time_ns` in decode calls.
    pub decode_ns: u64,
    /// What threads of the engine waited for it after they were taken off their CPUs, ns: time of
    /// threads.
    pub preempted_ns: u64,
    /// What they waited for it after they were woken, ns: time of threads.
    pub woken_ns: u64,
    /// The CPUs, by number.
    pub cpus: Vec<OnCpu>,
    /// The threads that waited, in order of first appearance.
    pub threads: Vec<Waiter>,
}

/// A CPU that the task had.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OnCpu {
    /// CPU.
    pub cpu: u16,
    /// How often.
    pub turns: u64,
    /// How long, ns.
    pub time_ns: u64,
}

/// A thread of the engine that waited for the task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Waiter {
    /// Thread id of the kernel.
    pub tid: u32,
    /// After it was taken off its CPU, ns.
    pub preempted_ns: u64,
    /// After it was woken, ns.
    pub woken_ns: u64,
}

/// Tasks that had CPUs for less time than those that are listed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Tasks.
    pub tasks: u64,
    /// Their time together, ns.
    pub time_ns: u64,
}

/// The interrupts of one name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interrupt {
    /// `hard` for a device's handler, `soft` for deferred work.
    pub kind: String,
    /// Name, as the kernel calls it.
    pub name: String,
    /// How many.
    pub count: u64,
    /// How long, ns; a hard one that lies in a soft one counts for both.
    pub time_ns: u64,
    /// Part of it in prefill calls.
    pub prefill_ns: u64,
    /// Part of it in decode calls.
    pub decode_ns: u64,
    /// The longest, ns.
    pub longest_ns: u64,
}
