//! The first coding of spans: decoded spans end in order and survive encoding and decoding.

use profinfer_wire::span::{Cursor, MAX_SPAN_LEN, Span, Spans};

/// First four bytes: the CPU and the number of spans. The rest: the spans.
pub fn span(bytes: &[u8]) {
    let [cpu @ .., count, more] = bytes.first_chunk::<4>().copied().unwrap_or_default();
    let (cpu, count) = (u16::from_le_bytes(cpu), u16::from_le_bytes([count, more]));
    let rest = bytes.get(4..).unwrap_or_default();
    let base = 1 << 40;
    let mut decoder = Spans::new(base, cpu, count, rest);
    let spans: Vec<Span> = decoder.by_ref().collect();
    assert_eq!(decoder.failed, spans.len() < usize::from(count));
    let (mut cursor, mut end, mut at) = (Cursor::new(base, cpu), base, 0);
    let mut buffer = vec![0; spans.len() * MAX_SPAN_LEN];
    for span in &spans {
        assert!(span.node <= span.last_node && span.start_ns >= end, "{span:?} begins before {end}");
        end = span.start_ns.checked_add(span.work_ns).expect("an end");
        at = cursor.encode(span, &mut buffer, at).expect("room");
    }
    let back = Spans::new(base, cpu, u16::try_from(spans.len()).expect("no more than announced"), &buffer);
    assert!(back.eq(spans), "other spans");
}
