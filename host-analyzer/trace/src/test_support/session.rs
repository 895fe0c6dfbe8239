//! A session in the order in which an agent sends it, and the values that it means.

use super::bytes::{frame, hello};
use super::predicted::{predicted_batch, tensor_batch};
use super::random::Random;
use super::records::{self, CallIds, Record};
use super::truth::{Call, Decode, Span, Tensor, Topology, Truth};

/// Process of all threads.
pub const PID: u32 = 500;
/// Process of the agent.
pub const AGENT: u32 = 300;
/// Number of nodes after which the graphs repeat.
pub const PERIOD: u64 = 24;
/// Address of a context; the next one is 16 bytes later.
const CONTEXT: u64 = 0x5500_0000_1000;

/// How large a session is.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub threads: u32,
    pub llama_calls: u32,
    pub nodes: u32,
    /// Views are run like other nodes, as by engines of 2024.
    pub views_run: bool,
}

/// Small enough to be cut at every byte.
pub const SMALL: Size = Size { threads: 2, llama_calls: 4, nodes: 9, views_run: false };

/// The records, and the values that they mean.
#[derive(Debug, Clone)]
pub struct Sent {
    pub records: Vec<Record>,
    pub truth: Truth,
}

impl Sent {
    /// The frames, each as in the stream.
    pub fn frames(&self) -> Vec<Vec<u8>> {
        (0..).zip(&self.records).map(|(seq, (kind, payload))| frame(*kind, seq, payload)).collect()
    }

    /// The stream.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = hello(1);
        self.frames().iter().for_each(|f| bytes.extend_from_slice(f));
        bytes
    }
}

struct Writer {
    random: Random,
    size: Size,
    now: u64,
    records: Vec<Record>,
    truth: Truth,
    texts: Vec<String>,
    graph_ids: u32,
}

/// A session. Prefill in two parts of the batch, then decode; every other call has a graph in two
/// splits.
pub fn session(seed: u64, size: Size) -> Sent {
    let mut t = Writer {
        random: Random(seed),
        size,
        now: 1_000_000_000 + seed % 1000,
        records: Vec::new(),
        truth: Truth::default(),
        texts: vec![String::new()],
        graph_ids: 0,
    };
    t.records.push(records::session(t.now));
    t.records.push(records::probe_cost(2048, 1310, 640));
    t.records.push(records::process(PID));
    t.records.push(records::agent(AGENT));
    t.records.push(records::library(PID, 8));
    for level in [1, 2, 4] {
        t.records.push(records::probe(PID, level, true));
    }
    for tid in t.tids() {
        t.records.push(records::thread(tid, PID, "worker"));
    }
    for n in 0..size.llama_calls {
        t.decode(n);
    }
    let (spans, frames) = (t.truth.spans.len() as u64, t.records.len() as u32 + 2);
    t.records.push(records::loss(t.now, spans));
    t.records.push(records::clock(t.now));
    t.records.push(records::end(t.now, spans, frames));
    Sent { records: t.records, truth: t.truth }
}

impl Writer {
    fn tids(&self) -> std::ops::Range<u32> {
        PID..PID + self.size.threads
    }

    fn pass(&mut self, most: u64) -> u64 {
        self.now += 1 + self.random.below(most);
        self.now
    }

    fn text(&mut self, s: &str) -> u32 {
        if let Some(i) = self.texts.iter().position(|t| t == s) {
            return i as u32;
        }
        let id = self.texts.len() as u32;
        self.texts.push(s.to_owned());
        self.records.push(records::text(id, s));
        id
    }

    fn decode(&mut self, n: u32) {
        let tokens: &[u32] = if n == 0 { &[5, 3] } else { &[1] };
        let start = self.pass(5_000);
        for part in tokens {
            self.scheduler(n + 1, start, *part);
        }
        let d = Decode {
            start,
            duration: self.pass(2_000) - start,
            tid: PID,
            context: CONTEXT + u64::from(n % 2) * 16,
            n_tokens: tokens.iter().sum(),
            status: if n == 3 { -2 } else { 0 },
        };
        let told = if self.random.once_in(2) { Some(d.n_tokens) } else { None };
        self.records.push(records::decode(n + 1, PID, &d, told));
        self.truth.llama_calls.push(d);
        if n % 3 == 2 {
            let spans = self.truth.spans.len() as u64;
            self.records.push(records::loss(self.now, spans));
        }
    }

    fn scheduler(&mut self, decode: u32, decode_start: u64, n_tokens: u32) {
        self.graph_ids += 1;
        let id = self.graph_ids;
        let start = self.pass(3_000);
        let row = self.truth.calls.len();
        let mut call = Call {
            start,
            duration: 0,
            scheduler: true,
            topology: None,
            n_nodes: self.size.nodes,
            n_tokens,
            tid: PID,
            decode: Some(decode_start),
            parent: None,
        };
        self.truth.calls.push(call.clone());
        for split in 0..=u64::from(decode % 2) {
            self.backend(decode, decode_start, (id, start), n_tokens, split);
        }
        call.duration = self.pass(1_000) - start;
        self.truth.calls[row] = call.clone();
        let ids = CallIds { id, pid: PID, topology: 0, backend: 0, decode, parent: 0 };
        self.records.push(records::graph_call(ids, &call));
    }

