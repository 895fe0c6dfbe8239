//! The examples of predicted spans.

use profinfer_wire::counts::Counted;
use profinfer_wire::predicted::{self, Encoder, UNKNOWN, UNKNOWN_COUNTS};
use profinfer_wire::record::Record;
use profinfer_wire::record::op::PredictedBatch;
use profinfer_wire::span::Span;

use super::counter::counted;
use super::op::spans;

/// The spans of the worked example in a graph that repeats after two nodes, and two more that are
/// as expected.
pub(super) struct Predicted;

impl Predicted {
    pub(super) fn rows() -> impl Iterator<Item = (Span, Counted)> {
        let [.., last] = spans();
        let span = |node: u32, start_ns, work_ns| Span { node, last_node: node, start_ns, work_ns, ..last };
        let more = [span(15, 1_016_600, 260), span(21, 1_017_200, 2_260)];
        let usual = counted()[0];
        spans().into_iter().zip(counted()).chain(more.map(|span| (span, usual)))
    }

    pub(super) fn packed(counted: bool) -> Vec<u8> {
        let (mut usually, mut counts) = ([UNKNOWN; 2], [UNKNOWN_COUNTS; 2]);
        let counts = &mut counts[..if counted { 2 } else { 0 }];
        let mut memory = predicted::Memory::new(&mut usually, counts).expect("a period in bounds");
        let (mut bytes, mut encoder) = ([0; 2048], Encoder::new(1_000_000, 1, &memory));
        for (span, counted) in Self::rows() {
            assert!(encoder.encode(&span, &counted, &mut memory, &mut bytes));
        }
        let len = encoder.finish(&mut bytes);
        bytes[..len].to_vec()
    }

    pub(super) fn batch<'a>(bytes: &'a [u8], counted: bool) -> PredictedBatch<'a> {
        let (graph, topology, tid, base_ns, cpu, count) = (2, 1, 43, 1_000_000, 1, 6);
        PredictedBatch { graph, topology, tid, base_ns, cpu, count, period: 2, counted, bytes }
    }
}

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    check("predicted batch", &Record::PredictedBatch(Predicted::batch(&Predicted::packed(false), false)));
    let counted = Predicted::packed(true);
    check("predicted batch with counts", &Record::PredictedBatch(Predicted::batch(&counted, true)));
}
