//! `engines`: the engine of each process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The engine of one process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Engine {
    /// Process id.
    pub pid: u32,
    /// Short process name.
    pub name: String,
    /// Version reported by the engine; empty if it reports none.
    pub version: String,
    /// How the CPU backend is linked; `null` if none was found.
    pub cpu_backend: Option<CpuBackend>,
    /// Loaded CPU variant, for example `zen4`; `null` without variants.
    pub cpu_variant: Option<String>,
    /// File that contains the CPU backend; `null` if none was found.
    pub cpu_library: Option<String>,
}

/// How the CPU backend is linked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CpuBackend {
    /// One of several libraries, each for one CPU generation.
    Variant,
    /// A separate library without variants.
    #[default]
    Library,
    /// Part of the program or of a larger library.
    BuiltIn,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
