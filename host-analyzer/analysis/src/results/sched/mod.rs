//! The scheduler level: states of the engine's threads, the tasks that had their CPUs, and who had
//! each CPU.
//!
//! Stage: analysis. From: stretches of threads, turns of tasks, interrupts, `llama_decode` calls.
//! To: [`Sched`]. Promises: unknown time is counted as unknown and as nothing else. The time of an
//! [`Interference`] counts only while a thread of the engine wanted the task's CPU, that of a
//! [`Holder`] always. Time in two overlapping calls counts once.

mod holders;
mod interference;
mod interrupt;
mod others;
pub mod pieces;
pub mod shown;
mod thread;
mod windows;

use crate::shared::phase::Phases;
pub use holders::{CpuHolders, Holder, MAX_HOLDERS};
pub use interference::{Interference, OnCpu, Waiter};
pub use interrupt::Interrupt;
pub use others::{OtherPrograms, ProgramTime};
use profinfer_trace::model::Model;
pub use thread::{StateTimes, ThreadTimes};
use windows::Windows;

/// Results of the scheduler level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sched {
    /// The level was recorded. If not, everything below is empty.
    pub recorded: bool,
    pub interrupts_recorded: bool,
    /// Threads of the engine with recorded states, in order of first appearance.
    pub threads: Vec<ThreadTimes>,
    /// Tasks that had CPUs while threads of the engine wanted them, longest time first; at most
    /// [`MAX_TASKS`].
    pub interference: Vec<Interference>,
    /// Tasks beyond the limit.
    pub left_out: LeftOut,
    /// Who had which CPU was recorded. If not, `cpu_holders` is empty.
    pub cpu_use_recorded: bool,
    /// By CPU: the tasks that had it, whether or not a thread of the engine wanted it.
    pub cpu_holders: Vec<CpuHolders>,
    /// CPU time of other programs; `None` if the use of the CPUs was not recorded.
    pub other_programs: Option<OtherPrograms>,
    /// By name, longest time first.
    pub interrupts: Vec<Interrupt>,
}

/// A machine on which a compiler runs starts thousands of short tasks.
pub const MAX_TASKS: usize = 200;

/// Tasks that had CPUs for less time than the listed ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub tasks: u64,
    /// Their total time, ns.
    pub time_ns: u64,
}

impl Sched {
    #[must_use]
    pub fn compute(model: &Model, phases: &Phases) -> Self {
        let windows = Windows::compute(model, phases);
        let mut interference = interference::interference(model, &windows);
        let rest = interference.split_off(MAX_TASKS.min(interference.len()));
        let time_ns = rest.iter().fold(0, |sum: u64, task| sum.saturating_add(task.time_ns));
        let cpu_holders = holders::holders(model, &windows);
        Self {
            recorded: model.sched.recorded,
            interrupts_recorded: model.sched.interrupts_recorded,
            threads: thread::threads(model, &windows),
            interference,
            left_out: LeftOut { tasks: rest.len() as u64, time_ns },
            cpu_use_recorded: model.sched.cpu_use_recorded,
            other_programs: model.sched.cpu_use_recorded.then(|| others::others(&cpu_holders)),
            cpu_holders,
            interrupts: interrupt::interrupts(model, &windows),
        }
    }
}
