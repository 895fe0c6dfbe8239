//! Sums per node: what every node of every topology took in each group.
//!
//! Stage: analysis, shared by `op` and `dag`. From: executions and groups, in one pass. To: dense
//! arrays, one [`Cell`] per node of each topology that a group computed.

use super::execution::{Executions, OfCall, known};
use super::group::{GroupId, Groups};
use profinfer_trace::model::{GraphCallId, Model, TopologyId};

/// Sums over the executions of one node.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cell {
    pub executions: u64,
    /// First start to last end over the threads, summed over executions, ns.
    pub wall_ns: u64,
    /// Summed over threads and executions, ns.
    pub work_ns: u64,
    /// Wait at the barrier, summed over threads and executions, ns.
    pub wait_ns: u64,
    /// Last node that the same kernel also computed, in the latest execution.
    pub last_node: u32,
}

impl Cell {
    /// Adds the sums of another cell; keeps its own last node.
    pub(crate) const fn add(&mut self, other: &Self) {
        self.executions += other.executions;
        self.wall_ns = self.wall_ns.saturating_add(other.wall_ns);
        self.work_ns = self.work_ns.saturating_add(other.work_ns);
        self.wait_ns = self.wait_ns.saturating_add(other.wait_ns);
    }
}

/// One topology as computed by one group.
#[derive(Debug, Clone, Copy)]
pub struct Computed {
    pub group: GroupId,
    pub topology: TopologyId,
    /// Graph calls.
    pub calls: u64,
    /// Graph calls with executions.
    pub traced_calls: u64,
    pub last_call: GraphCallId,
    /// The latest call with the most executions; it shows the order of nodes.
    pub fullest_call: Option<GraphCallId>,
    /// Position of its first cell, and number of cells.
    first_cell: usize,
    cells: usize,
    most_executions: usize,
}

impl Computed {
    /// Positions of its cells by node, as in [`Tallies::cell_of_execution`].
    #[must_use]
    pub const fn cell_range(&self) -> std::ops::Range<usize> {
        self.first_cell..self.first_cell + self.cells
    }
}

#[derive(Debug, Clone, Default)]
pub struct Tallies {
    /// By first call.
    pub computed: Vec<Computed>,
    cells: Vec<Cell>,
    /// By row of the executions.
    pub cell_of_execution: Vec<u32>,
}

impl Tallies {
    #[must_use]
    pub fn compute(model: &Model, groups: &Groups, executions: &Executions) -> Self {
        let mut all = Self::default();
        let computed_of_call = all.find_computed(model, groups);
        all.cell_of_execution.reserve(executions.len());
        let spans = &model.spans;
        for OfCall { call, rows, spans: of_call, .. } in executions.calls() {
            // Spans exist only where the topology is known, so their call always has one.
            let Some(c) = computed_of_call[call.0 as usize] else { continue };
            let computed = &mut all.computed[c];
            computed.traced_calls += 1;
            if rows.len() >= computed.most_executions {
                computed.most_executions = rows.len();
                computed.fullest_call = Some(*call);
            }
            let first = computed.first_cell;
            for i in rows.clone() {
                let at = first + executions.node[i].0 as usize;
                let cell = &mut all.cells[at];
                cell.executions += 1;
                cell.wall_ns = cell.wall_ns.saturating_add(executions.wall_ns[i]);
                cell.last_node = executions.last_node[i].0;
                all.cell_of_execution.push(u32::try_from(at).unwrap_or(u32::MAX));
            }
            for i in of_call.clone() {
                let cell = &mut all.cells[first + spans.node[i].0 as usize];
                cell.work_ns = cell.work_ns.saturating_add(spans.work_ns[i]);
                cell.wait_ns = cell.wait_ns.saturating_add(known(spans.wait_ns[i]));
            }
        }
        all
    }

    /// Lists the computed topologies. Returns, for every graph call, the position in that list.
    fn find_computed(&mut self, model: &Model, groups: &Groups) -> Vec<Option<usize>> {
        // Few groups compute the same topology, so searching a short list per topology is faster
        // than a map.
        let mut of_topology: Vec<Vec<usize>> = vec![Vec::new(); model.topologies.rows.len()];
        let calls = model.graph_calls.topology.iter().zip(&groups.of_call);
        (0..)
            .map(GraphCallId)
            .zip(calls)
            .map(|(call, (topology, group))| {
                let (topology, group) = ((*topology)?, (*group)?);
                let known =
                    of_topology[topology.0 as usize].iter().find(|c| self.computed[**c].group == group);
                let at = known.copied().unwrap_or_else(|| {
                    of_topology[topology.0 as usize].push(self.computed.len());
                    self.computed.push(Computed {
                        group,
                        topology,
                        calls: 0,
                        traced_calls: 0,
                        last_call: call,
                        fullest_call: None,
                        first_cell: self.cells.len(),
                        cells: model.topologies.get(topology).nodes.len(),
                        most_executions: 0,
                    });
                    let nodes = model.topologies.get(topology).nodes.len();
                    self.cells.resize(self.cells.len() + nodes, Cell::default());
                    self.computed.len() - 1
                });
                self.computed[at].calls += 1;
                self.computed[at].last_call = call;
                Some(at)
            })
            .collect()
    }

    /// The sums of one computed topology, by node.
    #[must_use]
    pub fn cells(&self, computed: &Computed) -> &[Cell] {
        &self.cells[computed.cell_range()]
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}
