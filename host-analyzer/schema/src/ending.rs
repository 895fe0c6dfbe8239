//! `ending`: how the session ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The end of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ending {
    /// Which.
    pub code: EndingCode,
    /// How to show it.
    pub state: EndingState,
    /// A call was seen to its end.
    pub traced: bool,
    /// Process that the code is about.
    pub pid: Option<u32>,
    /// Its name.
    pub name: Option<String>,
    /// Exit status of the program that the agent started, if it is known and not 0.
    pub status: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// Its last diagnostics on standard error, without prompts, answers and secrets.
    pub output: Vec<String>,
    /// The name of which no process appeared.
    pub waited_for: Option<String>,
    /// The process's id in its own PID namespace.
    pub inside_pid: Option<u32>,
    /// Where no probe was attached: how many were tried. None was where no part of an engine was
    /// found.
    pub tried: Option<u64>,
    /// The archive that code is mapped out of.
    pub file: Option<String>,
    /// Children that have the same engine and are not traced.
    pub children: Vec<Child>,
    /// How long the call has run that did not return, ns.
    pub open_ns: Option<u64>,
    /// Memory of the process's control group, where a call did not return and it is known.
    pub memory: Option<GroupMemory>,
    /// The same in words; `null` for `computed` and `not_asked`.
    pub sentence: Option<String>,
}

/// How a session ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndingCode {
    /// Calls were traced, and nothing is wrong with the end.
    #[default]
    Computed,
    /// The engine ended by an error or a signal.
    EngineFailed,
    /// The engine ended, without an error that is known, and had computed nothing.
    EngineEnded,
    /// No process of the name appeared.
    NoProcess,
    /// No probe was attached.
    NoProbe,
    /// A call began and has not returned.
    CallUnreturned,
    /// The engine lives in a PID namespace below the agent's.
    PidNamespace,
    /// Its code is mapped out of an archive.
    PackedLibrary,
    /// Its children compute, and are not traced.
    ChildrenCompute,
    /// The agent refused the plan.
    Refused,
    /// The stream stops, and had no call before that.
    CutShort,
    /// The engine ran and computed nothing.
    NothingComputed,
    /// No level of the engine was asked for: measured ceilings, or the scheduler alone.
    NotAsked,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// How that is to be shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndingState {
    /// As it should be.
    #[default]
    Good,
    /// Nothing went wrong, and there is nothing to show: grey.
    Nothing,
    /// Something went wrong: red.
    Bad,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// A child that is not traced.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Child {
    /// Process.
    pub pid: u32,
    /// Its name.
    pub name: String,
}

/// Memory of a control group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupMemory {
    /// `memory.high`, the tightest, bytes.
    pub high_bytes: Option<u64>,
    /// The hard limit, the tightest, bytes.
    pub limit_bytes: Option<u64>,
    /// In use at last, bytes.
    pub used_bytes: Option<u64>,
    /// How often `memory.high` was passed in the session.
    pub high_events: Option<u64>,
    /// How long no task of the group ran for want of memory in the session, ns.
    pub stalled_ns: Option<u64>,
    /// The figures show that this is why the call did not return.
    pub is_reason: bool,
}
