//! Operators and modules with their work, and what the board could do.

use serde::Serialize;

use profinfer_analysis::bound::Bound;
use profinfer_analysis::duty::types::TypeEstimate;
use profinfer_analysis::module::{Module, Sum};
use profinfer_analysis::op::{OpType, Operator};
use profinfer_analysis::roof::{Roof, Utilisation};
use profinfer_analysis::work::Done;
use profinfer_analysis::{Analysis, phase::Phase};

#[derive(Serialize)]
pub(super) struct TypeRow<'a> {
    #[serde(flatten)]
    row: &'a OpType,
    /// What that says of all tokens, where only a part of them was traced.
    estimate: Option<&'a TypeEstimate>,
    work: &'a Done,
}

#[derive(Serialize)]
pub(super) struct OperatorRow<'a> {
    #[serde(flatten)]
    row: &'a Operator,
    module: Module,
    layer: Option<u32>,
    work: &'a Done,
    bound: &'a Bound,
}

/// What the phases ran on and reached.
#[derive(Serialize)]
pub(super) struct Work<'a> {
    decode: Option<Utilisation>,
    roofs: Vec<PhaseRoof<'a>>,
    modules: &'a [Sum],
    layers: &'a [Sum],
}

#[derive(Serialize)]
struct PhaseRoof<'a> {
    phase: Phase,
    #[serde(flatten)]
    roof: &'a Roof,
}

pub(super) fn types(analysis: &Analysis) -> Vec<TypeRow<'_>> {
    let rows = analysis.op.types.iter().zip(&analysis.achieved.types).enumerate();
    rows.map(|(i, (row, work))| TypeRow { row, estimate: analysis.op_estimate.get(i), work }).collect()
}

pub(super) fn operators(analysis: &Analysis) -> Vec<OperatorRow<'_>> {
    let rows = analysis.op.operators.iter().zip(&analysis.module.operators);
    rows.zip(&analysis.achieved.operators)
        .zip(&analysis.bound)
        .map(|(((row, place), work), bound)| OperatorRow {
            row,
            module: place.module,
            layer: place.layer,
            work,
            bound,
        })
        .collect()
}

impl<'a> Work<'a> {
    pub(super) fn of(analysis: &'a Analysis) -> Self {
        let with = |phase: &Phase| analysis.roof.phase(*phase).threads > 0;
        Self {
            decode: analysis.roof.decode,
            roofs: Phase::ALL
                .into_iter()
                .filter(with)
                .map(|phase| PhaseRoof { phase, roof: analysis.roof.phase(phase) })
                .collect(),
            modules: &analysis.module.modules,
            layers: &analysis.module.layers,
        }
    }
}
