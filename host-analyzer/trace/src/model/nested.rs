//! Nested calls: calls of backend functions inside operators.

use super::graph::{GraphCallId, NodeIdx};
use super::rows::rows;
use super::text::Text;
use super::thread::ThreadId;

/// Columns, one row per call, by graph call, then thread, then start, the outer ones first. A row's
/// graph call always has a topology, and its node is one of that topology.
#[derive(Debug, Default, Clone)]
pub struct NestedCalls {
    /// Graph call.
    pub graph_call: Vec<GraphCallId>,
    /// Thread.
    pub thread: Vec<ThreadId>,
    /// Node of the operator.
    pub node: Vec<NodeIdx>,
    /// Symbol of the function.
    pub function: Vec<Text>,
    /// Name of the function's backend.
    pub backend: Vec<Text>,
    /// Number of such functions that the thread was already in.
    pub depth: Vec<u8>,
    /// Start, ns.
    pub start_ns: Vec<u64>,
    /// Length, ns.
    pub duration_ns: Vec<u64>,
}

rows!(NestedCalls, start_ns);

impl NestedCalls {}
