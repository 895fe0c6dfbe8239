//! Prints the size of each kind of record in a recording, and the size of its spans in each coding
//! of the wire.
//!
//! `cargo run -p profinfer-wire --example bench_wire RECORDING...`
//!
//! The example encodes the recording's spans again, thread by thread and call by call, in the
//! coding of 0.1.0 (kinds 0x30 and 0x31) and in the predicted one (0x32). It therefore compares
//! exactly the same spans.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::counts::{Counted, MAX_COUNTED_LEN};
use profinfer_wire::frame::{MAX_ENCODED, MAX_PAYLOAD};
use profinfer_wire::hello::HELLO_LEN;
use profinfer_wire::predicted::{Encoder, Memory, UNKNOWN, UNKNOWN_COUNTS, UsualCounts, Usually, period};
use profinfer_wire::record::Record;
use profinfer_wire::record::counter::CountedBatch;
use profinfer_wire::record::graph::Tensor;
use profinfer_wire::record::op::{PredictedBatch, SpanBatch};
use profinfer_wire::span::{Cursor, MAX_SPAN_LEN, Span};
use profinfer_wire::tensors::NO_TENSOR;

/// Space for the packed spans of one record.
const SPACE: usize = MAX_PAYLOAD - 64;

/// The spans of one thread in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Of {
    graph: u32,
    tid: u32,
    topology: u32,
}

#[derive(Default)]
struct Recording {
    /// By kind: records and bytes.
    kinds: BTreeMap<u16, (u64, u64)>,
    bytes: u64,
    spans: BTreeMap<Of, Vec<(Span, Counted)>>,
    counted: bool,
    nodes: HashMap<u32, u32>,
    tensors: HashMap<u32, BTreeMap<u32, Tensor>>,
    damage: u64,
}

impl Recording {
    fn record(
        &mut self,
        bytes: u64,
        record: &Record<'_>,
        usually: &mut [Usually],
        counts: &mut [UsualCounts],
    ) {
        let kind = self.kinds.entry(record.kind()).or_default();
        *kind = (kind.0 + 1, kind.1 + bytes);
        match record {
            Record::Topology(r) => {
                self.nodes.insert(r.id, r.n_nodes);
            }
            Record::Tensors(r) => {
                self.tensors.entry(r.topology).or_default().extend((r.first..).zip(r.iter()))
            }
            Record::TensorBatch(r) => {
                let mut part = vec![NO_TENSOR; r.most()];
                let n = r.decode(&mut part);
                self.tensors.entry(r.topology).or_default().extend((r.first..).zip(part).take(n));
            }
            Record::SpanBatch(b) => {
                let rows = b.spans().map(|s| (s, Counted::default()));
                self.of(b.graph, b.tid, b.topology).extend(rows);
            }
            Record::CountedBatch(b) => {
                self.counted = true;
                self.of(b.graph, b.tid, b.topology).extend(b.spans().zip(b.counts()));
            }
            Record::PredictedBatch(b) => {
                self.counted |= b.counted;
                let rows = self.of(b.graph, b.tid, b.topology);
                let mut spans = b.spans(usually, counts);
                while let Some(span) = spans.next() {
                    rows.push((span, spans.counted));
                }
            }
            _ => {}
        }
    }

    fn of(&mut self, graph: u32, tid: u32, topology: u32) -> &mut Vec<(Span, Counted)> {
        self.spans.entry(Of { graph, tid, topology }).or_default()
    }

    /// The period of a topology, computed from its nodes.
    fn period(&self, topology: u32) -> u16 {
        let n_nodes = self.nodes.get(&topology).copied().unwrap_or(0);
        let kind = |t: &Tensor| {
            let mut hasher = DefaultHasher::new();
            (t.op, t.desc, t.dtype, t.ne).hash(&mut hasher);
            hasher.finish()
        };
        let tensors = self.tensors.get(&topology);
        let nodes: Vec<u64> = tensors.iter().flat_map(|t| t.range(..n_nodes)).map(|(_, t)| kind(t)).collect();
        period(&nodes)
    }
}

/// Bytes of the frame of a record.
fn framed(record: &Record<'_>) -> u64 {
    record.encode_frame(1 << 20, &mut [0; MAX_ENCODED]).map_or(0, |frame| frame.len() as u64)
}

