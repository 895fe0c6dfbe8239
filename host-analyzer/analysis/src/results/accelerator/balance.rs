//! Balance between the operators of a backend and the kernels of its profile: operators without
//! kernels, and kernels without operators.

use std::collections::BTreeMap;

use profinfer_trace::model::{AcceleratorProfile, KernelPart};

/// One operator of a backend. For a log without names, `executions + beyond = kernels + fused +
/// without`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Balance {
    pub op: String,
    /// Executions on the backend, from the recording: nodes of the graphs times their calls.
    pub executions: u64,
    /// Kernels that computed it first or alone.
    pub kernels: u64,
    /// Kernels that computed it after another operator, according to the name of the fusion or the
    /// row.
    pub fused: u64,
    /// Executions without a kernel.
    pub without: u64,
    /// Kernels without an execution; 0 where a node may have several kernels.
    pub beyond: u64,
}

/// Kernels by operator.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    rows: BTreeMap<String, Balance>,
    /// Kernels of fusions whose name does not identify their operators.
    pub(super) unread: u64,
}

impl Kernels {
    pub(super) fn executed(&mut self, op: &str, executions: u64) {
        let row = self.row(op);
        row.executions = row.executions.saturating_add(executions);
    }

    pub(super) fn without(&mut self, op: &str, executions: u64) {
        let row = self.row(op);
        row.without = row.without.saturating_add(executions);
    }

    /// Counts `kernels` of this operator. `known` are the operators of the backend; `empty` are
    /// those that have no kernel.
    pub(super) fn ran(&mut self, op: &str, part: &KernelPart, kernels: u64, ops: &[&str]) {
        let row = self.row(op);
        row.kernels = row.kernels.saturating_add(kernels);
        let behind: Option<Vec<&str>> = match part.fusion.as_str() {
            "" => Some(part.behind.iter().map(String::as_str).collect()),
            fusion => members(fusion, op, ops),
        };
        let Some(behind) = behind else {
            self.unread = self.unread.saturating_add(kernels);
            return;
        };
        for op in behind {
            // An operator that is never executed by itself has no kernel, like a view.
            if let Some(row) = self.rows.get_mut(op).filter(|r| r.executions > 0) {
                row.fused = row.fused.saturating_add(kernels);
            }
        }
    }

    fn row(&mut self, op: &str) -> &mut Balance {
        self.rows.entry(op.to_owned()).or_insert_with(|| Balance { op: op.to_owned(), ..Balance::default() })
    }

    /// The rows, most executions first.
    pub(super) fn balances(self, profile: &AcceleratorProfile) -> Vec<Balance> {
        let mut rows: Vec<_> = self.rows.into_values().collect();
        if !profile.format.names_tensors() {
            for row in &mut rows {
                let kernels = row.kernels.saturating_add(row.fused);
                row.without = row.executions.saturating_sub(kernels);
                row.beyond = kernels.saturating_sub(row.executions);
            }
        }
        rows.sort_by_key(|r| std::cmp::Reverse(r.executions));
        rows
    }
}

/// The operators after `first` in the name of a fusion. The name joins them by `_`, which names of
/// operators also contain, so the longest match wins. `None` if a part of the name is no operator.
fn members<'a>(fusion: &str, first: &str, ops: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut rest = fusion.strip_prefix(first)?;
    let mut found = Vec::new();
    while !rest.is_empty() {
        rest = rest.strip_prefix('_')?;
        let fits = |op: &&&str| rest.strip_prefix(**op).is_some_and(|r| r.is_empty() || r.starts_with('_'));
        let op = ops.iter().filter(fits).max_by_key(|op| op.len())?;
        rest = &rest[op.len()..];
        found.push(*op);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::members;

    #[test]
    fn names_of_fusions() {
        let ops = ["MUL", "MUL_MAT", "ADD", "VIEW", "SET_ROWS", "ROPE", "ADD_ID"];
        assert_eq!(members("RMS_NORM_MUL", "RMS_NORM", &ops), Some(vec!["MUL"]));
        assert_eq!(members("ROPE_VIEW_SET_ROWS", "ROPE", &ops), Some(vec!["VIEW", "SET_ROWS"]));
        assert_eq!(members("MUL_MAT_ID_ADD_ID_MUL", "MUL_MAT_ID", &ops), Some(vec!["ADD_ID", "MUL"]));
        assert_eq!(members("TOPK_MOE_EARLY_SOFTMAX", "SOFT_MAX", &ops), None);
        assert_eq!(members("MUL_MAT_SOMETHING", "MUL_MAT", &ops), None);
    }
}
