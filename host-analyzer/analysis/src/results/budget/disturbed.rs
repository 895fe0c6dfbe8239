//! Share of each operator's wall time during which other tasks had its threads' CPUs.

use super::off_cpu::Scheduler;
use crate::results::op::Op;
use crate::shared::execution::Executions;
use crate::shared::tally::Tallies;
use profinfer_trace::model::{GraphCallId, Model};

/// By row of [`Op::operators`], 0 to 1; empty without the scheduler level. For an execution, the
/// thread that was without its CPU longest counts.
#[must_use]
pub fn disturbed(model: &Model, executions: &Executions, tallies: &Tallies, op: &Op) -> Vec<f64> {
    if !model.sched.recorded {
        return Vec::new();
    }
    let scheduler = Scheduler::compute(model);
    let mut lost = vec![0_u64; op.operators.len()];
    for (longest, e) in longest(model, &scheduler, executions).iter().zip(0..) {
        let cell: usize = tallies.cell_of_execution[e] as usize;
        let row = op.operator_of_cell.get(cell).copied().unwrap_or(u32::MAX) as usize;
        if let Some(sum) = lost.get_mut(row) {
            *sum = sum.saturating_add(*longest);
        }
    }
    let part = |(lost, wall): (&u64, u64)| if wall == 0 { 0.0 } else { *lost as f64 / wall as f64 };
    lost.iter().zip(op.operators.iter().map(|o| o.wall_ns)).map(part).collect()
}

/// By execution: the longest time that one of its threads had no CPU, ns.
fn longest(model: &Model, scheduler: &Scheduler<'_>, executions: &Executions) -> Vec<u64> {
    let spans = &model.spans;
    let mut longest = vec![0_u64; executions.len()];
    let widest = model.topologies.rows.iter().map(|t| t.nodes.len()).max().unwrap_or(0);
    let mut row_of_node = vec![0_usize; widest];
    let mut next = 0;
    for (GraphCallId(call), rows) in executions.by_call() {
        for row in rows {
            row_of_node[executions.node[row].0 as usize] = row;
        }
        while next < spans.len() && spans.graph_call[next].0 <= call {
            if spans.graph_call[next].0 == call {
                let end = spans.start_ns[next].saturating_add(spans.work_ns[next]);
                let off = scheduler.off_cpu(spans.thread[next], spans.start_ns[next], end);
                let row = row_of_node[spans.node[next].0 as usize];
                longest[row] = longest[row].max(off.preempted.saturating_add(off.throttled));
            }
            next += 1;
        }
    }
    longest
}
