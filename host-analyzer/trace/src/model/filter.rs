//! Filters: which operators and decode calls were captured.

use super::refusal::Refusal;

/// What a filter selects by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FilterOn {
    /// Types of operators.
    Op,
    /// Names of the nodes' tensors.
    Name,
    /// Layers.
    Layer,
    /// Threads.
    Thread,
    /// Decode calls with one token of a process, from 1.
    Token,
    /// Requests of a process, from 1.
    Request,
}

impl FilterOn {
    /// It selects nodes of a graph: spans may then be missing between two others of a thread.
    #[must_use]
    pub const fn of_nodes(self) -> bool {
        matches!(self, Self::Op | Self::Name | Self::Layer)
    }
}

/// Where a filter works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FilterPlace {
    /// The probe was absent: operators that were left out cost nothing.
    Trap,
    /// In the kernel: the hit cost.
    Kernel,
    /// In the agent: hit and record cost.
    Agent,
    /// Nowhere: refused.
    Nowhere,
}

/// A requested filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// What it selects by.
    pub on: FilterOn,
    /// What passes, as requested.
    pub text: String,
    /// Where it works.
    pub place: FilterPlace,
    /// Why it works nowhere.
    pub refused: Option<Refusal>,
}

impl Filter {
    /// It leaves something out.
    #[must_use]
    pub fn in_force(&self) -> bool {
        self.place != FilterPlace::Nowhere
    }
}
