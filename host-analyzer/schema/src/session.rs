//! `session`: what was recorded, and where.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The session. Texts are empty if the stream did not contain them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Agent version.
    pub agent: String,
    /// Kernel release.
    pub kernel: String,
    /// Machine, as printed by `uname -m`.
    pub machine: String,
    /// CPU model.
    pub cpu_model: String,
    /// Board name.
    pub board: String,
    /// Number of CPUs online.
    pub cpus: u16,
    /// Recorded levels: `token`, `graph`, `operator`, `expert`, `scheduler`.
    pub levels: Vec<String>,
    /// Start, ns since 1970-01-01 UTC.
    pub start_unix_ns: u64,
    /// Time from the start to the end of the last event, ns.
    pub duration_ns: u64,
    /// Traced processes.
    pub processes: Vec<Process>,
    /// Engine files of the traced processes.
    pub libraries: Vec<Library>,
    /// Probes, whether attached or not.
    pub probes: Vec<Probe>,
    /// Requested counters, whether attached or not.
    pub counters: Vec<Counter>,
}

/// A traced process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Program name; truncated if only the kernel's 15 bytes are known.
    pub name: String,
    /// Command line without prompts and secrets.
    pub command: String,
    /// Version reported by the engine.
    pub engine_version: String,
}

/// A file of an engine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Library {
    /// Process id.
    pub pid: u32,
    /// Path.
    pub path: String,
    /// Build id in hex.
    pub build_id: String,
    /// What it is to the engine; empty if it has no part of the engine that is traced.
    pub roles: Vec<LibraryRole>,
}

/// What a file is to the engine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LibraryRole {
    /// It has the functions of the token level, for example `llama_decode`.
    #[default]
    Token,
    /// It has the scheduler of graphs.
    Graph,
    /// It computes graphs on the CPU.
    CpuGraph,
    /// It computes operators on the CPU.
    CpuOperators,
    /// It has functions of other backends.
    BackendFunctions,
    /// It has the names of operators and types, and the accessors that give the layout of structs.
    NamesAndLayout,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// A probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Process id.
    pub pid: u32,
    /// Level that needs it.
    pub level: Option<String>,
    /// What it observes.
    pub what: String,
    /// Symbol name.
    pub symbol: String,
    /// File.
    pub library: String,
    /// Offset in the file, bytes.
    pub offset: u64,
    /// The probe was attached.
    pub attached: bool,
    /// Why it was not attached, or what is special about it; empty otherwise.
    pub note: String,
}

/// A requested counter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counter {
    /// Event name.
    pub name: String,
    /// Event number.
    pub event: u32,
    /// PMU name.
    pub pmu: String,
    /// CPUs of the PMU.
    pub cpus: Vec<u16>,
    /// The counter was attached.
    pub attached: bool,
    /// Why it was not attached; empty otherwise.
    pub note: String,
}
