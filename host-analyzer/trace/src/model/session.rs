//! The traced processes, the machine, and the probes.

use super::counter::Counter;

/// The session. Strings are empty where the stream has no value.
#[derive(Debug, Default, Clone)]
pub struct Session {
    /// Agent version.
    pub agent: String,
    /// The agent's process; `None` in recordings made before 2026-11-26, which do not have it.
    pub agent_pid: Option<u32>,
    /// Kernel release.
    pub kernel: String,
    /// Machine, for example `aarch64`.
    pub machine: String,
    /// CPU model.
    pub cpu_model: String,
    /// Board profile.
    pub board: String,
    /// CPUs online.
    pub cpus: u16,
    /// Requested levels.
    pub levels: Vec<Level>,
    /// Monotonic clock at the start, ns.
    pub start_ns: u64,
    /// Wall clock at the start, ns since 1970.
    pub start_unix_ns: u64,
    /// Traced processes.
    pub processes: Vec<Process>,
    /// Libraries of the engine.
    pub libraries: Vec<Library>,
    /// Probes, attached and not.
    pub probes: Vec<Probe>,
    /// Counters, those that count and those that do not.
    pub counters: Vec<Counter>,
}

/// Level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// `llama_decode` and related functions.
    Token,
    /// Backend graphs.
    Graph,
    /// Operators.
    Op,
    /// Experts that the routers of a mixture-of-experts model select.
    Expert,
    /// What the kernel's scheduler does with the engine's threads.
    Sched,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 5] = [Self::Token, Self::Graph, Self::Op, Self::Expert, Self::Sched];

    /// The level's name in views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Graph => "graph",
            Self::Op => "operator",
            Self::Expert => "expert",
            Self::Sched => "scheduler",
        }
    }
}

/// A traced process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Name of the program, or the one that the process gave itself; cut to the kernel's 15 bytes
    /// where the rest is unknown.
    pub name: String,
    /// Command line.
    pub command: String,
    /// Version text of the engine; empty when it has none.
    pub engine_version: String,
}

/// What a file is to the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LibraryRole {
    /// It has the functions of the token level.
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
}

/// A file that holds a part of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// Process that maps it.
    pub pid: u32,
    /// Path as the process sees it.
    pub path: String,
    /// GNU build id in hex; empty when it has none.
    pub build_id: String,
    /// Its roles, in the order of [`LibraryRole`].
    pub roles: Vec<LibraryRole>,
}

impl Library {
    /// The CPU backend is in it: its graphs or its operators.
    #[must_use]
    pub fn has_cpu_backend(&self) -> bool {
        self.roles.iter().any(|r| matches!(r, LibraryRole::CpuGraph | LibraryRole::CpuOperators))
    }
}

/// The result for a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Process.
    pub pid: u32,
    /// Level it serves; `None` when the stream names one that this build does not know.
    pub level: Option<Level>,
    /// Its kind, in words.
    pub what: String,
    /// Function or symbol.
    pub symbol: String,
    /// File.
    pub library: String,
    /// File offset, 0 when not attached.
    pub offset: u64,
    /// Whether it is attached.
    pub attached: bool,
    /// How it was found, or why it is not attached.
    pub note: String,
}