    fn backend(&mut self, decode: u32, decode_start: u64, parent: (u32, u64), n_tokens: u32, split: u64) {
        self.graph_ids += 1;
        let id = self.graph_ids;
        let backend = self.text("CPU");
        let topology = self.topology(n_tokens, split);
        let start = self.pass(800);
        let mut end = start;
        let mut batches = Vec::new();
        for tid in self.tids() {
            let spans = self.spans(start, tid, topology);
            end = end.max(spans.last().map_or(0, |s| s.start + s.work));
            batches.push(spans);
        }
        self.now = end;
        let end = self.pass(700);
        let call = Call {
            start,
            duration: end - start,
            scheduler: false,
            topology: Some(topology),
            n_nodes: self.truth.topologies[topology].n_nodes,
            n_tokens,
            tid: PID,
            decode: Some(decode_start),
            parent: Some(parent.1),
        };
        let wire_topology = topology as u32 + 1;
        let ids = CallIds { id, pid: PID, topology: wire_topology, backend, decode, parent: parent.0 };
        let told = records::graph_call(ids, &call);
        self.truth.calls.push(call);
        let mut told = Some(told);
        for mut spans in batches {
            if let Some(last) = spans.last_mut() {
                last.wait = end - last.start - last.work;
            }
            // A batch may come before its call, and a thread's spans in several.
            if told.is_some() && self.random.once_in(2) {
                self.records.extend(told.take());
            }
            let mut rest = &spans[..];
            while !rest.is_empty() {
                // A frame has space for 200 of any spans.
                let n = 1 + self.random.below(rest.len().min(200) as u64) as usize;
                let cpu = if self.random.once_in(2) { rest[0].cpu } else { 0 };
                // The codings alternate by call.
                self.records.push(match id % 2 {
                    0 => records::span_batch(id, wire_topology, rest[0].tid, cpu, &rest[..n]),
                    _ => predicted_batch((id, wire_topology, rest[0].tid), cpu, PERIOD, &rest[..n]),
                });
                rest = &rest[n..];
            }
            self.truth.spans.extend(spans);
        }
        self.records.extend(told);
    }

    /// Views are not run; some nodes are run together with the next one or two.
    fn spans(&mut self, call_start: u64, tid: u32, topology: usize) -> Vec<Span> {
        let n_nodes = self.truth.topologies[topology].n_nodes;
        let mut spans: Vec<Span> = Vec::new();
        let mut now = call_start + self.random.below(400);
        let mut node = 0;
        let mut cpu = (tid - PID) as u16;
        while node < n_nodes {
            if is_view(node) && !self.size.views_run {
                node += 1;
                continue;
            }
            let fused = if self.random.once_in(5) { 1 + self.random.below(2) as u32 } else { 0 };
            let last = (node + fused).min(n_nodes - 1);
            let mut migrated = self.random.once_in(9);
            if migrated {
                migrated = !self.random.once_in(4);
                cpu = if migrated { self.random.below(300) as u16 } else { u16::MAX };
            }
            migrated &= cpu != u16::MAX;
            let work = self.random.below(100_000);
            let wait = self.random.below(3_000);
            spans.push(Span { call_start, tid, node, last, start: now, work, wait, cpu, migrated });
            now += work + wait;
            node = last + 1;
        }
        spans
    }

    /// The topology for a batch of this many tokens, sent when it is new.
    fn topology(&mut self, n_tokens: u32, split: u64) -> usize {
        let made = topology(self.size.nodes, n_tokens, split);
        if let Some(i) = self.truth.topologies.iter().position(|s| *s == made) {
            return i;
        }
        let at = self.truth.topologies.len();
        let id = at as u32 + 1;
        for t in &made.tensors {
            for s in [t.name.as_str(), t.op, t.dtype] {
                self.text(s);
            }
        }
        self.records.push(records::topology(id, PID, &made));
        let mut first = 0;
        while first < made.tensors.len() {
            let n = (1 + self.random.below(7) as usize).min(made.tensors.len() - first);
            let ids = |s: &str| self.texts.iter().position(|t| t == s).map_or(0, |i| i as u32);
            let part = &made.tensors[first..first + n];
            // The codings alternate by topology. Parts contain the period only now and then.
            self.records.push(match id % 2 {
                0 => records::tensors(id, first as u32, part, &ids),
                _ => {
                    let numbers: Vec<Vec<u64>> = part.iter().map(|t| records::numbers(t, &ids)).collect();
                    tensor_batch((id, first as u32), 2, &numbers)
                }
            });
            first += n;
        }
        if at == 0 {
            self.records.push(records::buffer(1, PID, "CPU_Mapped", 1, "/models/m.gguf"));
        }
        self.records.push(records::placement_batch(id, &[(made.n_nodes, 1)]));
        self.truth.topologies.push(made);
        at
    }
}

/// The operators below, with one VIEW in six nodes and several in a row.
fn is_view(node: u32) -> bool {
    matches!(node % 24, 5 | 10 | 11 | 12 | 20)
}

fn topology(nodes: u32, n_tokens: u32, split: u64) -> Topology {
    let n_nodes = nodes - split as u32;
    let node = |i: u32| Tensor {
        name: format!("node-{split}-{i}"),
        op: if is_view(i) { "VIEW" } else { ["MUL_MAT", "ADD", "RMS_NORM"][i as usize % 3] },
        dtype: "f32",
        role: 0,
        ne: [64, n_tokens.into(), 1, 1],
        bytes: 256 * u64::from(n_tokens),
        view_of: is_view(i).then(|| i - 1),
        src: if i == 0 { vec![(0, n_nodes)] } else { vec![(0, i - 1), (2, n_nodes + i % 2)] },
    };
    let leaf = |i: u32| Tensor {
        name: format!("blk.{i}.weight \"µ\""),
        op: "NONE",
        dtype: "q4_K",
        role: 1 + u64::from(i) * 2,
        ne: [64, 64, 1, 1],
        bytes: 2304,
        view_of: None,
        src: Vec::new(),
    };
    Topology { n_nodes, tensors: (0..n_nodes).map(node).chain((0..2).map(leaf)).collect() }
}
