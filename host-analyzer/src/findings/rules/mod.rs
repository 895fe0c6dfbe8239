//! The catalogue: one file a rule.

mod preempted;
mod quota;
mod sampling;
mod too_many_threads;

use serde::Serialize;

use super::Rule;

/// All rules, in the order of docs/findings.md.
pub const RULES: &[&Rule] = &[&preempted::RULE, &too_many_threads::RULE, &quota::RULE, &sampling::RULE];

/// What to do about a cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Remedy {
    /// Give the engine this number of threads.
    Threads {
        /// The number.
        threads: u64,
    },
    /// Stop these tasks, or keep them off the engine's CPUs.
    MoveTasks {
        /// Their threads' ids and names.
        tasks: Vec<(u32, String)>,
    },
    /// Raise the quota of the engine's control group, or use fewer threads.
    Quota {
        /// CPUs that the threads need.
        cpus: u64,
        /// Threads that the quota allows.
        threads: u64,
    },
    /// Make sampling cheaper.
    Sampling,
}
