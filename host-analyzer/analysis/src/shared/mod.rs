//! What several results need, computed once: the phase of every call, executions, groups, sums.
//!
//! Uses the model and `stats` only, never a result.

pub(crate) mod agent;
pub(crate) mod branches;
pub(crate) mod context;
pub mod cpu_use;
pub(crate) mod edit;
pub mod empty;
pub mod execution;
pub(crate) mod gather;
pub mod group;
pub(crate) mod housekeeping;
pub(crate) mod interval;
pub(crate) mod memory;
pub(crate) mod name;
pub(crate) mod outer;
pub mod per_node;
pub mod phase;
pub mod program;
pub(crate) mod rate;
pub(crate) mod rise;
pub(crate) mod seek;
pub mod session;
pub(crate) mod sessions;
pub(crate) mod share;
pub(crate) mod shift;
pub(crate) mod steps;
pub(crate) mod taken;
pub mod tally;
pub(crate) mod throttled;
pub mod tracing;
