//! The scheduler level: where the time of the engine's threads went, and who had their CPUs.
//!
//! Stage: analysis. From: stretches of threads, turns of tasks, interrupts, token calls. To: [`Sched`]. Promises: a time that is
//! not known is counted as such and as nothing else; a task's time counts only while a thread of the engine wanted the
//! CPU that the task had; time in two calls at once counts once.

mod interference;
mod interrupt;
pub mod pieces;
mod thread;
mod windows;

use serde::Serialize;

use super::phase::Phases;
use crate::model::Model;
pub use interference::{Interference, OnCpu, Waiter};
pub use interrupt::Interrupt;
pub use thread::{StateTimes, ThreadTimes};
use windows::Windows;

/// Results of the scheduler level.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Sched {
    /// The level was recorded. If not, what follows is empty and says nothing.
    pub recorded: bool,
    /// Interrupts were recorded.
    pub interrupts_recorded: bool,
    /// Threads of the engine of which something is known, in order of first appearance.
    pub threads: Vec<ThreadTimes>,
    /// Tasks that had CPUs while threads of the engine wanted them, the longest time first.
    pub interference: Vec<Interference>,
    /// Interrupts by name, the longest time first.
    pub interrupts: Vec<Interrupt>,
}

impl Sched {
    /// The results of a session.
    #[must_use]
    pub fn of(model: &Model, phases: &Phases) -> Self {
        let windows = Windows::of(model, phases);
        Self {
            recorded: model.sched.recorded,
            interrupts_recorded: model.sched.interrupts_recorded,
            threads: thread::threads(model, &windows),
            interference: interference::interference(model, &windows),
            interrupts: interrupt::interrupts(model, &windows),
        }
    }
}
