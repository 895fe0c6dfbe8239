//! The window compared with the complete recording.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use profinfer_wire::frame::Frame;

use super::*;
use crate::sample::{self, Numbered, stream, stream_with_a_loss};
use profinfer_trace::decode::Decoder;
use profinfer_trace::model::{Model, SpanId};

/// Frames arrive so slowly that each call has a separate segment, and six seconds contain some
/// calls.
const FRAME: Duration = Duration::from_millis(200);

/// Feeds a stream, one frame per `step`.
fn feed(window: &mut Window, stream: &[u8], step: Duration) {
    let (begun, mut decoder) = (Instant::now(), Decoder::new());
    for (part, i) in stream.split_inclusive(|b| *b == 0).zip(0..) {
        decoder.feed(part, &mut |found| window.see(&found)).unwrap();
        window.take(part, begun + step * i);
    }
}

/// Every span between two times: start, thread, duration, wait, operator.
fn spans(model: &Model, time: std::ops::Range<u64>) -> Vec<(u64, u32, u64, u32, String)> {
    let s = &model.spans;
    let row = |SpanId(i)| {
        let i = i as usize;
        let call = s.graph_call[i].0 as usize;
        let topology = model.graph_calls.topology[call].unwrap();
        let node = &model.topologies.rows[topology.0 as usize].nodes[s.node[i].0 as usize];
        let tid = model.threads.get(s.thread[i]).tid;
        (s.start_ns[i], tid, s.work_ns[i], s.wait_ns[i], model.texts.get(node.name).to_owned())
    };
    let all = (0..u32::try_from(s.len()).unwrap()).map(|i| row(SpanId(i)));
    let mut rows: Vec<_> = all.filter(|r| time.contains(&r.0)).collect();
    rows.sort();
    rows
}

#[test]
fn the_window_is_a_part_of_the_recording() {
    let whole = profinfer_trace::read(&stream()).unwrap();
    let mut window = Window::new(Duration::from_secs(1), 8 << 20);
    feed(&mut window, &stream(), FRAME);
    let last = profinfer_trace::read(&window.last().unwrap().stream).unwrap();
    let (d, w) = (&last.llama_calls, &whole.llama_calls);
    let first = w.start_ns.iter().position(|at| *at == d.start_ns[0]).unwrap();
    let behind = first + d.len();
    assert!(first > 0 && d.len() >= 3, "{first} {}", d.len());
    assert_eq!(d.start_ns, w.start_ns[first..behind]);
    assert_eq!(d.duration_ns, w.duration_ns[first..behind]);
    let time = w.start_ns[first]..w.start_ns[behind - 1] + w.duration_ns[behind - 1];
    assert_eq!(last.spans.len(), spans(&last, time.clone()).len());
    assert_eq!(spans(&last, time.clone()), spans(&whole, time));
    assert!(last.health.damage.is_empty(), "{:?}", last.health.damage);
    assert_eq!(last.session.processes, whole.session.processes);
    assert!(!window.is_fresh());
}

#[test]
fn memory_does_not_grow_with_the_session() {
    const MOST: usize = 200_000;
    let frames = sample::frames();
    let is_call = |(kind, payload): &(u16, Vec<u8>)| {
        matches!(Record::decode(&Frame { kind: *kind, seq: 0, payload }), Ok(Record::Decode(_)))
    };
    let first = frames.iter().position(is_call).unwrap() + 1;
    let behind = frames.iter().rposition(is_call).unwrap() + 1;
    let mut window = Window::new(Duration::from_secs(3600), MOST);
    let (mut decoder, mut now, mut largest) = (Decoder::new(), Instant::now(), 0);
    let mut take = |window: &mut Window, bytes: &[u8]| {
        now += Duration::from_millis(1);
        decoder.feed(bytes, &mut |found| window.see(&found)).unwrap();
        window.take(bytes, now);
        largest = largest.max(window.bytes());
    };
    take(&mut window, &unknown_hello().to_bytes());
    let mut remembered = Vec::new();
    let mut out = Numbered { bytes: Vec::new(), seq: 0 };
    // The same calls again and again, numbered as in a stream.
    for round in 0..60 {
        for (kind, payload) in &frames[if round == 0 { 0 } else { first }..behind] {
            out.add(*kind, payload);
            take(&mut window, &std::mem::take(&mut out.bytes));
        }
        if round == 10 || round == 59 {
            remembered.push(window.state.carry().map(|(_, payload)| payload.len()).sum::<usize>());
        }
    }
    assert!(largest <= MOST + MOST / SEGMENTS, "{largest}");
    assert_eq!(remembered[0], remembered[1]);
    let last = window.last().unwrap();
    let model = profinfer_trace::read(&last.stream).unwrap();
    assert!(last.damage.is_empty() && model.health.damage.is_empty(), "{:?}", model.health.damage);
    assert!(model.llama_calls.len() > 4);
}

#[test]
fn a_frame_that_a_break_cuts_comes_again() {
    let (mut cut, mut decoder) = (Window::new(Duration::from_secs(60), 8 << 20), Decoder::new());
    let (begun, mut at) = (Instant::now(), 0);
    for (part, i) in stream().split_inclusive(|b| *b == 0).zip(0..) {
        let now = begun + FRAME * i;
        if i % 7 == 3 && at > HELLO_LEN && part.len() > 4 {
            decoder.feed(&part[..part.len() / 2], &mut |found| cut.see(&found)).unwrap();
            cut.take(&part[..part.len() / 2], now);
            cut.forget_partial(decoder.forget_partial());
        }
        decoder.feed(part, &mut |found| cut.see(&found)).unwrap();
        cut.take(part, now);
        at += part.len();
    }
    let mut straight = Window::new(Duration::from_secs(60), 8 << 20);
    feed(&mut straight, &stream(), FRAME);
    assert_eq!(cut.last().unwrap().stream, straight.last().unwrap().stream);
}

#[test]
fn what_is_damaged_is_remembered_longer_than_the_window() {
    let mut window = Window::new(Duration::from_secs(1), 8 << 20);
    feed(&mut window, &stream_with_a_loss(), FRAME);
    let last = window.last().unwrap();
    assert_eq!(last.damage.iter().map(|d| d.count).sum::<u64>(), 1);
    // The window itself is complete: its waits are as exact as before.
    let model = profinfer_trace::read(&last.stream).unwrap();
    assert!(model.health.damage.is_empty(), "{:?}", model.health.damage);
}
