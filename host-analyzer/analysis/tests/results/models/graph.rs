//! Graphs by hand: tensors one by one, and calls that computed them.

use profinfer_trace::model::*;

use super::rows::{sources, tensor};

/// Bytes and elements of a block.
fn block(dtype: &str) -> (u64, u64) {
    match dtype {
        "f32" | "i32" => (4, 1),
        "f16" => (2, 1),
        "i64" => (8, 1),
        "q8_0" => (34, 32),
        "q4_K" => (144, 256),
        other => panic!("{other}"),
    }
}

/// A graph under construction.
#[derive(Default)]
pub(crate) struct Graph {
    pub(crate) model: Model,
    nodes: Vec<Node>,
}

impl Graph {
    fn add(&mut self, name: &str, op: &str, dtype: &str, role: Role, ne: [u64; 4], src: &[u32]) -> u32 {
        let (bytes, elements) = block(dtype);
        let texts = &mut self.model.texts;
        let bytes = ne.iter().product::<u64>() / elements * bytes;
        self.nodes.push(Node { role, ne, bytes, src: sources(src), ..tensor(texts, name, op, dtype) });
        self.nodes.len() as u32 - 1
    }

    /// A tensor that nothing computes.
    pub(crate) fn leaf(&mut self, name: &str, dtype: &str, role: Role, ne: [u64; 4]) -> u32 {
        self.add(name, "NONE", dtype, role, ne, &[])
    }

    /// A node of 32-bit floats.
    pub(crate) fn node(&mut self, name: &str, op: &str, ne: [u64; 4], src: &[u32]) -> u32 {
        self.add(name, op, "f32", Role::Node, ne, src)
    }

    /// A node that is a view of another.
    pub(crate) fn view(&mut self, op: &str, ne: [u64; 4], of: u32) -> u32 {
        let dtype = self.model.texts.get(self.nodes[of as usize].dtype).to_owned();
        let at = self.add("view", op, &dtype, Role::Node, ne, &[of]);
        let root = self.nodes[of as usize].view_of.unwrap_or(NodeIdx(of));
        self.nodes[at as usize].view_of = Some(root);
        at
    }

    /// Makes a tensor's element type unknown.
    pub(crate) fn forget_bytes(&mut self, at: u32) {
        self.nodes[at as usize].bytes = 0;
    }

    /// Puts a weight into a buffer of this kind.
    pub(crate) fn place(&mut self, at: u32, kind: &str) {
        let memory = if kind.is_empty() { Memory::Unknown } else { Memory::Anonymous };
        self.model.buffers.push(Buffer { pid: 1, kind: kind.to_owned(), memory, path: String::new() });
        self.nodes[at as usize].buffer = Some(BufferId(self.model.buffers.len() as u32 - 1));
    }

    /// The model: calls of these tokens at these positions computed the graph. All tensors count as
    /// nodes, which the engine lists in the order of computation.
    pub(crate) fn called(mut self, calls: &[(u32, Option<u32>)]) -> Model {
        let nodes = std::mem::take(&mut self.nodes);
        let n_nodes = nodes.len() as u32;
        self.model.topologies.rows.push(Topology { pid: 1, n_nodes, nodes, complete: true });
        let thread = self.model.threads.find_or_add(1);
        let cpu = self.model.texts.intern("CPU");
        for (i, (n_tokens, n_past)) in calls.iter().enumerate() {
            let start = 1_000_000 * (i as u64 + 1);
            let d = &mut self.model.llama_calls;
            d.start_ns.push(start);
            d.duration_ns.push(1_000_000);
            d.function.push(DecodeFunction::LlamaDecode);
            d.thread.push(thread);
            d.context.push(1);
            d.n_tokens.push(*n_tokens);
            d.status.push(0);
            let g = &mut self.model.graph_calls;
            g.start_ns.push(start + 1);
            g.duration_ns.push(999_000);
            g.layer.push(Layer::Backend);
            g.backend.push(cpu);
            g.topology.push(Some(TopologyId(0)));
            g.n_nodes.push(n_nodes);
            g.n_tokens.push(*n_tokens);
            g.n_past.push(*n_past);
            g.thread.push(thread);
            g.decode.push(Some(LlamaCallId(i as u32)));
            g.parent.push(None);
        }
        self.model
    }
}

/// One span of a thread: node, last node, start in its call, work, wait.
pub(crate) fn span(m: &mut Model, call: u32, thread: u32, nodes: [u32; 2], times: [u64; 3]) {
    let thread = m.threads.find_or_add(thread);
    let s = &mut m.spans;
    s.graph_call.push(GraphCallId(call));
    s.thread.push(thread);
    s.node.push(NodeIdx(nodes[0]));
    s.last_node.push(NodeIdx(nodes[1]));
    s.start_ns.push(m.graph_calls.start_ns[call as usize] + times[0]);
    s.work_ns.push(times[1]);
    s.wait_ns.push(times[2] as u32);
    s.cpu.push(Some(thread.0 as u16));
    s.migrated.push(false);
}

/// Adds a graph outside of `llama_decode` calls, as an encoder of images computes it.
pub(crate) fn outer_graph(m: &mut Model, start_ns: u64, duration_ns: u64) {
    let g = &mut m.graph_calls;
    g.start_ns.push(start_ns);
    g.duration_ns.push(duration_ns);
    g.layer.push(Layer::Scheduler);
    g.backend.push(Text::default());
    g.topology.push(None);
    g.n_nodes.push(1);
    g.n_tokens.push(0);
    g.n_past.push(None);
    g.thread.push(ThreadId(0));
    g.decode.push(None);
    g.parent.push(None);
}
