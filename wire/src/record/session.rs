//! The traced processes, the machine, and the attached probes.

use serde::{Deserialize, Serialize};

/// First record of a session. Repeats the wire version, because the hello may be damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session<'a> {
    /// Version of the wire format.
    pub wire_version: u16,
    /// The agent's version, for example `0.1.0`.
    pub agent: &'a str,
    /// `uname -r`.
    pub kernel: &'a str,
    /// `uname -m`.
    pub machine: &'a str,
    /// CPU model from /proc/cpuinfo or the device tree; empty when unknown.
    pub cpu_model: &'a str,
    /// Board profile that the plan was made from.
    pub board: &'a str,
    /// CPUs online when the session began.
    pub cpus: u16,
    /// Levels that the plan requests, see [`super::control::level`].
    pub levels: u32,
    /// CLOCK_MONOTONIC when the session began, ns. All times of the stream are of this clock.
    pub start_ns: u64,
    /// CLOCK_REALTIME at the same moment, ns since 1970.
    pub start_unix_ns: u64,
}

/// An interned string, defined before its first use. Id 0 is the empty string and never sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text<'a> {
    /// The id that other records use.
    pub id: u32,
    /// The text. The agent replaced bytes of the engine that are not UTF-8.
    pub text: &'a str,
}

/// A traced process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process<'a> {
    /// Process id.
    pub pid: u32,
    /// Short name, /proc/PID/comm.
    pub name: &'a str,
    /// The harmless part of the command line, arguments separated by spaces, cut to fit a frame;
    /// `<hidden>` stands for the rest.
    pub command: &'a str,
    /// The engine's version text; empty when it exports none.
    pub engine_version: &'a str,
}

/// The agent's process. A reader distinguishes the agent's threads from other tasks by it. Sent
/// after [`Session`]; older agents do not send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Process id in the agent's PID namespace, as in [`super::sched::Task::pid`].
    pub pid: u32,
}

/// Bits of [`Library2::roles`]: what a file is to the engine.
pub mod role {
    /// It has the functions of the token level: `llama_decode` and its relatives.
    pub const TOKEN: u32 = 1;
    /// It has the scheduler of graphs.
    pub const GRAPH: u32 = 2;
    /// It computes graphs on the CPU.
    pub const CPU_GRAPH: u32 = 4;
    /// It computes operators on the CPU.
    pub const CPU_OPERATORS: u32 = 8;
    /// It has functions of other backends, which run inside operators.
    pub const BACKEND_FUNCTIONS: u32 = 16;
    /// It has the tables of names and the accessors that give the layout of structs.
    pub const NAMES_AND_LAYOUT: u32 = 32;
}

/// A library, or a static executable, that holds a part of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Library2<'a> {
    /// Process that maps it.
    pub pid: u32,
    /// Path as the process sees it.
    pub path: &'a str,
    /// GNU build id; empty when the file has none.
    pub build_id: &'a [u8],
    /// Bits of [`role`]; 0 when the file is no part of an engine. A reader ignores unknown bits.
    pub roles: u32,
}

/// As [`Library2`], with the roles as text. Agents sent it until 2026-11-26.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Library<'a> {
    /// Process that maps it.
    pub pid: u32,
    /// Path as the process sees it.
    pub path: &'a str,
    /// GNU build id; empty when the file has none.
    pub build_id: &'a [u8],
    /// Roles, separated by `, `: `token`, `graph`, `CPU graph`, `CPU operators`,
    /// `functions of backends`, `names and layout`.
    pub role: &'a str,
}

/// A thread of a traced process, sent before its first span and again when its name changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread<'a> {
    /// Thread id.
    pub tid: u32,
    /// Its process.
    pub pid: u32,
    /// Thread name, /proc/PID/task/TID/comm.
    pub name: &'a str,
}

/// One probe, attached or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe<'a> {
    /// Target process.
    pub pid: u32,
    /// Level it serves, one bit of [`super::control::level`].
    pub level: u32,
    /// Its probe kind, for example `operator start`.
    pub what: &'a str,
    /// Function that contains it, or the symbol that was searched.
    pub symbol: &'a str,
    /// Path of the file.
    pub library: &'a str,
    /// File offset of the instruction, 0 when not attached.
    pub offset: u64,
    /// Whether it is attached.
    pub attached: bool,
    /// How the attach point was found; or why it is not attached.
    pub note: &'a str,
}
