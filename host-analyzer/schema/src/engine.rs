//! `engines`: the engine in each process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The engine in one process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Engine {
    /// Process.
    pub pid: u32,
    /// Short name of the process.
    pub name: String,
    /// Version as the engine says itself; empty when it does not.
    pub version: String,
    /// How the CPU backend came into the process; `null` when none was found.
    pub cpu_backend: Option<CpuBackend>,
    /// Which of several CPU backends is loaded, for example `zen4`.
    pub cpu_variant: Option<String>,
    /// The file that holds the CPU backend.
    pub cpu_library: Option<String>,
}

/// How the CPU backend came into the process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CpuBackend {
    /// One of several variants was loaded.
    Variant,
    /// A library of its own, the only one of its build.
    #[default]
    Library,
    /// A part of the program or of a library with other parts of the engine.
    BuiltIn,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
