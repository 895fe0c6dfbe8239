//! Operators that compute nothing.

/// Whether an operator computes nothing and only gives a tensor another shape. The engine never
/// runs such nodes. The list is that of its `ggml_op_is_empty`.
#[must_use]
pub fn is_empty_op(op: &str) -> bool {
    matches!(op, "NONE" | "RESHAPE" | "VIEW" | "PERMUTE" | "TRANSPOSE")
}
