//! The large records of the session: tensors of a topology, and operator spans in both codings.

use profinfer_wire::counts::Counted;
use profinfer_wire::predicted::{Encoder, Memory, UNKNOWN};
use profinfer_wire::record::Record;
use profinfer_wire::record::graph::{MAX_SRC, Role, Tensor, Tensors};
use profinfer_wire::record::op::{PredictedBatch, SpanBatch};
use profinfer_wire::span::{Cursor, Span};

use crate::random::Random;
use crate::session::Sent;

/// Number of nodes after which a layer repeats.
const PERIOD: u16 = 6;

/// Tensors in one part, as many as fit a frame in any case.
const IN_A_PART: u32 = 16;

pub(crate) fn tensors(sent: &mut Sent, topology: u32, nodes: u32, random: &mut Random) {
    let mut first = 0;
    while first < nodes {
        let count = IN_A_PART.min(nodes - first);
        let mut bytes = Vec::new();
        for node in first..first + count {
            let mut src = [0; MAX_SRC];
            // The node before; index plus 1.
            src[0] = node;
            let tensor = Tensor {
                name: 1,
                op: 1,
                desc: 1,
                dtype: 2,
                role: Role::Node,
                ne: [64, 1, 1, 1],
                bytes: 256,
                address: 0x7f00_0000_0000 + random.next() % (1 << 20),
                data: 0x7f10_0000_0000,
                view_of: 0,
                src,
            };
            bytes.extend_from_slice(&packed(&tensor));
        }
        let count = u16::try_from(count).unwrap_or(0);
        sent.add(&Record::Tensors(Tensors { topology, first, count, bytes: &bytes }), 0);
        first += u32::from(count);
    }
}

/// The numbers of a tensor as varints, in the order of its fields.
fn packed(t: &Tensor) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |mut n: u64| {
        while n > 0x7f {
            bytes.push((n & 0x7f) as u8 | 0x80);
            n >>= 7;
        }
        bytes.push(n as u8);
    };
    [t.name, t.op, t.desc, t.dtype].map(u64::from).into_iter().for_each(&mut put);
    put(0); // a node
    t.ne.into_iter().chain([t.bytes, t.address, t.data, t.view_of.into()]).for_each(&mut put);
    t.src.into_iter().map(u64::from).for_each(&mut put);
    bytes
}

/// The spans of one thread in one graph call, in batches of any size; returns the end of the last
/// one.
pub(crate) fn batches(
    sent: &mut Sent,
    (graph, topology, tid): (u32, u32, u32),
    begun: u64,
    nodes: u32,
    random: &mut Random,
) -> u64 {
    let mut at = begun + random.next() % 300;
    let mut all = Vec::new();
    for node in 0..nodes {
        let work_ns = random.next() % 60_000;
        let cpu = u16::try_from(tid % 8).unwrap_or(0);
        all.push(Span { node, last_node: node, start_ns: at, work_ns, cpu, migrated: random.once_in(40) });
        at += work_ns + random.next() % 900;
    }
    let mut rest = &all[..];
    while let Some(head) = rest.first() {
        let n = (1 + random.below(rest.len())).min(200);
        let count = u16::try_from(n).unwrap_or(0);
        let (base_ns, cpu) = (head.start_ns, head.cpu);
        if random.once_in(2) {
            let bytes = plain(&rest[..n], base_ns, cpu);
            let batch = SpanBatch { graph, topology, tid, base_ns, cpu, count, bytes: &bytes };
            sent.add(&Record::SpanBatch(batch), count.into());
        } else {
            let bytes = predicted(&rest[..n], base_ns, cpu);
            let (period, counted) = (PERIOD, false);
            let batch =
                PredictedBatch { graph, topology, tid, base_ns, cpu, count, period, counted, bytes: &bytes };
            sent.add(&Record::PredictedBatch(batch), count.into());
        }
        rest = &rest[n..];
    }
    at
}

fn plain(spans: &[Span], base_ns: u64, cpu: u16) -> Vec<u8> {
    let (mut cursor, mut bytes, mut at) = (Cursor::new(base_ns, cpu), vec![0; 4000], 0);
    for span in spans {
        at = cursor.encode(span, &mut bytes, at).expect("200 spans have room");
    }
    bytes.truncate(at);
    bytes
}

fn predicted(spans: &[Span], base_ns: u64, cpu: u16) -> Vec<u8> {
    let mut usually = [UNKNOWN; PERIOD as usize];
    let mut memory = Memory::new(&mut usually, &mut []).expect("a period within bounds");
    let (mut encoder, mut bytes) = (Encoder::new(base_ns, cpu, &memory), vec![0; 4000]);
    for span in spans {
        assert!(encoder.encode(span, &Counted::default(), &mut memory, &mut bytes), "200 spans have room");
    }
    let len = encoder.finish(&mut bytes);
    bytes.truncate(len);
    bytes
}
