//! Filters: which operators and which decode calls are captured.

use serde::{Deserialize, Serialize};

use super::capture::Refusal;

/// Longest text of a filter, bytes.
pub const MAX_TEXT: usize = 1024;
/// Longest pattern or name in it, bytes: the limit for names of tensors (`GGML_MAX_NAME`).
pub const MAX_PATTERN: usize = 64;
/// Most patterns, names, ranges or threads in one filter.
pub const MAX_PATTERNS: usize = 16;

/// What a filter selects by. Several filters on the same thing are one list. Filters on different
/// things must all match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FilterOn {
    /// Types of operators: `MUL_MAT,ROPE`.
    Op,
    /// Names of the nodes' tensors: `blk.*.ffn_*`; `*` matches any part of a name, `?` one byte.
    Name,
    /// Layers, from the names of nodes and weights: `0-3,10`. Operators of no layer are left out.
    Layer,
    /// Threads: `first` (the one that called the graph), a number N (the first N threads that are
    /// seen), or thread ids: `tid:17,18`.
    Thread,
    /// Decode calls with one token of a process, counted from 1: `100-200,300-310`.
    Token,
    /// Requests of a process, counted from 1: `3-5`.
    Request,
}

/// Where a filter works, which determines what it saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FilterPlace {
    /// The probe is absent: operators that are left out cost nothing.
    Trap,
    /// In the kernel, once the agent has passed the rule to it: the hit costs, the record does not.
    Kernel,
    /// In the agent: hit and record cost, the frame does not.
    Agent,
    /// Nowhere: the filter was refused and leaves out nothing.
    Nowhere,
}

/// A filter. Sent between plan and start, at most once for each [`FilterOn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterRequest<'a> {
    /// What it selects by.
    pub on: FilterOn,
    /// What passes, a comma-separated list of at most [`MAX_TEXT`] bytes.
    pub text: &'a str,
}

/// A filter in force. Sent when the session begins and again after a change: the last one on the
/// same thing is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter<'a> {
    /// What it selects by.
    pub on: FilterOn,
    /// What passes.
    pub text: &'a str,
    /// Where it works.
    pub place: FilterPlace,
    /// Why it works nowhere.
    pub refused: Option<Refusal>,
}
