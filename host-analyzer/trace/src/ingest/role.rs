//! Roles of the leafs of engines that give their weights no names, as whisper.cpp does.
//!
//! The agent knows weights by their names, and others by the buffers of those. Where it found none in a
//! process, a leaf that some graph writes is a cache, one that another graph computes is an intermediate
//! result, and the others are weights. Inputs have a flag in the engine.

use std::collections::BTreeSet;

use crate::model::{Node, NodeIdx, Role, Texts, Topologies, Topology};

/// Operators that only give a tensor another shape.
const SHAPES: [&str; 5] = ["NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE"];

/// Sets the roles in the processes without a known weight.
pub(super) fn infer(table: &mut Topologies, texts: &Texts) {
    let pids: BTreeSet<u32> = table.rows.iter().map(|t| t.pid).collect();
    for pid in pids {
        let own = || table.rows.iter().filter(|t| t.pid == pid);
        if own().any(|t| t.nodes.iter().any(|n| n.role == Role::Weight)) {
            continue;
        }
        // A graph reads the result of another one through a different tensor with the same data.
        let results = own().flat_map(|t| computed(t, texts));
        let computed: BTreeSet<u64> =
            results.flat_map(|n| [n.address, n.data]).filter(|at| *at != 0).collect();
        let written: BTreeSet<u64> = own().flat_map(|t| written(t, texts)).collect();
        for topology in table.rows.iter_mut().filter(|t| t.pid == pid) {
            let first = nodes(topology);
            let unknown = |role| role == Role::Other;
            for leaf in topology.nodes[first..].iter_mut().filter(|n| unknown(n.role) && n.bytes > 0) {
                match () {
                    () if written.contains(&leaf.address) => leaf.role = Role::Cache,
                    () if computed.contains(&leaf.address) || computed.contains(&leaf.data) => {}
                    () => leaf.role = Role::Weight,
                }
            }
        }
    }
}

fn nodes(topology: &Topology) -> usize {
    (topology.n_nodes as usize).min(topology.nodes.len())
}

/// The nodes of a topology that compute something.
fn operators<'a>(topology: &'a Topology, texts: &'a Texts) -> impl Iterator<Item = &'a Node> + 'a {
    topology.nodes[..nodes(topology)].iter().filter(|node| !SHAPES.contains(&texts.get(node.op)))
}

/// Operators that allocate their result, instead of writing into another tensor.
fn computed<'a>(topology: &'a Topology, texts: &'a Texts) -> impl Iterator<Item = &'a Node> + 'a {
    operators(topology, texts).filter(|node| node.view_of.is_none())
}

/// Addresses of the leafs that the nodes of a topology write.
fn written<'a>(topology: &'a Topology, texts: &'a Texts) -> impl Iterator<Item = u64> + 'a {
    let n = nodes(topology);
    let leaf = move |NodeIdx(at): NodeIdx| topology.nodes.get(at as usize).filter(|_| at as usize >= n);
    operators(topology, texts).filter_map(move |node| leaf(node.view_of?)).map(|node| node.address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Text;

    fn node(op: Text, address: u64, role: Role, view_of: Option<u32>) -> Node {
        let text = Text::default();
        Node {
            name: text,
            op,
            desc: op,
            dtype: text,
            role,
            ne: [1; 4],
            bytes: 4,
            address,
            data: address + 0x1000,
            buffer: None,
            view_of: view_of.map(NodeIdx),
            src: Vec::new(),
        }
    }

    #[test]
    fn leafs_are_told_by_what_graphs_do_with_them() {
        let mut texts = Texts::default();
        let [product, copy, view, none] = ["MUL_MAT", "CPY", "VIEW", "NONE"].map(|op| texts.intern(op));
        let leaf = |address, role| node(none, address, role, None);
        // A product, a view of the weight, and a copy into the cache.
        let nodes = vec![
            node(product, 1, Role::Node, None),
            node(view, 2, Role::Node, Some(3)),
            node(copy, 3, Role::Node, Some(4)),
            leaf(10, Role::Other),
            leaf(11, Role::Other),
            leaf(12, Role::Input),
        ];
        let first = Topology { pid: 1, n_nodes: 3, nodes, complete: true };
        // Another graph reads the product of the first, through a different tensor with the same data, and the cache.
        let result = Node { data: 0x1001, ..leaf(20, Role::Other) };
        let nodes =
            vec![node(product, 5, Role::Node, None), result, leaf(11, Role::Other), leaf(13, Role::Other)];
        let second = Topology { pid: 1, n_nodes: 1, nodes, complete: true };
        // A process whose weights have names keeps its roles.
        let nodes = vec![node(product, 1, Role::Node, None), leaf(10, Role::Weight), leaf(14, Role::Other)];
        let named = Topology { pid: 2, n_nodes: 1, nodes, complete: true };
        let mut table = Topologies { rows: vec![first, second, named] };
        infer(&mut table, &texts);
        let roles: Vec<Vec<Role>> = (table.rows.iter())
            .map(|t| t.nodes[t.n_nodes as usize..].iter().map(|n| n.role).collect())
            .collect();
        let expected = [
            vec![Role::Weight, Role::Cache, Role::Input],
            vec![Role::Other, Role::Cache, Role::Weight],
            vec![Role::Weight, Role::Other],
        ];
        assert_eq!(roles, expected);
    }
}
