//! The accumulator, frames and records, fed with any bytes.
//!
//! Two ways, because no mutation finds a checksum by chance: the input as a stream, and the input as the payload
//! of a frame that is made well. Checked: no panic; every byte of the stream is in a frame, in damage, a zero on
//! its own, or pending; pieces of any size find the same; a record that was decoded is the same record when it is
//! encoded and decoded again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::frame::{Frame, MAX_PAYLOAD};
use profinfer_wire::predicted::{MAX_PERIOD, UNKNOWN, UNKNOWN_COUNTS};
use profinfer_wire::record::Record;
use profinfer_wire::tensors::NO_TENSOR;

/// What was found, in a form that can be compared.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Frame(u16, u32, Vec<u8>),
    Damage(u64),
}

/// Feeds the stream in pieces of `size` bytes.
fn found(stream: &[u8], size: usize) -> (Vec<Seen>, u64) {
    let mut accumulator = Accumulator::new();
    let mut all = Vec::new();
    for mut piece in stream.chunks(size.max(1)) {
        while !piece.is_empty() {
            all.extend(accumulator.feed(&mut piece).map(|found| match found {
                Found::Frame(f) => Seen::Frame(f.kind, f.seq, f.payload.to_vec()),
                Found::Damage(d) => Seen::Damage(d.bytes),
            }));
        }
    }
    (all, accumulator.pending())
}

fn check_stream(stream: &[u8], size: usize) {
    let (whole, pending) = found(stream, stream.len());
    assert_eq!((&whole, pending), (&found(stream, size).0, found(stream, size).1));
    // The same cuts by the standard library: each run of bytes that a zero ends is one frame or one damage.
    let mut chunks: Vec<&[u8]> = stream.split(|b| *b == 0).collect();
    let tail = chunks.pop().map_or(0, <[u8]>::len);
    chunks.retain(|chunk| !chunk.is_empty());
    assert_eq!((whole.len(), pending), (chunks.len(), tail as u64));
    for (seen, chunk) in whole.iter().zip(chunks) {
        match seen {
            Seen::Damage(bytes) => assert_eq!(*bytes, chunk.len() as u64 + 1),
            Seen::Frame(_, _, payload) => assert!(payload.len() < chunk.len()),
        }
    }
    for seen in &whole {
        if let Seen::Frame(kind, seq, payload) = seen {
            check_record(&Frame { kind: *kind, seq: *seq, payload });
        }
    }
}

fn check_record(frame: &Frame<'_>) {
    let Ok(record) = Record::decode(frame) else { return };
    match &record {
        Record::SpanBatch(b) => b.spans().for_each(drop),
        Record::CountedBatch(b) => {
            b.spans().for_each(drop);
            b.counts().for_each(drop);
        }
        Record::PredictedBatch(b) => {
            let (mut usually, mut counts) = ([UNKNOWN; MAX_PERIOD as usize], [UNKNOWN_COUNTS; MAX_PERIOD as usize]);
            b.spans(&mut usually, &mut counts).for_each(drop);
        }
        Record::TensorBatch(b) => {
            let mut tensors = vec![NO_TENSOR; b.most()];
            assert!(b.decode(&mut tensors) <= tensors.len());
        }
        Record::ExpertBatch(b) => b.runs().for_each(drop),
        Record::GaugeBatch(b) => b.samples().for_each(drop),
        Record::NestedBatch(b) => b.iter().for_each(drop),
        Record::PlacementBatch(b) => b.placements().for_each(drop),
        Record::Tensors(b) => b.iter().for_each(drop),
        _ => {}
    }
    let mut buffer = [0; MAX_PAYLOAD];
    let payload = record.encode(&mut buffer).expect("a record that was decoded fits");
    assert_eq!(Record::decode(&Frame { payload, ..*frame }).as_ref(), Ok(&record));
}

fuzz_target!(|data: &[u8]| {
    let [size, kind_low, kind_high, rest @ ..] = data else { return };
    check_stream(rest, usize::from(*size));
    let payload = &rest[..rest.len().min(MAX_PAYLOAD)];
    check_record(&Frame { kind: u16::from_le_bytes([*kind_low, *kind_high]), seq: 0, payload });
});
