//! A board on which every product takes 500 ns and a time per byte of its type, every other
//! operator 100 ns, and 20 ns pass between two operators.

use profinfer_analysis::predict::Run;
use profinfer_trace::model::*;

use super::file::File;
use crate::models::rows;
use crate::models::small::{self, PID, Row};

pub(crate) const PRODUCT: u64 = 500;
pub(crate) const OTHER: u64 = 100;
pub(crate) const BETWEEN: u64 = 20;
pub(crate) const VOCAB: u64 = 96;

/// A type: name, number in files, bytes of a block of 32, picoseconds per byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Type(pub(crate) &'static str, pub(crate) u32, pub(crate) u64, pub(crate) u64);

pub(crate) const Q8: Type = Type("q8_0", 8, 34, 1_000);
pub(crate) const Q4: Type = Type("q4_0", 2, 18, 1_500);
pub(crate) const Q5: Type = Type("q5_0", 6, 22, 1_400);

/// A model of layers with a norm and three products each: queries, and a feed-forward of twice the
/// width.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Made {
    pub(crate) layers: u64,
    pub(crate) embd: u64,
    pub(crate) dtype: Type,
}

impl Made {
    pub(crate) const fn bytes(&self, cols: u64, rows: u64) -> u64 {
        cols / 32 * self.dtype.2 * rows
    }

    /// Bytes of the products of a layer.
    pub(crate) const fn layer(&self) -> [u64; 3] {
        let (e, f) = (self.embd, 2 * self.embd);
        [self.bytes(e, e), self.bytes(e, f), self.bytes(f, e)]
    }

    pub(crate) fn time(&self, bytes: u64) -> u64 {
        PRODUCT + bytes * self.dtype.3 / 1_000
    }

    /// A token's time by the rules of the board.
    pub(crate) fn token_ns(&self) -> u64 {
        let layer: u64 = self.layer().map(|b| self.time(b)).iter().sum::<u64>() + OTHER;
        let nodes = self.layers * 4 + 2;
        self.layers * layer + self.time(self.bytes(self.embd, VOCAB)) + OTHER + nodes * BETWEEN
    }

    /// The file of such a model.
    pub(crate) fn file(&self) -> File {
        let (e, f) = (self.embd, 2 * self.embd);
        let mut file = File::new("llama").number("llama.block_count", u32::try_from(self.layers).unwrap());
        let mut add = |name: String, cols: u64, rows: u64| {
            file = file.clone().tensor(&name, &[cols, rows], self.dtype.1, self.bytes(cols, rows));
        };
        add("token_embd.weight".to_owned(), e, VOCAB);
        add("output.weight".to_owned(), e, VOCAB);
        for layer in 0..self.layers {
            for (name, cols, rows) in [("attn_q", e, e), ("ffn_up", e, f), ("ffn_down", f, e)] {
                add(format!("blk.{layer}.{name}.weight"), cols, rows);
            }
        }
        file
    }

    fn topology(&self, texts: &mut Texts) -> (Topology, Vec<u64>) {
        let (e, f) = (self.embd, 2 * self.embd);
        let (mut nodes, mut weights, mut times) = (Vec::new(), Vec::new(), Vec::new());
        let mut add = |name: &str, op: &str, ne: u64, weight: Option<(String, u64, u64)>| {
            nodes.push((name.to_owned(), op.to_owned(), ne, weight.is_some()));
            let product = op == "MUL_MAT";
            let bytes = weight.as_ref().map_or(0, |(_, cols, rows)| self.bytes(*cols, *rows));
            times.push(if product { self.time(bytes) } else { OTHER });
            weights.extend(weight);
        };
        let weight = |name: String, cols, rows| Some((name, cols, rows));
        add("inp_embd", "GET_ROWS", e, weight("token_embd.weight".to_owned(), e, VOCAB));
        for l in 0..self.layers {
            add(&format!("norm-{l}"), "RMS_NORM", e, None);
            add(&format!("Qcur-{l}"), "MUL_MAT", e, weight(format!("blk.{l}.attn_q.weight"), e, e));
            add(&format!("ffn_up-{l}"), "MUL_MAT", f, weight(format!("blk.{l}.ffn_up.weight"), e, f));
            add(&format!("ffn_out-{l}"), "MUL_MAT", e, weight(format!("blk.{l}.ffn_down.weight"), f, e));
        }
        add("result_output", "MUL_MAT", VOCAB, weight("output.weight".to_owned(), e, VOCAB));
        let n_nodes = u32::try_from(nodes.len()).unwrap();
        let tensor =
            |texts: &mut Texts, name: &str, op: &str, dtype: &str, role, ne: [u64; 4], bytes, src| Node {
                role,
                ne,
                bytes,
                src,
                ..rows::tensor(texts, name, op, dtype)
            };
        let mut all = Vec::new();
        let mut next = n_nodes;
        for (i, (name, op, ne, weighted)) in (0..).zip(&nodes) {
            let before =
                NodeIdx(if i == 0 { n_nodes + u32::try_from(weights.len()).unwrap() } else { i - 1 });
            let mut src = vec![(1, before)];
            if *weighted {
                src.insert(0, (0, NodeIdx(next)));
                next += 1;
            } else {
                src = vec![(0, before)];
            }
            all.push(tensor(texts, name, op, "f32", Role::Node, [*ne, 1, 1, 1], ne * 4, src));
        }
        for (name, cols, rows) in &weights {
            let bytes = self.bytes(*cols, *rows);
            let ne = [*cols, *rows, 1, 1];
            all.push(tensor(texts, name, "NONE", self.dtype.0, Role::Weight, ne, bytes, vec![]));
        }
        all.push(tensor(texts, "inp_tokens", "NONE", "i32", Role::Input, [1; 4], 4, vec![]));
        (Topology { pid: PID, n_nodes, nodes: all, complete: true }, times)
    }

    /// A recording of eight tokens of it.
    pub(crate) fn model(&self) -> Model {
        let mut m = Model::default();
        m.session.cpu_model = "made".to_owned();
        m.session.board = "board".to_owned();
        m.session.cpus = 1;
        let main = m.threads.find_or_add(100);
        m.threads.describe(main, PID, Text::default());
        let (topology, times) = self.topology(&mut m.texts);
        m.topologies.rows.push(topology);
        let mut start = 1_000;
        for _ in 0..8 {
            // The graph begins after the call, and ends with its last node.
            let mut at = start + BETWEEN;
            let rows: Vec<Row> = (0..)
                .zip(&times)
                .map(|(node, ns)| {
                    let row = (0, node, node, at, *ns, 0);
                    at += ns + BETWEEN;
                    row
                })
                .collect();
            let length = at - BETWEEN - start;
            assert_eq!(length, self.token_ns());
            small::call(&mut m, start, [length, length - 10, length - BETWEEN], 1, 0, &rows);
            start += length + 1_000;
        }
        m
    }

    pub(crate) fn run(&self) -> Run {
        Run::compute(&self.model())
    }
}
