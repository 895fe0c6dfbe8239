//! A synthetic engine: its tables, its tensor layout, and tensors as in its memory.

use profinfer_agent::bpf::ring::TENSOR_MAX;
use profinfer_engine::{DataType, Layout, Tables};

/// Numbers of operators in [`tables`].
pub(crate) const NONE: u32 = 0;
pub(crate) const GET_ROWS: u32 = 1;
pub(crate) const MUL_MAT: u32 = 2;
pub(crate) const UNARY: u32 = 3;
pub(crate) const MUL_MAT_ID: u32 = 4;
pub(crate) const ADD: u32 = 5;

pub(crate) const F32: u32 = 0;
pub(crate) const Q8_0: u32 = 1;
pub(crate) const I32: u32 = 2;

/// Tensor layout of current releases. Repeated here, so that the tests do not depend on the code
/// under test.
pub(crate) const LAYOUT: Layout = Layout {
    tensor_size: 336,
    tensor_type: 0,
    tensor_buffer: 8,
    tensor_ne: 16,
    tensor_nb: 48,
    tensor_op: 80,
    tensor_op_params: 84,
    tensor_flags: 148,
    tensor_src: 152,
    tensor_view_src: 232,
    tensor_data: 248,
    tensor_name: 256,
    graph_n_nodes: 4,
    graph_nodes: 16,
    graph_uid: None,
    params_ith: 0,
    params_phase: false,
};

pub(crate) fn tables() -> Tables {
    let words = |w: &[&str]| w.iter().map(|w| (*w).to_owned()).collect();
    let of = |name: &str, block_elements, block_bytes| DataType {
        name: name.to_owned(),
        block_elements,
        block_bytes,
    };
    Tables {
        ops: words(&["NONE", "GET_ROWS", "MUL_MAT", "UNARY", "MUL_MAT_ID", "ADD"]),
        unary: words(&["ABS", "SILU"]),
        glu: Vec::new(),
        types: vec![of("f32", 1, 4), of("q8_0", 32, 34), of("i32", 1, 4)],
    }
}

/// One tensor of the engine.
#[derive(Debug, Clone)]
pub(crate) struct T {
    pub(crate) address: u64,
    pub(crate) name: String,
    pub(crate) op: u32,
    pub(crate) parameter: u32,
    pub(crate) dtype: u32,
    pub(crate) ne: [u64; 4],
    pub(crate) src: Vec<u64>,
    pub(crate) flags: u32,
    pub(crate) buffer: u64,
    pub(crate) data: u64,
    pub(crate) view_src: u64,
}

/// A tensor of 64 by 2 floats.
pub(crate) fn tensor(address: u64, name: &str, op: u32, src: &[u64]) -> T {
    T {
        address,
        name: name.to_owned(),
        op,
        parameter: 0,
        dtype: F32,
        ne: [64, 2, 1, 1],
        src: src.to_vec(),
        flags: 0,
        buffer: 0,
        data: 0,
        view_src: 0,
    }
}

impl T {
    /// Its struct's bytes.
    pub(crate) fn raw(&self) -> [u8; TENSOR_MAX] {
        let mut raw = [0; TENSOR_MAX];
        let mut put = |at: u32, bytes: &[u8]| raw[at as usize..][..bytes.len()].copy_from_slice(bytes);
        let l = &LAYOUT;
        put(l.tensor_type, &self.dtype.to_ne_bytes());
        put(l.tensor_buffer, &self.buffer.to_ne_bytes());
        for (at, n) in (l.tensor_ne..).step_by(8).zip(self.ne) {
            put(at, &n.to_ne_bytes());
        }
        put(l.tensor_op, &self.op.to_ne_bytes());
        put(l.tensor_op_params, &self.parameter.to_ne_bytes());
        put(l.tensor_flags, &self.flags.to_ne_bytes());
        for (at, src) in (l.tensor_src..).step_by(8).zip(&self.src) {
            put(at, &src.to_ne_bytes());
        }
        put(l.tensor_view_src, &self.view_src.to_ne_bytes());
        put(l.tensor_data, &self.data.to_ne_bytes());
        // GGML truncates names to fit a terminating zero.
        put(l.tensor_name, &self.name.as_bytes()[..self.name.len().min(63)]);
        raw
    }
}

/// `n` nodes, each reading the previous one and one leaf of weights; the nodes' structs start at
/// `base`, 0x100 apart.
pub(crate) fn chain(base: u64, name: &str, n: u64) -> (Vec<T>, Vec<T>) {
    let weights = tensor(base + 0x10_0000, &format!("{name}.weight"), NONE, &[]);
    let node = |k: u64| {
        let before = if k == 0 { vec![] } else { vec![base + 0x100 * (k - 1)] };
        let src: Vec<u64> = [vec![weights.address], before].concat();
        tensor(base + 0x100 * k, &format!("{name}-{k}"), MUL_MAT, &src)
    };
    ((0..n).map(node).collect(), vec![weights.clone()])
}
