//! Tasks of the agent.

use super::program::program;
use profinfer_trace::model::{Model, Task};

/// File of the agent's program. The kernel cuts names of tasks to 15 bytes, which it has.
const NAME: &str = "profinfer-agent";
/// Name of its process that passes on what a program that it started writes.
const TEE: &str = "profinfer-tee";

/// Whether a task is a thread of the agent or of its process for output; `None` where that is unknown.
///
/// Recordings made before 2026-11-26 do not have the agent's process: there its tasks have its name, or the
/// command line of their process has it, since some of its threads have names of their own (`hold`, `bench`).
pub(crate) fn is_agent(model: &Model, task: &Task) -> Option<bool> {
    let (name, command) = (model.texts.get(task.name), model.texts.get(task.command));
    match model.session.agent_pid {
        Some(pid) => Some(pid != 0 && task.pid == pid || name == TEE),
        None => (name == NAME || program(task.pid, name, command) == NAME).then_some(true),
    }
}
