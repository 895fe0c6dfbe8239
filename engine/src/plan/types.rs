//! The result for an engine's files.

use crate::direct::places::{DirectPlaces, NoDirect};
use crate::facts::layout::{FoundLayout, Layout, NoLayout};
use crate::facts::tables::Tables;
use crate::probes::evidence::Site;
use crate::probes::missing::Missing;

/// Everything needed to trace an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnginePlan {
    /// Where to probe.
    pub sites: Vec<Site>,
    /// What could not be found.
    pub missing: Vec<Missing>,
    /// Struct offsets; without them neither graphs nor operators can be read.
    pub layout: Result<FoundLayout, NoLayout>,
    /// Names.
    pub tables: Tables,
    /// Version that the engine exports or carries; empty when none was found.
    pub version: String,
    /// Per file, in the order given.
    pub files: Vec<FileFindings>,
}

impl EnginePlan {
    /// The struct offsets, if they are known.
    #[must_use]
    pub fn layout(&self) -> Option<Layout> {
        self.layout.as_ref().ok().map(|found| found.layout)
    }
}

/// What was found in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileFindings {
    /// Its roles for the engine; empty when it is no part of one.
    pub roles: Vec<Role>,
    /// GNU build id.
    pub build_id: Vec<u8>,
    /// Where operators can be recorded without a trap; `None` where there are no operators.
    pub direct: Option<Result<DirectPlaces, NoDirect>>,
}

/// A role of a file for an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It has the functions of decode calls.
    Token,
    /// It has the scheduler.
    Graph,
    /// It computes graphs on the CPU.
    CpuGraph,
    /// It computes operators on the CPU.
    CpuOperators,
    /// It has functions of other backends.
    BackendFunctions,
    /// It has the accessors and the tables.
    NamesAndLayout,
}
