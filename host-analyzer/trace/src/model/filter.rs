//! Filters: which operators and token calls were captured.

use super::refusal::Refusal;

/// What a filter looks at.
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
    /// Decode token calls of a process, from 1.
    Token,
    /// Requests of a process, from 1.
    Request,
}

impl FilterOn {
    /// It tells nodes of a graph apart: then spans may be missing between two others of a thread.
    #[must_use]
    pub const fn of_nodes(self) -> bool {
        matches!(self, Self::Op | Self::Name | Self::Layer)
    }
}

/// Where a filter works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FilterPlace {
    /// The probe was not there: nothing was paid for what was left out.
    Trap,
    /// In the kernel: the hit was paid for.
    Kernel,
    /// In the agent: hit and record were paid for.
    Agent,
    /// Nowhere: refused.
    Nowhere,
}

/// A filter that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// What it looks at.
    pub on: FilterOn,
    /// What passes, as it was given.
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
