//! Work and the time that it took: achieved rates.

use super::{Accuracy, Fastest, Reader, Work, Works};
use crate::results::op::{Op, host_side};
use crate::shared::execution::Executions;
use crate::shared::phase::Phase;
use crate::shared::tally::Tallies;
use profinfer_trace::model::Model;

/// Name of the backend whose limits are the ceilings.
const CPU: &str = "CPU";

/// Work of several executions, and its rate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Done {
    pub read_bytes: u64,
    /// Part of `read_bytes` that is weights.
    pub weight_bytes: u64,
    /// Part of `read_bytes` that is KV cache or another state.
    pub cache_bytes: u64,
    pub written_bytes: u64,
    /// A multiply-add counts as two.
    pub operations: u64,
    /// Accuracy of these figures.
    pub accuracy: Accuracy,
    /// Bytes read and written per second of wall time; `None` where the wall time is not that of
    /// the work.
    pub bytes_per_s: Option<f64>,
    /// Operations per second of wall time; `None` likewise.
    pub operations_per_s: Option<f64>,
    /// Operations per byte read or written; `None` without bytes.
    pub intensity: Option<f64>,
}

impl Done {
    /// The rates of `work` in `wall_ns`.
    #[must_use]
    pub fn new(work: &Work, wall_ns: Option<u64>) -> Self {
        let bytes = work.bytes();
        // A time without known work has no rate.
        let known = bytes > 0 || work.operations > 0 || work.accuracy != Accuracy::AtLeast;
        let per_s = |n: u64| wall_ns.filter(|ns| known && *ns > 0).map(|ns| n as f64 * 1e9 / ns as f64);
        Self {
            read_bytes: work.read_bytes(),
            weight_bytes: work.weight_bytes,
            cache_bytes: work.cache_bytes,
            written_bytes: work.written_bytes,
            operations: work.operations,
            accuracy: work.accuracy,
            bytes_per_s: per_s(bytes),
            operations_per_s: per_s(work.operations),
            intensity: (bytes > 0).then(|| work.operations as f64 / bytes as f64),
        }
    }

    /// Bytes read and written.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.read_bytes.saturating_add(self.written_bytes)
    }
}

/// Rates that the operators of a session achieved.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Achieved {
    /// By row of [`Op::operators`].
    pub operators: Vec<Done>,
    /// By row of [`Op::types`].
    pub types: Vec<Done>,
    /// By [`Phase::index`], all backends together.
    pub phases: [Work; Phase::COUNT],
    /// By cell of the tallies.
    pub cells: Vec<Work>,
    /// By row of [`Op::operators`]; zeros for other backends than the CPU, which have other limits.
    pub fastest: Vec<Fastest>,
}

impl Achieved {
    #[must_use]
    pub fn compute(
        model: &Model,
        works: &Works,
        op: &Op,
        executions: &Executions,
        tallies: &Tallies,
    ) -> Self {
        let mut cells = vec![Work::default(); tallies.len()];
        let mut fastest_of_cell = vec![Fastest::default(); tallies.len()];
        let mut reader = Reader::new(model, works);
        for of_call in executions.calls() {
            for e in of_call.rows.clone() {
                let work = reader.execution(of_call.call, executions.node[e], executions.last_node[e]);
                let cell = tallies.cell_of_execution[e] as usize;
                cells[cell].add(&work);
                fastest_of_cell[cell].add(&work, executions.wall_ns[e], of_call.widest);
            }
        }
        let mut sums = vec![Work::default(); op.operators.len()];
        let mut fastest = vec![Fastest::default(); op.operators.len()];
        for ((operator, cell), of_cell) in op.operator_of_cell.iter().zip(&cells).zip(&fastest_of_cell) {
            let operator = *operator as usize;
            if let Some(sum) = sums.get_mut(operator) {
                sum.add(cell);
            }
            let known = op.operators.get(operator).is_some_and(|o| o.backend == CPU);
            if let Some(best) = fastest.get_mut(operator).filter(|_| known) {
                best.join(of_cell);
            }
        }
        let mut types = vec![Work::default(); op.types.len()];
        let mut phases = [Work::default(); Phase::COUNT];
        for (operator, work) in op.operators.iter().zip(&sums) {
            phases[operator.phase.index()].add(work);
            let same = op.types.iter().position(|t| {
                (t.phase, &t.backend, &t.op, &t.desc)
                    == (operator.phase, &operator.backend, &operator.op, &operator.desc)
            });
            if let Some(at) = same {
                types[at].add(work);
            }
        }
        let wall = |backend: &str, wall_ns: u64| (!host_side(backend)).then_some(wall_ns);
        Self {
            operators: op
                .operators
                .iter()
                .zip(&sums)
                .map(|(o, work)| Done::new(work, wall(&o.backend, o.wall_ns)))
                .collect(),
            types: op
                .types
                .iter()
                .zip(&types)
                .map(|(t, work)| Done::new(work, wall(&t.backend, t.wall_ns)))
                .collect(),
            phases,
            cells,
            fastest,
        }
    }

    #[must_use]
    pub const fn phase(&self, phase: Phase) -> &Work {
        &self.phases[phase.index()]
    }
}
