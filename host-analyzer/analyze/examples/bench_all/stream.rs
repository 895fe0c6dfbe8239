//! The synthetic session of the tests, as the stream that an agent would send.

use std::ops::Range;

use profinfer_trace::model::{GraphCallId, Layer, Model, Text, TopologyId};

use profinfer_trace::test_support::bytes::{frame, hello};
use profinfer_trace::test_support::predicted::predicted_batch;
use profinfer_trace::test_support::records::{self, CallIds, Record};
use profinfer_trace::test_support::truth::{Call, Decode, Span, Tensor, Topology};

/// Process of all threads in the synthetic session.
const PID: u32 = 7;
/// Number of nodes after which its graphs repeat.
const PERIOD: u64 = 17;
/// Maximum number of spans per frame.
const BATCH: usize = 256;

/// Consecutive frames.
struct Stream {
    bytes: Vec<u8>,
    seq: u32,
}

impl Stream {
    fn send(&mut self, (kind, payload): &Record) {
        self.bytes.extend(frame(*kind, self.seq, payload));
        self.seq += 1;
    }
}

/// The stream of a session.
pub(crate) fn bytes(model: &Model) -> Vec<u8> {
    let mut out = Stream { bytes: hello(1), seq: 0 };
    out.send(&records::session(model.session.start_ns));
    out.send(&records::process(PID));
    for level in [1, 2, 4] {
        out.send(&records::probe(PID, level, true));
    }
    for (_, thread) in model.threads.iter() {
        out.send(&records::thread(thread.tid, PID, model.texts.get(thread.name)));
    }
    let texts: Vec<Text> = texts(model);
    for (id, text) in (0..).zip(&texts).skip(1) {
        out.send(&records::text(id, model.texts.get(*text)));
    }
    for (id, topology) in (1..).zip(&model.topologies.rows) {
        tell_topology(model, id, topology, &texts, &mut out);
    }
    let mut spans = 0..0;
    let mut calls = 0..0;
    for decode in 0..model.llama_calls.len() {
        while calls.end < model.graph_calls.len()
            && model.graph_calls.decode[calls.end].map(|d| d.0 as usize) == Some(decode)
        {
            calls.end += 1;
        }
        for call in calls.clone() {
            spans.start = spans.end;
            while spans.end < model.spans.len() && model.spans.graph_call[spans.end].0 as usize == call {
                spans.end += 1;
            }
            tell_call(model, call, &texts, spans.clone(), &mut out);
        }
        calls.start = calls.end;
        tell_decode(model, decode, &mut out);
    }
    let now = model.llama_calls.start_ns.last().copied().unwrap_or_default()
        + model.llama_calls.duration_ns.last().copied().unwrap_or_default();
    let n = model.spans.len() as u64;
    out.send(&records::loss(now, n));
    out.send(&records::end(now, n, out.seq + 1));
    out.bytes
}

/// Sent texts, by number; number 0 is the empty text.
fn texts(model: &Model) -> Vec<Text> {
    let mut texts = vec![Text::default()];
    let nodes =
        model.topologies.rows.iter().flat_map(|t| &t.nodes).flat_map(|n| [n.name, n.op, n.desc, n.dtype]);
    for text in nodes.chain(model.texts.find("CPU")) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

fn tell_topology(
    model: &Model,
    id: u32,
    t: &profinfer_trace::model::Topology,
    texts: &[Text],
    out: &mut Stream,
) {
    let text = |t: Text| model.texts.get(t).to_owned();
    let tensors: Vec<Tensor> = t
        .nodes
        .iter()
        .map(|n| Tensor {
            name: text(n.name),
            op: Box::leak(text(n.op).into_boxed_str()),
            dtype: Box::leak(text(n.dtype).into_boxed_str()),
            role: n.role as u64,
            ne: n.ne,
            bytes: n.bytes,
            view_of: None,
            src: n.src.iter().map(|(slot, node)| (*slot, node.0)).collect(),
        })
        .collect();
    let ids = |s: &str| texts.iter().position(|t| model.texts.get(*t) == s).map_or(0, |i| i as u32);
    let topology = Topology { n_nodes: t.n_nodes, tensors };
    out.send(&records::topology(id, PID, &topology));
    for (part, tensors) in topology.tensors.chunks(16).enumerate() {
        out.send(&records::tensors(id, part as u32 * 16, tensors, &ids));
    }
}

fn tell_call(model: &Model, row: usize, texts: &[Text], spans: Range<usize>, out: &mut Stream) {
    let calls = &model.graph_calls;
    let topology = calls.topology[row].map_or(0, |TopologyId(t)| t + 1);
    let call = Call {
        start: calls.start_ns[row],
        duration: calls.duration_ns[row],
        scheduler: calls.layer[row] == Layer::Scheduler,
        topology: None,
        n_nodes: calls.n_nodes[row],
        n_tokens: calls.n_tokens[row],
        tid: model.threads.get(calls.thread[row]).tid,
        decode: None,
        parent: None,
    };
    let id = row as u32 + 1;
    let backend = texts.iter().position(|t| *t == calls.backend[row]).map_or(0, |i| i as u32);
    let decode = calls.decode[row].map_or(0, |d| d.0 + 1);
    let parent = calls.parent[row].map_or(0, |GraphCallId(p)| p + 1);
    out.send(&records::graph_call(CallIds { id, pid: PID, topology, backend, decode, parent }, &call));
    let all: Vec<Span> = spans.map(|i| span(model, i)).collect();
    for of_thread in all.chunk_by(|a, b| a.tid == b.tid) {
        for batch in of_thread.chunks(BATCH) {
            out.send(&predicted_batch((id, topology, batch[0].tid), batch[0].cpu, PERIOD, batch));
        }
    }
}

fn span(model: &Model, i: usize) -> Span {
    let s = &model.spans;
    Span {
        call_start: 0,
        tid: model.threads.get(s.thread[i]).tid,
        node: s.node[i].0,
        last: s.last_node[i].0,
        start: s.start_ns[i],
        work: s.work_ns[i],
        wait: 0,
        cpu: s.cpu[i].unwrap_or(u16::MAX),
        migrated: s.migrated[i],
    }
}

fn tell_decode(model: &Model, row: usize, out: &mut Stream) {
    let d = &model.llama_calls;
    let decode = Decode {
        start: d.start_ns[row],
        duration: d.duration_ns[row],
        tid: model.threads.get(d.thread[row]).tid,
        context: d.context[row],
        n_tokens: d.n_tokens[row],
        status: d.status[row],
    };
    out.send(&records::decode(row as u32 + 1, PID, &decode, Some(decode.n_tokens)));
}
