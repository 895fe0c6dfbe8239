//! `compare.json`: things that runs may differ in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A thing that runs may differ in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Thing {
    /// Name, type and dimensions of every weight that the graphs read.
    Weights,
    /// How many experts a token uses.
    Experts,
    /// Whether a draft model guesses tokens.
    Draft,
    /// What was traced and how, which decides what the probes add.
    Capture,
    /// File of the model.
    ModelFile,
    /// Version as the engine says itself.
    EngineVersion,
    /// Build ids of the engine's files.
    EngineBuild,
    /// Which CPU backend is loaded.
    CpuVariant,
    /// Command line, as far as it is recorded.
    Command,
    /// Threads that computed operators of one token.
    Threads,
    /// CPUs on which the engine's threads may run.
    Affinity,
    /// Variables of the environment that are recorded.
    Environment,
    /// Quota of CPU time.
    Quota,
    /// Type of the KV cache.
    KvCache,
    /// Most cells of the KV cache that attention goes over.
    Cells,
    /// Tokens before the first one that was generated.
    Prompt,
    /// How often each operator is in the graph of a token.
    Operators,
    /// Backends that compute graphs.
    Backends,
    /// In what buffers the weights lie.
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
    /// Who chooses the clocks.
    Governor,
    /// Highest clock that the governor was allowed to choose, Hz.
    ClockLimit,
    /// Policy for huge pages.
    HugePages,
    /// Mean of a clock while tokens were generated, Hz.
    Clock,
    /// Mean of a temperature while tokens were generated, 1/1000 °C.
    Temperature,
    /// A ceiling of the board as it was measured in that session.
    Ceiling,
    /// What a pair of probes adds, ns.
    ProbeCost,
    /// Whether anything was lost or cut.
    Losses,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// What a difference in a thing means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThingKind {
    /// The runs did not do the same: their times are not of one thing.
    Work,
    /// They did the same under other conditions, which may be what is compared.
    Surroundings,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
