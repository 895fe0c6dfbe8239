//! The examples of decode calls, graphs and their tensors.

use profinfer_wire::record::Record;
use profinfer_wire::record::graph::{self, Role, Tensor, Tensors};
use profinfer_wire::record::token::Decode;
use profinfer_wire::tensors;

/// Three layers of one node. Each node reads the one before it and a weight.
pub(super) fn layers() -> [graph::Tensor; 3] {
    [0, 1, 2].map(|i| graph::Tensor {
        name: 10 + i,
        op: 3,
        desc: 3,
        dtype: 4,
        role: Role::Node,
        ne: [64, 5, 1, 1],
        bytes: 1280,
        address: 0x7f00_0000_1000 + u64::from(i) * 0x170,
        data: 0x7f11_0000_0000 - u64::from(i) * 0x500,
        src: [i, 4 + i, 0, 0, 0, 0, 0, 0, 0, 0],
        ..tensors::NO_TENSOR
    })
}

pub(super) fn packed_tensor() -> Vec<u8> {
    let tensor = Tensor {
        name: 2,
        op: 3,
        desc: 3,
        dtype: 4,
        role: Role::Node,
        ne: [64, 5, 1, 1],
        bytes: 1280,
        address: 0x7f00_0000_1000,
        data: 0,
        view_of: 0,
        src: [2, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    };
    postcard::to_slice(&tensor, &mut [0; 256]).expect("room").to_vec()
}

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let tensor = packed_tensor();
    let call = Decode {
        id: 1,
        pid: 42,
        tid: 42,
        function: 0,
        context: 0x5000,
        start_ns: 2_000_000_000,
        duration_ns: 51_000_000,
        n_tokens: Some(5),
        status: 0,
    };
    check("decode", &Record::Decode(call));
    check("topology", &Record::Topology(graph::Topology { id: 1, pid: 42, n_nodes: 1, n_leafs: 1 }));
    check("tensors", &Record::Tensors(Tensors { topology: 1, first: 0, count: 1, bytes: &tensor }));
    let tensors = layers();
    let mut bytes = [0; 2048];
    let (count, len) = tensors::encode(&tensors, 1, &mut bytes);
    let batch = graph::TensorBatch { topology: 1, first: 0, count, period: 1, bytes: &bytes[..len] };
    check("tensor batch", &Record::TensorBatch(batch));
    let mut back = vec![tensors::NO_TENSOR; batch.most()];
    assert_eq!((batch.decode(&mut back), &back[..]), (3, &tensors[..]));
    let graph_call = graph::GraphCall {
        id: 2,
        topology: 1,
        pid: 42,
        tid: 42,
        layer: graph::layer::BACKEND,
        backend: 1,
        n_nodes: 1,
        n_tokens: 5,
        decode: 1,
        parent: 1,
        start_ns: 2_000_100_000,
        duration_ns: 50_000_000,
    };
    check("graph call", &Record::GraphCall(graph_call));
    check("past", &Record::Past(graph::Past { graph: 2, n_past: 300 }));
}