/// Bytes of spans in the coding of 0.1.0.
fn differences(of: Of, rows: &[(Span, Counted)], counted: bool) -> u64 {
    let (mut bytes, mut counts) = ([0; SPACE], [0; SPACE]);
    let mut total = 0;
    let mut rest = rows;
    while let Some((first, _)) = rest.first() {
        let (mut cursor, mut len, mut counts_len, mut n) = (Cursor::new(first.start_ns, first.cpu), 0, 0, 0);
        for (span, counted) in rest {
            let full = len + counts_len + MAX_SPAN_LEN + MAX_COUNTED_LEN > SPACE;
            let Some(to) = cursor.encode(span, &mut bytes, len).filter(|_| !full) else { break };
            len = to;
            counts_len = counted.encode(&mut counts, counts_len).unwrap_or(counts_len);
            n += 1;
        }
        let (Of { graph, topology, tid }, base_ns, cpu, count) = (of, first.start_ns, first.cpu, n as u16);
        let (bytes, counts) = (&bytes[..len], &counts[..counts_len]);
        total += framed(&match counted {
            true => Record::CountedBatch(CountedBatch {
                graph,
                topology,
                tid,
                base_ns,
                cpu,
                count,
                bytes,
                counts,
            }),
            false => Record::SpanBatch(SpanBatch { graph, topology, tid, base_ns, cpu, count, bytes }),
        });
        rest = &rest[n.max(1)..];
    }
    total
}

/// Bytes of spans in the predicted coding.
fn predicted(of: Of, rows: &[(Span, Counted)], counted: bool, period: u16) -> u64 {
    let mut bytes = [0; SPACE];
    let mut usually = vec![UNKNOWN; period.into()];
    let mut counts = vec![UNKNOWN_COUNTS; if counted { period.into() } else { 0 }];
    let mut total = 0;
    let mut rest = rows;
    while let Some((first, _)) = rest.first() {
        let Some(mut memory) = Memory::new(&mut usually, &mut counts) else { break };
        memory.forget();
        let mut encoder = Encoder::new(first.start_ns, first.cpu, &memory);
        let n = rest.iter().take_while(|(s, c)| encoder.encode(s, c, &mut memory, &mut bytes)).count();
        let len = encoder.finish(&mut bytes);
        total += framed(&Record::PredictedBatch(PredictedBatch {
            graph: of.graph,
            topology: of.topology,
            tid: of.tid,
            base_ns: first.start_ns,
            cpu: first.cpu,
            count: n as u16,
            period,
            counted,
            bytes: &bytes[..len],
        }));
        rest = &rest[n.max(1)..];
    }
    total
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut usually, mut counts) = (vec![UNKNOWN; 512], vec![UNKNOWN_COUNTS; 512]);
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        let mut all = Recording { bytes: bytes.len() as u64, ..Recording::default() };
        let mut rest = bytes.get(HELLO_LEN..).unwrap_or_default();
        let mut accumulator = Accumulator::new();
        while !rest.is_empty() {
            let before = rest.len();
            let found = accumulator.feed(&mut rest);
            let len = (before - rest.len()) as u64;
            match found {
                Some(Found::Frame(frame)) => match Record::decode(&frame) {
                    Ok(record) => all.record(len, &record, &mut usually, &mut counts),
                    Err(_) => all.damage += 1,
                },
                Some(Found::Damage(_)) => all.damage += 1,
                None => {}
            }
        }

        let spans: usize = all.spans.values().map(Vec::len).sum();
        let each = |bytes: u64| bytes as f64 / spans.max(1) as f64;
        println!("{path}: {spans} spans, {} bytes, {} damages", all.bytes, all.damage);
        for (kind, (n, bytes)) in &all.kinds {
            println!("  {kind:#06x} {n:8} records {bytes:10} bytes {:9.4} a span", each(*bytes));
        }
        println!("  all    {:35} bytes {:9.4} a span", all.bytes, each(all.bytes));
        let is = |kind: &u16| all.kinds.get(kind).map_or(0, |(_, bytes)| *bytes);
        let rest = all.bytes - [0x30, 0x31, 0x32].iter().map(is).sum::<u64>();
        let periods: BTreeMap<u32, u16> =
            all.spans.keys().map(|of| (of.topology, all.period(of.topology))).collect();
        let old: u64 = all.spans.iter().map(|(of, rows)| differences(*of, rows, all.counted)).sum();
        let new: u64 =
            all.spans.iter().map(|(of, rows)| predicted(*of, rows, all.counted, periods[&of.topology])).sum();
        println!("  topologies and their periods: {periods:?}");
        println!("  as differences: {:7.4} a span, with all else {:7.4}", each(old), each(old + rest));
        println!("  predicted:      {:7.4} a span, with all else {:7.4}", each(new), each(new + rest));
    }
    Ok(())
}
