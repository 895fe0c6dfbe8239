//! `dag.json`: the graphs that were computed.

use super::Publish;
use profinfer_analysis::dag;

fields! {
    dag::Dag => DagGraph {
        id, phase, pid, context, split, topology, backend, n_tokens, calls, traced_calls, n_nodes,
        n_leafs, complete, nodes, edges,
    } - { path }
    dag::DagNode => DagNode {
        index, name, op, desc, dtype, ne, bytes, role, memory, buffer, module, layer, view_of,
        order, fused_with, executions, wall_ns, work_ns, wait_ns, share, not_captured, critical,
    }
    dag::Edge => DagEdge { from, to, slot, ne, dtype, bytes }
}
