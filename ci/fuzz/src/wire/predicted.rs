//! The predicted coding of spans.
//!
//! Two ways: the input as the bits of a batch, and the input as spans, which must survive. Checked:
//! no panic, no more spans than announced, none that ends before it begins; every span that fitted
//! comes back.

use profinfer_wire::counts::Counted;
use profinfer_wire::predicted::{Encoder, MAX_PERIOD, Memory, UNKNOWN, UNKNOWN_COUNTS, UsualCounts, Usually};
use profinfer_wire::record::op::PredictedBatch;
use profinfer_wire::span::Span;

/// Reads a number from the front. The first byte gives its size.
fn number(data: &mut &[u8]) -> u64 {
    let Some((size, rest)) = data.split_first() else { return 0 };
    let n = rest.len().min(usize::from(size % 9));
    let value = rest[..n].iter().fold(0, |v, b| v << 8 | u64::from(*b));
    *data = &rest[n..];
    value
}

fn row(data: &mut &[u8], end: u64, behind: u32) -> Option<(Span, Counted)> {
    let (kind, rest) = data.split_first()?;
    *data = rest;
    let node = if kind & 1 == 0 { behind.wrapping_add(u32::from(kind >> 4)) } else { number(data) as u32 };
    let last_node = if kind & 2 == 0 { node } else { node.saturating_add(number(data) as u32) };
    let start_ns = end.checked_add(number(data))?;
    let work_ns = number(data).min(u64::MAX - start_ns);
    let cpu = if kind & 4 == 0 { 0 } else { number(data) as u16 };
    let mut counted = Counted::default();
    let slots = if kind & 8 == 0 { 0b11 } else { number(data) };
    for (k, value) in counted.values.iter_mut().enumerate() {
        *value = (slots >> k & 1 != 0).then(|| number(data));
    }
    if kind & 8 != 0 {
        (counted.switches, counted.why) = (number(data) as u32, number(data));
    }
    let migrated = kind & 4 != 0 && cpu % 2 == 1;
    Some((Span { node, last_node, start_ns, work_ns, cpu, migrated }, counted))
}

fn decoded(
    batch: &PredictedBatch<'_>,
    usually: &mut [Usually],
    counts: &mut [UsualCounts],
) -> (Vec<(Span, Counted)>, bool) {
    let mut spans = batch.spans(usually, counts);
    let mut rows = Vec::new();
    while let Some(span) = spans.next() {
        assert!(span.node <= span.last_node && span.start_ns.checked_add(span.work_ns).is_some());
        rows.push((span, spans.counted));
    }
    (rows, spans.failed)
}

/// First three bytes: counted or not, the number of spans and the period. The rest: the bits.
pub fn predicted(data: &[u8]) {
    let [flags, low, high, bytes @ ..] = data else { return };
    let (period, counted) = (u16::from_le_bytes([*low, *high]), flags & 1 != 0);
    let mut usually = vec![UNKNOWN; MAX_PERIOD.into()];
    let mut counts = vec![UNKNOWN_COUNTS; MAX_PERIOD.into()];
    let count = 1000 * u16::from(flags >> 2);
    let batch =
        PredictedBatch { graph: 1, topology: 1, tid: 1, base_ns: 5, cpu: 0, count, period, counted, bytes };
    let (rows, failed) = decoded(&batch, &mut usually, &mut counts);
    assert_eq!(failed, rows.len() < usize::from(count));

    let period = period.clamp(1, MAX_PERIOD);
    let places = usize::from(period);
    let (mut rest, mut end, mut behind, mut sent) = (bytes, 5, 0u32, Vec::new());
    let mut buffer = [0; 4096];
    let mut learnt = (vec![UNKNOWN; places], vec![UNKNOWN_COUNTS; if counted { places } else { 0 }]);
    let mut memory = Memory::new(&mut learnt.0, &mut learnt.1).expect("a period in bounds");
    let mut encoder = Encoder::new(5, 0, &memory);
    while let Some((span, mut counts)) = row(&mut rest, end, behind) {
        if !encoder.encode(&span, &counts, &mut memory, &mut buffer) {
            break;
        }
        (end, behind) = (span.start_ns + span.work_ns, span.last_node.wrapping_add(1));
        if !counted {
            counts = Counted::default();
        }
        sent.push((span, counts));
    }
    let len = encoder.finish(&mut buffer);
    let count = u16::try_from(sent.len()).expect("a span takes two bits and more");
    let batch = PredictedBatch { count, period, bytes: &buffer[..len], ..batch };
    assert_eq!(decoded(&batch, &mut usually, &mut counts), (sent, false));
}
