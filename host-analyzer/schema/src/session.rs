//! `session`: what was recorded, and where.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The session. Texts are empty where the stream did not contain them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Version of the agent.
    pub agent: String,
    /// Kernel release.
    pub kernel: String,
    /// Machine, as `uname -m` prints it.
    pub machine: String,
    /// CPU model.
    pub cpu_model: String,
    /// Board.
    pub board: String,
    /// CPUs online.
    pub cpus: u16,
    /// Recorded levels: `token`, `graph`, `operator`, `expert`, `scheduler`.
    pub levels: Vec<String>,
    /// Start, ns since 1970.
    pub start_unix_ns: u64,
    /// From the start to the end of the last event, ns.
    pub duration_ns: u64,
    /// Traced processes.
    pub processes: Vec<Process>,
    /// Their files that belong to the engine.
    pub libraries: Vec<Library>,
    /// Probes, attached or not.
    pub probes: Vec<Probe>,
    /// Requested counters, attached or not.
    pub counters: Vec<Counter>,
}

/// A traced process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Process {
    /// Process.
    pub pid: u32,
    /// Name of the program; cut where only the kernel's 15 bytes are known.
    pub name: String,
    /// Command line without prompts and secrets.
    pub command: String,
    /// Version that the engine reports.
    pub engine_version: String,
}

/// A file of an engine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Library {
    /// Process.
    pub pid: u32,
    /// Path.
    pub path: String,
    /// Build id in hex.
    pub build_id: String,
    /// Roles, separated by `, `.
    pub role: String,
}

/// A probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Process.
    pub pid: u32,
    /// Level that it serves.
    pub level: Option<String>,
    /// What it observes.
    pub what: String,
    /// Symbol.
    pub symbol: String,
    /// File.
    pub library: String,
    /// Offset in the file, bytes.
    pub offset: u64,
    /// It is in place.
    pub attached: bool,
    /// Why it is not in place, or what is special about it; empty otherwise.
    pub note: String,
}

/// A requested counter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counter {
    /// Name of the event.
    pub name: String,
    /// Number of the event.
    pub event: u32,
    /// PMU that counts it.
    pub pmu: String,
    /// CPUs of the PMU.
    pub cpus: Vec<u16>,
    /// It counts.
    pub attached: bool,
    /// Why it does not count; empty otherwise.
    pub note: String,
}
