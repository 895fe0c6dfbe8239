//! The model to predict, as far as its time depends on it: from a file, or from a recording that is
//! predicted from the others.

use super::census::{Census, Matrix};
use super::layer::of_experts;
use super::run::Run;
use super::shape::Shape;
use profinfer_trace::model::Blueprint;

/// A model to predict.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Target {
    /// Matrices that a token is multiplied with.
    pub matrices: Vec<Matrix>,
    pub shape: Shape,
    /// Bytes of the cache that a token reads.
    pub cache_bytes: f64,
    /// All bytes that a token reads.
    pub streamed_bytes: f64,
    /// Tokens of a prompt.
    pub prompt: u64,
}

impl Target {
    #[must_use]
    pub fn of_file(blueprint: &Blueprint, census: &Census, prompt: u64) -> Self {
        let mut shape = Shape::of(blueprint.tensors.iter().map(|t| (t.name.as_str(), t.ne)));
        shape.layers = census.layers;
        Self {
            matrices: census.matrices.clone(),
            shape,
            cache_bytes: census.cache_bytes as f64,
            streamed_bytes: census.streamed_bytes() as f64,
            prompt,
        }
    }

    #[must_use]
    pub fn of_run(run: &Run) -> Self {
        let matrix = |n: &super::node::Node| {
            let (name, dtype) = n.matrix.clone()?;
            Some(Matrix {
                experts: of_experts(&name),
                name,
                dtype,
                bytes: n.weight_bytes as u64,
                elements: n.elements as u64,
                rows: n.outputs as u64,
            })
        };
        Self {
            matrices: run.decode.nodes.iter().filter_map(matrix).collect(),
            shape: run.shape.clone(),
            cache_bytes: run.decode.nodes.iter().map(|n| n.cache_bytes).sum(),
            streamed_bytes: run.streamed_bytes(),
            prompt: run.prefill.as_ref().map_or(0, |p| p.tokens),
        }
    }
}
