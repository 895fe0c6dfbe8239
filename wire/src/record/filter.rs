//! Filters: which operators and which token calls are captured.

use serde::{Deserialize, Serialize};

use super::capture::Refusal;

/// Longest text of a filter, bytes.
pub const MAX_TEXT: usize = 1024;
/// Longest pattern or name in it, bytes: as long as the name of a tensor may be (`GGML_MAX_NAME`).
pub const MAX_PATTERN: usize = 64;
/// Most patterns, names, ranges or threads in one filter.
pub const MAX_PATTERNS: usize = 16;

/// What a filter looks at. Several filters on the same thing are one list; filters on different things must all agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FilterOn {
    /// Types of operators: `MUL_MAT,ROPE`.
    Op,
    /// Names of the nodes' tensors: `blk.*.ffn_*`; `*` stands for any part of a name, `?` for one byte.
    Name,
    /// Layers, as the names of nodes and weights tell them: `0-3,10`. What belongs to no layer is left out.
    Layer,
    /// Threads: `first` (the one that called the graph), a number N (the first N threads that are met), or thread ids: `tid:17,18`.
    Thread,
    /// Decode token calls of a process, counted from 1: `100-200,300-310`.
    Token,
    /// Requests of a process, counted from 1: `3-5`.
    Request,
}

/// Where a filter works, and so what it saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FilterPlace {
    /// The probe is not there: nothing is paid for what is left out.
    Trap,
    /// In the kernel, once the agent has told it what to leave out: the hit is paid for, the record is not.
    Kernel,
    /// In the agent: hit and record are paid for, the frame is not.
    Agent,
    /// Nowhere: it was refused, and leaves out nothing.
    Nowhere,
}

/// A filter. Sent between plan and start, at most once for each [`FilterOn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterRequest<'a> {
    /// What it looks at.
    pub on: FilterOn,
    /// What passes, a list with commas, at most [`MAX_TEXT`] bytes.
    pub text: &'a str,
}

/// A filter as it is in force. Sent when the session begins and again when that changes: the last one on the same thing holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter<'a> {
    /// What it looks at.
    pub on: FilterOn,
    /// What passes.
    pub text: &'a str,
    /// Where it works.
    pub place: FilterPlace,
    /// Why it works nowhere.
    pub refused: Option<Refusal>,
}
