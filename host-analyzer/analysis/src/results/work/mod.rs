//! Work: bytes read, bytes written and operations of every execution of an operator.
//!
//! Stage: analysis. From: topologies, graph calls, expert selections. To: [`Works`] for single
//! executions, and [`Done`], the same summed and divided by time. Promises: nothing is measured
//! here; all of it follows from shapes, types, roles and positions. A number that does not follow
//! from them alone is marked by its [`Accuracy`]. A fused operator never has more work than its
//! parts.
//!
//! Bytes are the least that the operator has to move: each element of a source once, however many
//! rows, heads or threads use it. docs/work.md has the formula of each operator with its source.

mod attention;
mod done;
mod elementwise;
mod expert;
mod fastest;
mod formula;
mod fused;
mod reader;
mod sources;
mod state;
mod stored;

pub use done::{Achieved, Done};
pub use fastest::Fastest;
pub(crate) use fastest::LEAST;
pub use reader::Reader;
pub(crate) use sources::root;

use formula::Formula;
use profinfer_trace::model::Model;

/// Accuracy of a number. A sum has the worst accuracy of its parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Accuracy {
    /// Follows from shapes, types, positions and selections.
    #[default]
    Counted,
    /// An upper bound: the cells in a sliding window, or the batch's position in its context, are
    /// unknown.
    AtMost,
    /// The expert selections or the type of a tensor did not arrive, or a batch has several sequences.
    Estimated,
    /// A lower bound: an operator has no formula, or its sources did not arrive, and counts as none; or the
    /// context has images, which have more cells than positions.
    AtLeast,
}

impl Accuracy {
    /// Name in views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counted => "counted",
            Self::AtMost => "at_most",
            Self::Estimated => "estimated",
            Self::AtLeast => "at_least",
        }
    }
}

/// Work of one execution, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Work {
    /// Bytes of weights that are read, in their storage format.
    pub weight_bytes: u64,
    /// Bytes of the KV cache, or of another state, that are read.
    pub cache_bytes: u64,
    /// Bytes of everything else that is read: activations, masks, positions, indexes.
    pub activation_bytes: u64,
    pub written_bytes: u64,
    /// A multiply-add counts as two.
    pub operations: u64,
    /// Accuracy of these numbers.
    pub accuracy: Accuracy,
}

impl Work {
    #[must_use]
    pub const fn read_bytes(&self) -> u64 {
        self.weight_bytes.saturating_add(self.cache_bytes).saturating_add(self.activation_bytes)
    }

    /// Bytes read and written.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.read_bytes().saturating_add(self.written_bytes)
    }

    /// Bytes that come from memory for every token, because no cache holds a model: weights and KV
    /// cache.
    #[must_use]
    pub const fn streamed_bytes(&self) -> u64 {
        self.weight_bytes.saturating_add(self.cache_bytes)
    }

    /// Adds the work of another execution.
    pub fn add(&mut self, other: &Self) {
        self.weight_bytes = self.weight_bytes.saturating_add(other.weight_bytes);
        self.cache_bytes = self.cache_bytes.saturating_add(other.cache_bytes);
        self.activation_bytes = self.activation_bytes.saturating_add(other.activation_bytes);
        self.written_bytes = self.written_bytes.saturating_add(other.written_bytes);
        self.operations = self.operations.saturating_add(other.operations);
        self.accuracy = self.accuracy.max(other.accuracy);
    }
}

#[derive(Debug, Clone, Default)]
pub struct Works {
    /// By topology, then node.
    formulas: Vec<Vec<Formula>>,
    positions: attention::Positions,
    chosen: expert::Chosen,
}

impl Works {
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        Self {
            formulas: model.topologies.rows.iter().map(|t| formula::formulas(model, t)).collect(),
            positions: attention::Positions::compute(model),
            chosen: expert::Chosen::compute(model),
        }
    }
}
