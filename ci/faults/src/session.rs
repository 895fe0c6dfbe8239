//! A small session in the agent's order, by the agent's own encoder: the sent frames.

use profinfer_wire::WIRE_VERSION;
use profinfer_wire::frame::{MAX_ENCODED, MAX_PAYLOAD};
use profinfer_wire::hello::Hello;
use profinfer_wire::record::Record;
use profinfer_wire::record::clock::Clock;
use profinfer_wire::record::control::level;
use profinfer_wire::record::graph::{GraphCall, Topology, layer};
use profinfer_wire::record::loss::{End, EndReason, Loss};
use profinfer_wire::record::session::{Process, Session, Text, Thread};
use profinfer_wire::record::token::Decode;

use crate::random::Random;
use crate::spans;

/// Process and first thread of the engine.
const PID: u32 = 700;

/// One frame that was sent.
#[derive(Debug)]
pub(crate) struct SentFrame {
    pub(crate) kind: u16,
    pub(crate) payload: Vec<u8>,
    /// As in the stream, its ending zero included.
    pub(crate) encoded: Vec<u8>,
    /// Operator spans in it.
    pub(crate) spans: u64,
}

/// A session: its hello, and its frames in the order of their numbers.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) hello: Vec<u8>,
    pub(crate) frames: Vec<SentFrame>,
}

impl Sent {
    /// Operator spans in all frames.
    pub(crate) fn spans(&self) -> u64 {
        self.frames.iter().map(|f| f.spans).sum()
    }

    /// The complete stream. On a serial line a zero byte also precedes every frame.
    pub(crate) fn stream(&self) -> Vec<u8> {
        let mut bytes = self.hello.clone();
        self.frames.iter().for_each(|f| bytes.extend_from_slice(&f.encoded));
        bytes
    }

    /// Adds a record with this number of spans.
    pub(crate) fn add(&mut self, record: &Record<'_>, spans: u64) {
        let (mut payload, mut encoded) = ([0; MAX_PAYLOAD], [0; MAX_ENCODED]);
        let payload = record.encode(&mut payload).expect("records of this session are short");
        let (kind, seq) = (record.kind(), u32::try_from(self.frames.len()).expect("a small session"));
        let encoded = record.encode_frame(seq, &mut encoded).expect("a payload fits into a frame");
        let (payload, encoded) = (payload.to_vec(), encoded.to_vec());
        self.frames.push(SentFrame { kind, payload, encoded, spans });
    }

    fn totals(&self, at_ns: u64) -> Loss {
        let spans = self.spans();
        Loss { at_ns, span_starts: spans, span_ends: spans, spans_sent: spans, ..Loss::default() }
    }
}

/// The session of a seed: two to four threads, one or two topologies, a few decode calls with graph
/// calls in them.
pub(crate) fn session(random: &mut Random) -> Sent {
    let mut nonce = [0; 16];
    nonce[..8].copy_from_slice(&random.next().to_le_bytes());
    let hello = Hello { wire_version: WIRE_VERSION, agent_version: [0, 1, 0], build: [0; 8], nonce };
    let mut sent = Sent { hello: hello.to_bytes().to_vec(), frames: Vec::new() };
    let mut now = 1_000_000_000;
    sent.add(
        &Record::Session(Session {
            wire_version: WIRE_VERSION,
            agent: "0.1.0",
            kernel: "6.1.0\n\r",
            machine: "aarch64",
            cpu_model: "Cortex-A76",
            board: "generic",
            cpus: 8,
            levels: level::TOKEN | level::GRAPH | level::OP,
            start_ns: now,
            start_unix_ns: 1_700_000_000_000_000_000,
        }),
        0,
    );
    // Line ends in texts, so that a link that rewrites them has something to change.
    sent.add(
        &Record::Process(Process {
            pid: PID,
            name: "llama-cli",
            command: "llama-cli\n-m\r\nm.gguf",
            engine_version: "",
        }),
        0,
    );
    let threads = 2 + u32::try_from(random.below(3)).unwrap_or(0);
    for tid in PID..PID + threads {
        sent.add(&Record::Thread(Thread { tid, pid: PID, name: "worker" }), 0);
    }
    for (id, text) in [(1, "MUL_MAT"), (2, "f32"), (3, "CPU")] {
        sent.add(&Record::Text(Text { id, text }), 0);
    }
    let nodes = 6 + u32::try_from(random.below(60)).unwrap_or(0);
    let topologies = 1 + u32::try_from(random.below(2)).unwrap_or(0);
    for id in 1..=topologies {
        sent.add(&Record::Topology(Topology { id, pid: PID, n_nodes: nodes, n_leafs: 0 }), 0);
        spans::tensors(&mut sent, id, nodes, random);
    }
    let calls = 2 + u32::try_from(random.below(8)).unwrap_or(0);
    for id in 1..=calls {
        let (begun, graph, topology) = (now, id, 1 + id % topologies);
        for tid in PID..PID + threads {
            let end = spans::batches(&mut sent, (graph, topology, tid), begun, nodes, random);
            now = now.max(end);
        }
        now += 1000;
        sent.add(
            &Record::GraphCall(GraphCall {
                id: graph,
                topology,
                pid: PID,
                tid: PID,
                layer: layer::BACKEND,
                backend: 3,
                n_nodes: nodes,
                n_tokens: 1,
                decode: id,
                parent: 0,
                start_ns: begun,
                duration_ns: now - begun,
            }),
            0,
        );
        now += 1000;
        let (start_ns, duration_ns) = (begun.saturating_sub(500), now - begun);
        sent.add(
            &Record::Decode(Decode {
                id,
                pid: PID,
                tid: PID,
                function: 0,
                context: 0x5500_0000,
                start_ns,
                duration_ns,
                n_tokens: Some(1),
                status: 0,
            }),
            0,
        );
        if random.once_in(3) {
            let totals = sent.totals(now);
            sent.add(&Record::Loss(totals), 0);
            sent.add(&Record::Clock(Clock { monotonic_ns: now, boottime_ns: now, realtime_ns: now }), 0);
        }
        now += 2000;
    }
    let (loss, frames) = (sent.totals(now), u32::try_from(sent.frames.len()).unwrap_or(0));
    sent.add(
        &Record::End(End {
            reason: EndReason::EngineEnded,
            frames,
            loss,
            bpf_run_ns: 0,
            bpf_runs: 0,
            agent_cpu_ns: 1,
            agent_rss_bytes: 4096,
        }),
        0,
    );
    sent
}
