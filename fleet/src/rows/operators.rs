//! A row for each operator of each phase: sums over all its executions in a recording.

use serde_json::Value;

use super::column::{Cell, Column, columns};
use crate::summary::list;

/// The columns, after the keys.
pub(super) const COLUMNS: &[Column] = columns! {
    phase: String = "phase",
    backend: String = "backend",
    pid: i64 = "pid",
    context: String = "context",
    name: String = "name",
    op: String = "op",
    desc: String = "desc",
    nth: i64 = "nth",
    dtype: String = "dtype",
    module: String = "module",
    layer: i64 = "layer",
    executions: i64 = "executions",
    wall_ns: i64 = "wall_ns",
    median_ns: i64 = "median_ns",
    p95_ns: i64 = "p95_ns",
    work_ns: i64 = "work_ns",
    wait_ns: i64 = "wait_ns",
    share: f64 = "share",
    read_bytes: i64 = "work.read_bytes",
    weight_bytes: i64 = "work.weight_bytes",
    cache_bytes: i64 = "work.cache_bytes",
    written_bytes: i64 = "work.written_bytes",
    operations: i64 = "work.operations",
    bound_by: String = "bound.by",
};

pub(super) fn rows(summary: &Value) -> Vec<Vec<Cell>> {
    let row = |operator: &Value| COLUMNS.iter().map(|c| (c.of)(operator)).collect();
    list(summary, "operators").iter().map(row).collect()
}
