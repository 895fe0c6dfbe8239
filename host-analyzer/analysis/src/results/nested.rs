//! Nested calls: the part of an operator's time that is spent in a function of a backend.
//!
//! Stage: analysis. From: nested calls, executions. To: one [`Nested`] row per phase, operator type
//! and function. Promises: an operator's own time includes these calls, and nothing is added to it.
//! Overlapping calls of one function, on several threads or nested in each other, count once in
//! `wall_ns`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::op::share;
use crate::shared::execution::Executions;
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{GraphCallId, Model, NodeIdx, Text};

/// The calls of one function in all operators of one type in one phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Nested {
    pub phase: Phase,
    /// Operator, for example `MUL_MAT`.
    pub op: String,
    /// Description by the engine.
    pub desc: String,
    /// Backend that computes the operator.
    pub op_backend: String,
    /// Symbol of the function.
    pub function: String,
    /// Backend of the function.
    pub backend: String,
    pub calls: u64,
    /// Sum of their durations, ns.
    pub time_ns: u64,
    /// Time during which at least one call was running, ns.
    pub wall_ns: u64,
    /// Recorded executions of operators that made such calls.
    pub executions: u64,
    /// Wall time of these executions, ns.
    pub op_wall_ns: u64,
    /// Share of `op_wall_ns` in which such a call was running, 0 to 1; `None` when none of the
    /// operators was recorded.
    pub share: Option<f64>,
}

/// One function in one execution of an operator.
type Place = (GraphCallId, NodeIdx, Text, Text);
/// Start and end, ns.
type Stretch = (u64, u64);
/// Phase, operator and its description, backend of the graph, function, backend of the function.
type Key = (Phase, Text, Text, Text, Text, Text);

#[derive(Default)]
struct Sum {
    calls: u64,
    time_ns: u64,
    wall_ns: u64,
    executions: u64,
    op_wall_ns: u64,
    covered_ns: u64,
}

/// All rows; within a phase the longest time first.
#[must_use]
pub fn nested_calls(model: &Model, phases: &Phases, executions: &Executions) -> Vec<Nested> {
    let nested = &model.nested_calls;
    if nested.is_empty() {
        return Vec::new();
    }
    let mut groups: BTreeMap<Place, Vec<Stretch>> = BTreeMap::new();
    let whole = |i: &usize| phases.tracing.whole(nested.graph_call[*i].0 as usize);
    for i in (0..nested.len()).filter(whole) {
        let key = (nested.graph_call[i], nested.node[i], nested.function[i], nested.backend[i]);
        let stretch = (nested.start_ns[i], nested.start_ns[i].saturating_add(nested.duration_ns[i]));
        groups.entry(key).or_default().push(stretch);
    }
    let walls: HashMap<(GraphCallId, NodeIdx), u64> = executions
        .by_call()
        .flat_map(|(call, rows)| rows.map(move |e| ((call, executions.node[e]), executions.wall_ns[e])))
        .collect();
    let mut sums: BTreeMap<Key, Sum> = BTreeMap::new();
    for ((call, node, function, backend), mut stretches) in groups {
        let row = call.0 as usize;
        let Some(topology) = model.graph_calls.topology[row] else { continue };
        let tensor = model.topologies.get(topology).node(node);
        let of = model.graph_calls.backend[row];
        let key = (phases.graph_calls[row], tensor.op, tensor.desc, of, function, backend);
        let sum = sums.entry(key).or_default();
        sum.calls += stretches.len() as u64;
        let time = stretches.iter().fold(0_u64, |t, (from, to)| t.saturating_add(to - from));
        sum.time_ns = sum.time_ns.saturating_add(time);
        let covered = union(&mut stretches);
        sum.wall_ns = sum.wall_ns.saturating_add(covered);
        if let Some(wall) = walls.get(&(call, node)) {
            sum.executions += 1;
            sum.op_wall_ns = sum.op_wall_ns.saturating_add(*wall);
            sum.covered_ns = sum.covered_ns.saturating_add(covered);
        }
    }
    let mut rows: Vec<Nested> = sums.into_iter().map(|(key, sum)| row(model, key, &sum)).collect();
    rows.sort_by(|a, b| {
        let order = |r: &Nested| (r.phase, Reverse(r.time_ns));
        order(a).cmp(&order(b)).then_with(|| (&a.function, &a.desc).cmp(&(&b.function, &b.desc)))
    });
    rows
}

fn row(model: &Model, (phase, op, desc, op_backend, function, backend): Key, sum: &Sum) -> Nested {
    let text = |t: Text| model.texts.get(t).to_owned();
    Nested {
        phase,
        op: text(op),
        desc: text(desc),
        op_backend: text(op_backend),
        function: text(function),
        backend: text(backend),
        calls: sum.calls,
        time_ns: sum.time_ns,
        wall_ns: sum.wall_ns,
        executions: sum.executions,
        op_wall_ns: sum.op_wall_ns,
        share: (sum.executions > 0).then(|| share(sum.covered_ns, sum.op_wall_ns)),
    }
}

/// Length of the union of the stretches, ns.
fn union(stretches: &mut [Stretch]) -> u64 {
    stretches.sort_unstable();
    let (mut covered, mut until) = (0_u64, 0);
    for (from, to) in stretches.iter().copied() {
        covered = covered.saturating_add(to.saturating_sub(from.max(until)));
        until = until.max(to);
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::union;

    #[test]
    fn time_shared_by_calls_counts_once() {
        assert_eq!(union(&mut [(10, 20), (0, 5), (12, 15), (18, 30)]), 5 + 20);
        assert_eq!(union(&mut []), 0);
    }
}
