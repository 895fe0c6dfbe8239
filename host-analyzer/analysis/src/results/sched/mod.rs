//! The scheduler level: where the time of the engine's threads went, and who had their CPUs.
//!
//! Stage: analysis. From: stretches of threads, turns of tasks, interrupts, token calls. To: [`Sched`]. Promises: a time that is
//! not known is counted as such and as nothing else; a task's time counts only while a thread of the engine wanted the
//! CPU that the task had; time in two calls at once counts once.

mod interference;
mod interrupt;
pub mod pieces;
pub mod shown;
mod thread;
mod windows;

use crate::shared::phase::Phases;
pub use interference::{Interference, OnCpu, Waiter};
pub use interrupt::Interrupt;
use profinfer_trace::model::Model;
pub use thread::{StateTimes, ThreadTimes};
use windows::Windows;

/// Results of the scheduler level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sched {
    /// The level was recorded. If not, what follows is empty and says nothing.
    pub recorded: bool,
    /// Interrupts were recorded.
    pub interrupts_recorded: bool,
    /// Threads of the engine of which something is known, in order of first appearance.
    pub threads: Vec<ThreadTimes>,
    /// Tasks that had CPUs while threads of the engine wanted them, the longest time first; at most [`MAX_TASKS`].
    pub interference: Vec<Interference>,
    /// Those that are not listed.
    pub left_out: LeftOut,
    /// Interrupts by name, the longest time first.
    pub interrupts: Vec<Interrupt>,
}

/// A machine on which something compiles starts thousands of tasks, each for a moment.
pub const MAX_TASKS: usize = 200;

/// Tasks that had CPUs for less time than those that are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Tasks.
    pub tasks: u64,
    /// Their time together, ns.
    pub time_ns: u64,
}

impl Sched {
    /// The results of a session.
    #[must_use]
    pub fn compute(model: &Model, phases: &Phases) -> Self {
        let windows = Windows::compute(model, phases);
        let mut interference = interference::interference(model, &windows);
        let rest = interference.split_off(MAX_TASKS.min(interference.len()));
        let time_ns = rest.iter().fold(0, |sum: u64, task| sum.saturating_add(task.time_ns));
        Self {
            recorded: model.sched.recorded,
            interrupts_recorded: model.sched.interrupts_recorded,
            threads: thread::threads(model, &windows),
            interference,
            left_out: LeftOut { tasks: rest.len() as u64, time_ns },
            interrupts: interrupt::interrupts(model, &windows),
        }
    }
}
