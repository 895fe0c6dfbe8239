//! A model with the names of the truth, so that the two can be compared.

use profinfer_trace::model::{GraphCallId, Layer, LlamaCallId, Model, Role, TopologyId, WAIT_UNKNOWN};

use profinfer_trace::test_support::truth::{Call, Decode, Span, Tensor, Truth};

/// The values of a model; `None` where it states that it does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) topologies: Vec<Topology>,
    pub(crate) llama_calls: Vec<Decode>,
    pub(crate) calls: Vec<Call>,
    /// With the wait known or unknown.
    pub(crate) spans: Vec<(Span, Option<u64>)>,
    /// Backend of every call.
    pub(crate) backends: Vec<String>,
    pub(crate) session: String,
    pub(crate) health: String,
}

/// A topology; a tensor that did not arrive is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Topology {
    pub(crate) n_nodes: u32,
    pub(crate) complete: bool,
    pub(crate) tensors: Vec<Tensor>,
}

const OPS: [&str; 6] = ["", "MUL_MAT", "ADD", "VIEW", "RMS_NORM", "NONE"];
const DTYPES: [&str; 3] = ["", "f32", "q4_K"];

fn known(s: &str, names: &[&'static str]) -> &'static str {
    names.iter().find(|n| **n == s).unwrap_or_else(|| panic!("{s:?} was never sent"))
}

impl Received {
    pub(crate) fn new(m: &Model) -> Self {
        Self {
            topologies: topologies(m),
            llama_calls: llama_calls(m),
            calls: calls(m),
            spans: spans(m),
            backends: m.graph_calls.backend.iter().map(|b| m.texts.get(*b).to_owned()).collect(),
            session: format!("{:?} {:?}", m.session, threads(m)),
            health: format!("{:?}", m.health),
        }
    }

    /// Everything that was sent is here and right.
    pub(crate) fn equals(&self, truth: &Truth) {
        assert_eq!(self.llama_calls, truth.llama_calls);
        assert_eq!(self.calls.len(), truth.calls.len());
        for (call, sent) in self.calls.iter().zip(&truth.calls) {
            assert_eq!(call, sent);
        }
        assert_eq!(self.spans.len(), truth.spans.len());
        for ((span, wait), sent) in self.spans.iter().zip(&truth.spans) {
            assert_eq!((span, *wait), (sent, Some(sent.wait)));
        }
        assert_eq!(self.topologies.len(), truth.topologies.len());
        for (topology, sent) in self.topologies.iter().zip(&truth.topologies) {
            assert!(topology.complete);
            assert_eq!((topology.n_nodes, &topology.tensors), (sent.n_nodes, &sent.tensors));
        }
    }
}

fn threads(m: &Model) -> Vec<(u32, u32, &str)> {
    m.threads.iter().map(|(_, t)| (t.tid, t.pid, m.texts.get(t.name))).collect()
}

fn llama_calls(m: &Model) -> Vec<Decode> {
    let d = &m.llama_calls;
    let row = |i: usize| Decode {
        start: d.start_ns[i],
        duration: d.duration_ns[i],
        tid: m.threads.get(d.thread[i]).tid,
        context: d.context[i],
        n_tokens: d.n_tokens[i],
        status: d.status[i],
    };
    (0..d.len()).map(row).collect()
}

fn calls(m: &Model) -> Vec<Call> {
    let c = &m.graph_calls;
    let row = |i: usize| Call {
        start: c.start_ns[i],
        duration: c.duration_ns[i],
        scheduler: c.layer[i] == Layer::Scheduler,
        topology: c.topology[i].map(|TopologyId(s)| s as usize),
        n_nodes: c.n_nodes[i],
        n_tokens: c.n_tokens[i],
        tid: m.threads.get(c.thread[i]).tid,
        decode: c.decode[i].map(|LlamaCallId(d)| m.llama_calls.start_ns[d as usize]),
        parent: c.parent[i].map(|GraphCallId(p)| c.start_ns[p as usize]),
    };
    (0..c.len()).map(row).collect()
}

fn spans(m: &Model) -> Vec<(Span, Option<u64>)> {
    let s = &m.spans;
    let row = |i: usize| {
        let wait = (s.wait_ns[i] != WAIT_UNKNOWN).then(|| u64::from(s.wait_ns[i]));
        let span = Span {
            call_start: m.graph_calls.start_ns[s.graph_call[i].0 as usize],
            tid: m.threads.get(s.thread[i]).tid,
            node: s.node[i].0,
            last: s.last_node[i].0,
            start: s.start_ns[i],
            work: s.work_ns[i],
            wait: wait.unwrap_or(0),
            cpu: s.cpu[i].unwrap_or(u16::MAX),
            migrated: s.migrated[i],
        };
        (span, wait)
    };
    (0..s.len()).map(row).collect()
}

fn topologies(m: &Model) -> Vec<Topology> {
    let role = |r: Role| match r {
        Role::Node => 0,
        Role::Weight => 1,
        Role::Cache => 2,
        Role::Input => 3,
        Role::Other => 4,
    };
    let tensor = |n: &profinfer_trace::model::Node| Tensor {
        name: m.texts.get(n.name).to_owned(),
        op: known(m.texts.get(n.op), &OPS),
        dtype: known(m.texts.get(n.dtype), &DTYPES),
        role: role(n.role),
        ne: n.ne,
        bytes: n.bytes,
        view_of: n.view_of.map(|v| v.0),
        src: n.src.iter().map(|(slot, i)| (*slot, i.0)).collect(),
    };
    let topology = |s: &profinfer_trace::model::Topology| Topology {
        n_nodes: s.n_nodes,
        complete: s.complete,
        tensors: s.nodes.iter().map(tensor).collect(),
    };
    m.topologies.rows.iter().map(topology).collect()
}
