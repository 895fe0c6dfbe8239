//! Modules and layers of a model: attention, feed-forward network, router, experts and others, from
//! names and topology.
//!
//! Stage: analysis. From: topologies, executions, work. To: a [`Place`] for every tensor, and sums
//! over them. Promises: each execution is in exactly one module and at most one layer. So the sums
//! of a phase over modules, and those over layers, equal those over operators.

mod name;
mod place;
mod tensor_group;

use std::collections::BTreeMap;

pub use name::Module;
pub use place::{Place, places};
pub use tensor_group::TensorGroup;

use super::op::{Op, share};
use super::work::{Accuracy, Achieved, Work};
use crate::shared::execution::waits;
use crate::shared::group::Groups;
use crate::shared::phase::Phase;
use crate::shared::tally::{Cell, Tallies};
use profinfer_trace::model::{Model, NodeIdx, TopologyId};

/// Places of all tensors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places(Vec<Vec<Place>>);

impl Places {
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        Self(model.topologies.rows.iter().map(|t| places(model, t)).collect())
    }

    /// The place of a tensor.
    #[must_use]
    pub fn get(&self, topology: TopologyId, node: NodeIdx) -> Place {
        self.0.get(topology.0 as usize).and_then(|t| t.get(node.0 as usize)).copied().unwrap_or_default()
    }

    /// The places of operators, by row of [`Op::operators`].
    fn of_operators(&self, op: &Op, tallies: &Tallies) -> Vec<Place> {
        let mut of = vec![Place::default(); op.operators.len()];
        for computed in &tallies.computed {
            for (cell, node) in computed.cell_range().zip((0..).map(NodeIdx)) {
                if let Some(place) = of.get_mut(op.operator_of_cell[cell] as usize) {
                    *place = self.get(computed.topology, node);
                }
            }
        }
        of
    }
}

/// Sums of one part of the model in one phase, over all contexts and backends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sum {
    pub phase: Phase,
    /// `None` in the sums of layers.
    pub module: Option<Module>,
    /// From 0; `None` outside of the layers, and in the sums of modules.
    pub layer: Option<u32>,
    pub executions: u64,
    /// First start to last end over the threads, summed over executions, ns.
    pub wall_ns: u64,
    /// Work, summed over threads and executions, ns.
    pub work_ns: u64,
    /// Wait at the barrier, summed over threads and executions, ns; `None` without end probes.
    pub wait_ns: Option<u64>,
    pub read_bytes: u64,
    /// Part of `read_bytes` that is weights.
    pub weight_bytes: u64,
    pub written_bytes: u64,
    /// A multiply-add counts as two.
    pub operations: u64,
    /// Accuracy of bytes and operations.
    pub accuracy: Accuracy,
    /// Share of the phase's operator wall time, 0 to 1. If a filter excluded operators: share of
    /// the time of its graphs.
    pub share: f64,
}

/// Sums over the parts of the models.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Modules {
    /// By phase; within a phase the longest wall time first.
    pub modules: Vec<Sum>,
    /// By phase, then layer; last the sum outside of the layers.
    pub layers: Vec<Sum>,
    /// By row of [`Op::operators`].
    pub operators: Vec<Place>,
}

#[derive(Default)]
struct Total {
    cell: Cell,
    work: Work,
}

impl Total {
    fn add(&mut self, cell: &Cell, work: &Work) {
        self.cell.add(cell);
        self.work.add(work);
    }

    fn sum(&self, model: &Model, phase: Phase, part: (Option<Module>, Option<u32>), whole: u64) -> Sum {
        let Cell { executions, wall_ns, work_ns, wait_ns, .. } = self.cell;
        let (module, layer) = part;
        Sum {
            phase,
            module,
            layer,
            executions,
            wall_ns,
            work_ns,
            wait_ns: waits(model, wait_ns),
            read_bytes: self.work.read_bytes(),
            weight_bytes: self.work.weight_bytes,
            written_bytes: self.work.written_bytes,
            operations: self.work.operations,
            accuracy: self.work.accuracy,
            share: share(wall_ns, whole),
        }
    }
}

impl Modules {
    #[must_use]
    pub fn compute(
        model: &Model,
        groups: &Groups,
        tallies: &Tallies,
        op: &Op,
        achieved: &Achieved,
        places: &Places,
    ) -> Self {
        let mut modules: BTreeMap<(Phase, Module), Total> = BTreeMap::new();
        // Outside of the layers comes last.
        let mut layers: BTreeMap<(Phase, bool, Option<u32>), Total> = BTreeMap::new();
        let mut wholes = [0_u64; Phase::COUNT];
        for computed in &tallies.computed {
            let phase = groups.get(computed.group).phase;
            let cells = tallies.cells(computed).iter().zip(&achieved.cells[computed.cell_range()]);
            for (node, (cell, work)) in (0..).map(NodeIdx).zip(cells).filter(|(_, (c, _))| c.executions > 0) {
                let place = places.get(computed.topology, node);
                modules.entry((phase, place.module)).or_default().add(cell, work);
                layers.entry((phase, place.layer.is_none(), place.layer)).or_default().add(cell, work);
                let whole = &mut wholes[phase.index()];
                *whole = whole.saturating_add(cell.wall_ns);
            }
        }
        if model.capture.nodes_left_out() {
            wholes = op.graph_ns;
        }
        let mut modules: Vec<Sum> = modules
            .into_iter()
            .map(|((phase, module), t)| t.sum(model, phase, (Some(module), None), wholes[phase.index()]))
            .collect();
        modules.sort_by_key(|s| (s.phase, std::cmp::Reverse(s.wall_ns)));
        let layers = layers
            .into_iter()
            .map(|((phase, _, layer), t)| t.sum(model, phase, (None, layer), wholes[phase.index()]))
            .collect();
        Self { modules, layers, operators: places.of_operators(op, tallies) }
    }
}
