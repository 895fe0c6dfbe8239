//! The examples of spans in the coding that is only read.

use profinfer_wire::record::Record;
use profinfer_wire::record::op::SpanBatch;
use profinfer_wire::span::{Cursor, Span};

/// Spans of the worked example: a plain one, one after a view, a fused one, one on another CPU.
pub(super) fn spans() -> [Span; 4] {
    let span = |node, last_node, start_ns, work_ns, cpu| Span {
        node,
        last_node,
        start_ns,
        work_ns,
        cpu,
        migrated: false,
    };
    [
        span(0, 0, 1_000_000, 900, 1),
        span(2, 2, 1_001_400, 12_000, 1),
        span(3, 4, 1_013_700, 2_000, 1),
        span(9, 9, 1_016_000, 250, 3),
    ]
}

pub(super) fn packed_spans() -> Vec<u8> {
    let mut bytes = [0; 256];
    let mut cursor = Cursor::new(1_000_000, 1);
    let len = spans().iter().fold(0, |at, s| cursor.encode(s, &mut bytes, at).expect("room"));
    bytes[..len].to_vec()
}

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let spans = packed_spans();
    let batch =
        SpanBatch { graph: 2, topology: 1, tid: 43, base_ns: 1_000_000, cpu: 1, count: 4, bytes: &spans };
    check("span batch", &Record::SpanBatch(batch));
}

#[test]
fn packed_spans_decode_to_what_was_packed() {
    let bytes = packed_spans();
    let batch =
        SpanBatch { graph: 0, topology: 0, tid: 0, base_ns: 1_000_000, cpu: 1, count: 4, bytes: &bytes };
    assert_eq!(batch.spans().collect::<Vec<_>>(), spans());
    for cut in 0..bytes.len() {
        let mut short = SpanBatch { bytes: &bytes[..cut], ..batch }.spans();
        assert!(short.by_ref().count() < 4 && short.failed);
    }
}
