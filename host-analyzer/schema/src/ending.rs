//! `ending`: how the session ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the session ended. For agents that do not send the `ending` record, `code` is derived:
/// `computed`, `no_process`, `no_probe`, `engine_ended`, `nothing_computed` or `cut_short`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ending {
    /// Outcome.
    pub code: EndingCode,
    /// How views show it.
    pub state: EndingState,
    /// At least one call was seen until it returned. If false, `analyze` exits with status 3,
    /// except for `not_asked`.
    pub traced: bool,
    /// Process that `code` refers to.
    pub pid: Option<u32>,
    /// Name of that process.
    pub name: Option<String>,
    /// Exit status of the program that the agent started; `null` if unknown or 0.
    pub status: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// Last five diagnostics on the engine's standard error, without prompts, answers and secrets.
    pub output: Vec<String>,
    /// Process name that the agent waited for (`no_process`).
    pub waited_for: Option<String>,
    /// Process id inside its PID namespace (`pid_namespace`).
    pub inside_pid: Option<u32>,
    /// Number of probes that the agent tried to attach (`no_probe`); 0 if it found no part of an
    /// engine.
    pub tried: Option<u64>,
    /// Archive from which the libraries are mapped (`packed_library`).
    pub file: Option<String>,
    /// Children with the same engine that are not traced (`children_compute`).
    pub children: Vec<Child>,
    /// Time since the start of the call that did not return, ns (`call_unreturned`).
    pub open_ns: Option<u64>,
    /// Memory of the process's control group (`call_unreturned`); `null` if unknown.
    pub memory: Option<GroupMemory>,
    /// Description; `null` for `computed` and `not_asked`.
    pub sentence: Option<String>,
}

/// How a session ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndingCode {
    /// Calls were traced, and the session ended normally.
    #[default]
    Computed,
    /// The program that the agent started exited with an error status or was killed by a signal.
    /// SIGHUP, SIGINT, SIGPIPE and SIGTERM do not count as failures if calls were traced.
    EngineFailed,
    /// The engine ended before its first token, without a known error (status 0, or unknown because
    /// the agent did not start it).
    EngineEnded,
    /// No process with the given name appeared.
    NoProcess,
    /// No probe could be attached; `session.probes` has the reasons.
    NoProbe,
    /// The engine ended, and the kernel had killed a process of its control group because memory ran
    /// out. The status of an engine that the agent did not start is unknown.
    OutOfMemory,
    /// A call did not return: the first one, or one that ran for more than 5 s and ten times as
    /// long as the longest other call.
    CallUnreturned,
    /// The engine is in a PID namespace below the agent's, which is not the initial one. Events
    /// cannot be assigned to it.
    PidNamespace,
    /// Its libraries are mapped from an archive (APK, HAP).
    PackedLibrary,
    /// The process computed nothing; its children with the same engine are not traced.
    ChildrenCompute,
    /// The agent could not carry out the plan; see `health.refused`.
    Refused,
    /// The stream stops before the first call.
    CutShort,
    /// The engine kept running and computed nothing.
    NothingComputed,
    /// No engine level was requested: only ceilings or the scheduler.
    NotAsked,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// How views show an ending.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndingState {
    /// Normal: green.
    #[default]
    Good,
    /// Nothing to show, or an abnormal end after traced calls: grey, or yellow if calls were
    /// traced.
    Nothing,
    /// Error: red.
    Bad,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// A child process that is not traced.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Child {
    /// Process id.
    pub pid: u32,
    /// Process name.
    pub name: String,
    /// Its command line, without prompts and secrets; empty if it is unknown.
    #[serde(default)]
    pub command: String,
}

/// Memory of a control group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupMemory {
    /// Tightest `memory.high`, bytes.
    pub high_bytes: Option<u64>,
    /// Tightest hard limit, bytes.
    pub limit_bytes: Option<u64>,
    /// Last usage, bytes.
    pub used_bytes: Option<u64>,
    /// How often the group exceeded `memory.high` during the session.
    pub high_events: Option<u64>,
    /// Time during the session in which all tasks of the group waited for memory, ns.
    pub stalled_ns: Option<u64>,
    /// How many processes of the group the kernel killed during the session because memory ran out.
    #[serde(default)]
    pub oom_kills: Option<u64>,
    /// Memory explains why the call did not return, or the engine ended: the kernel killed a process of
    /// the group, the group was at a limit or exceeded `memory.high`, or all its tasks waited for memory
    /// during a fifth of the time.
    pub is_reason: bool,
}
