//! One row per operator and phase: sums over all its executions in a recording.

use profinfer_schema::{Operator, Summary};

use super::column::{Cell, Column, columns, name};

/// The columns, after the keys.
pub(super) const COLUMNS: &[Column<Operator>] = columns! { |o: Operator|
    phase: String = name(&o.phase),
    backend: String = o.backend,
    pid: i64 = o.pid,
    context: String = o.context,
    name: String = o.name,
    op: String = o.op,
    desc: String = o.desc,
    nth: i64 = o.nth,
    dtype: String = o.dtype,
    module: String = name(&o.module),
    layer: i64 = o.layer,
    executions: i64 = o.executions,
    wall_ns: i64 = o.wall_ns,
    median_ns: i64 = o.median_ns,
    p95_ns: i64 = o.p95_ns,
    work_ns: i64 = o.work_ns,
    wait_ns: i64 = o.wait_ns,
    share: f64 = o.share,
    read_bytes: i64 = o.work.read_bytes,
    weight_bytes: i64 = o.work.weight_bytes,
    cache_bytes: i64 = o.work.cache_bytes,
    written_bytes: i64 = o.work.written_bytes,
    operations: i64 = o.work.operations,
    bound_by: String = name(&o.bound.by),
};

pub(super) fn rows(summary: &Summary) -> Vec<Vec<Cell>> {
    summary.operators.iter().map(|o| COLUMNS.iter().map(|c| (c.of)(o)).collect()).collect()
}
