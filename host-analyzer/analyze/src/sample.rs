//! A recording for tests of `watch`: the published one, with the agent's totals after every call. A
//! longer session has totals every second.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use profinfer_wire::frame::{Frame, MAX_ENCODED, MAX_PAYLOAD, decode, encode};
use profinfer_wire::hello::HELLO_LEN;
use profinfer_wire::record::Record;
use profinfer_wire::record::loss::Loss;

const DEMO: &[u8] = include_bytes!("../../tests/data/demo.pfi");

pub(crate) fn stream() -> Vec<u8> {
    written(false)
}

/// The same without the first frame with spans after the first call: it was lost on the way.
pub(crate) fn stream_with_a_loss() -> Vec<u8> {
    written(true)
}

fn written(mut lose: bool) -> Vec<u8> {
    let mut called = false;
    let totals = frames().iter().find_map(|(kind, payload)| {
        let record = Record::decode(&Frame { kind: *kind, seq: 0, payload });
        record.ok().and_then(|r| if let Record::End(end) = r { Some(end.loss) } else { None })
    });
    let totals = Record::Loss(Loss { ..totals.unwrap() });
    let mut out = Numbered { bytes: DEMO[..HELLO_LEN].to_vec(), seq: 0 };
    for (kind, payload) in frames() {
        let record = Record::decode(&Frame { kind, seq: 0, payload: &payload }).unwrap();
        let spans =
            matches!(record, Record::SpanBatch(_) | Record::CountedBatch(_) | Record::PredictedBatch(_));
        if called && spans && std::mem::take(&mut lose) {
            out.seq += 1;
            continue;
        }
        out.add(kind, &payload);
        if matches!(record, Record::Decode(_)) {
            called = true;
            out.add(totals.kind(), totals.encode(&mut [0; MAX_PAYLOAD]).unwrap());
        }
    }
    assert!(!lose, "it has no spans behind a call");
    out.bytes
}

/// A stream whose frames are numbered as they are written.
pub(crate) struct Numbered {
    pub(crate) bytes: Vec<u8>,
    pub(crate) seq: u32,
}

impl Numbered {
    pub(crate) fn add(&mut self, kind: u16, payload: &[u8]) {
        let mut encoded = [0; MAX_ENCODED];
        let len = encode(&Frame { kind, seq: self.seq, payload }, &mut encoded).unwrap();
        self.seq += 1;
        self.bytes.extend_from_slice(&encoded[..len]);
    }
}

/// Kind and payload of every frame.
pub(crate) fn frames() -> Vec<(u16, Vec<u8>)> {
    let parts = DEMO[HELLO_LEN..].split(|b| *b == 0).filter(|p| !p.is_empty());
    let own = |part: &[u8]| {
        let mut chunk = part.to_vec();
        let Frame { kind, payload, .. } = decode(&mut chunk).unwrap();
        (kind, payload.to_vec())
    };
    parts.map(own).collect()
}
