//! Records: a decoded record survives encoding and decoding, and iteration over its items ends.

use profinfer_wire::frame::{Frame, MAX_PAYLOAD};
use profinfer_wire::predicted::{MAX_PERIOD, UNKNOWN, UNKNOWN_COUNTS};
use profinfer_wire::record::Record;
use profinfer_wire::tensors::NO_TENSOR;

/// First two bytes: the kind. The rest: the payload.
pub fn records(bytes: &[u8]) {
    let [low, high, payload @ ..] = bytes else { return };
    let payload = payload.get(..MAX_PAYLOAD).unwrap_or(payload);
    check_record(&Frame { kind: u16::from_le_bytes([*low, *high]), seq: 0, payload });
}

/// Decodes a frame's record and encodes it again.
pub(crate) fn check_record(frame: &Frame<'_>) {
    let Ok(record) = Record::decode(frame) else { return };
    match &record {
        Record::SpanBatch(b) => b.spans().for_each(drop),
        Record::CountedBatch(b) => {
            b.spans().for_each(drop);
            b.counts().for_each(drop);
        }
        Record::PredictedBatch(b) => {
            let period = usize::from(b.period.min(MAX_PERIOD));
            let (mut usually, mut counts) = (vec![UNKNOWN; period], vec![UNKNOWN_COUNTS; period]);
            b.spans(&mut usually, &mut counts).for_each(drop);
        }
        Record::TensorBatch(b) => {
            let mut tensors = vec![NO_TENSOR; b.most()];
            assert!(b.decode(&mut tensors) <= tensors.len());
        }
        Record::ExpertBatch(b) => b.runs().for_each(|run| run.experts().for_each(drop)),
        Record::PartBatch(b) => b.parts().for_each(drop),
        Record::GaugeBatch(b) => b.samples().for_each(drop),
        Record::NestedBatch(b) => b.iter().for_each(drop),
        Record::PlacementBatch(b) => b.placements().for_each(drop),
        Record::SchedBatch(b) => b.events().for_each(drop),
        Record::InterruptBatch(b) => b.interrupts().for_each(drop),
        Record::CpuUseBatch(b) => b.uses().for_each(drop),
        Record::Tensors(b) => b.iter().for_each(drop),
        _ => {}
    }
    let mut buffer = [0; MAX_PAYLOAD];
    let payload = record.encode(&mut buffer).expect("a record that was decoded fits");
    assert_eq!(Record::decode(&Frame { payload, ..*frame }).as_ref(), Ok(&record), "another record");
}
