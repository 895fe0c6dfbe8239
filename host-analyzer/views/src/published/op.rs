//! `op_types` and `operators`.

use super::Publish;
use profinfer_analysis::Analysis;
use profinfer_analysis::bound::Bound;
use profinfer_analysis::duty::types::TypeEstimate;
use profinfer_analysis::module::Place;
use profinfer_analysis::op;
use profinfer_analysis::work::Done;
use profinfer_schema as schema;

fields! {
    op::Source => Source { name, dtype, ne, role }
}

/// `op_types`.
pub(crate) fn types(analysis: &Analysis) -> Vec<schema::OpType> {
    let rows = analysis.op.types.iter().zip(&analysis.achieved.types).enumerate();
    rows.map(|(i, (row, work))| op_type(row, analysis.op_estimate.get(i), work)).collect()
}

/// `operators`.
pub(crate) fn operators(analysis: &Analysis) -> Vec<schema::Operator> {
    let rows = analysis.op.operators.iter().zip(&analysis.module.operators);
    let rows = rows.zip(&analysis.achieved.operators).zip(&analysis.bound);
    rows.map(|(((row, place), work), bound)| operator(row, place, work, bound)).collect()
}

fn op_type(row: &op::OpType, estimate: Option<&TypeEstimate>, work: &Done) -> schema::OpType {
    let op::OpType {
        phase,
        backend,
        host_side,
        op,
        desc,
        executions,
        wall_ns,
        median_ns,
        biased,
        work_ns,
        wait_ns,
        share,
    } = row;
    schema::OpType {
        phase: phase.publish(),
        backend: backend.publish(),
        host_side: *host_side,
        op: op.publish(),
        desc: desc.publish(),
        executions: *executions,
        wall_ns: *wall_ns,
        median_ns: *median_ns,
        biased: *biased,
        work_ns: *work_ns,
        wait_ns: *wait_ns,
        share: *share,
        estimate: estimate.map(Publish::publish),
        work: work.publish(),
    }
}

fn operator(row: &op::Operator, place: &Place, work: &Done, bound: &Bound) -> schema::Operator {
    let op::Operator {
        phase,
        backend,
        pid,
        context,
        name,
        op,
        desc,
        nth,
        dtype,
        ne,
        src,
        executions,
        wall_ns,
        median_ns,
        p95_ns,
        work_ns,
        wait_ns,
        share,
        fused,
    } = row;
    schema::Operator {
        phase: phase.publish(),
        backend: backend.publish(),
        pid: *pid,
        context: context.publish(),
        name: name.publish(),
        op: op.publish(),
        desc: desc.publish(),
        nth: *nth,
        dtype: dtype.publish(),
        ne: *ne,
        src: src.publish(),
        executions: *executions,
        wall_ns: *wall_ns,
        median_ns: *median_ns,
        p95_ns: *p95_ns,
        work_ns: *work_ns,
        wait_ns: *wait_ns,
        share: *share,
        fused: fused.publish(),
        module: place.module.publish(),
        layer: place.layer,
        work: work.publish(),
        bound: bound.publish(),
    }
}
