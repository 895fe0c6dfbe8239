//! `compare.json`: properties that runs may differ in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A property that runs may differ in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Thing {
    /// Name, type and dimensions of every weight that the graphs read.
    Weights,
    /// Number of experts used per token.
    Experts,
    /// Whether a draft model guesses tokens.
    Draft,
    /// What was traced and how; it determines the probe overhead.
    Capture,
    /// Model file.
    ModelFile,
    /// Version reported by the engine.
    EngineVersion,
    /// Build ids of the engine files.
    EngineBuild,
    /// Loaded CPU variant.
    CpuVariant,
    /// Recorded command line.
    Command,
    /// Threads that computed operators of one token.
    Threads,
    /// CPU affinity of the engine's threads.
    Affinity,
    /// Recorded environment variables.
    Environment,
    /// CPU quota.
    Quota,
    /// Type of the KV cache.
    KvCache,
    /// Largest number of KV cells that attention reads.
    Cells,
    /// Tokens before the first generated token.
    Prompt,
    /// How often each operator occurs in the graph of a token.
    Operators,
    /// Backends that compute graphs.
    Backends,
    /// Buffers of the weights.
    Buffers,
    /// Board.
    Board,
    /// CPU model.
    Cpu,
    /// Number of CPUs online.
    Cpus,
    /// Kernel release.
    Kernel,
    /// Version of the agent.
    Agent,
    /// cpufreq governors.
    Governor,
    /// Maximum clock that the governor may choose, Hz.
    ClockLimit,
    /// Huge page policy.
    HugePages,
    /// Mean clock during text generation, Hz.
    Clock,
    /// Mean temperature during text generation, 1/1000 °C.
    Temperature,
    /// A ceiling that was measured in that session.
    Ceiling,
    /// Cost of a probe pair, ns.
    ProbeCost,
    /// Whether data was lost or cut short.
    Losses,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// Meaning of a difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThingKind {
    /// The runs did different work; their times cannot be compared.
    Work,
    /// The runs did the same work in a different environment, which may be what is being compared.
    Environment,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
