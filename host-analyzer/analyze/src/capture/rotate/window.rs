//! The last seconds of a session, as a piece of the recording that can be read alone.
//!
//! The stream is kept in segments of about a second. Each segment ends after a `llama_decode` call.
//! When a segment is dropped, its descriptions of processes, threads and topologies are kept, as
//! between pieces on disk. Memory is limited by time and by bytes, whichever is less, for sessions
//! of any length.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use profinfer_wire::frame::decode as decode_frame;
use profinfer_wire::hello::{HELLO_LEN, Hello};
use profinfer_wire::record::Record;
use profinfer_wire::record::piece::Piece;

use super::pieces::{end, head, unknown_hello};
use super::state::State;
use profinfer_trace::decode::{Damage, Found};

/// Minimum length of a segment. It ends after the next `llama_decode` call.
const SEGMENT: Duration = Duration::from_secs(1);
/// Number of segments within the limit in bytes.
const SEGMENTS: usize = 8;
/// Number of `llama_decode` calls that are kept even if they are older than the window. So slow
/// engines show enough calls for a finding.
const LEAST_CALLS: u64 = 40;
/// Maximum age, as a multiple of the window.
const LONGEST: u32 = 6;
/// Number of kinds of damage that are counted separately. A damaged stream can name 65,536 kinds of
/// unknown records.
const MAX_KINDS: usize = 32;

/// Complete frames of the stream.
#[derive(Debug)]
struct Segment {
    bytes: Vec<u8>,
    begun: Instant,
    /// Frame number of its first record, and the number after its last one.
    seqs: Option<(u32, u32)>,
    calls: u64,
    /// No call was running at its end.
    clean: bool,
}

impl Segment {
    const fn new(begun: Instant) -> Self {
        Self { bytes: Vec::new(), begun, seqs: None, calls: 0, clean: true }
    }
}

#[derive(Debug)]
pub(crate) struct Window {
    time: Duration,
    most: usize,
    hello: Hello,
    /// Missing bytes of the hello. The hello belongs to no segment.
    hello_left: usize,
    /// Descriptions from dropped segments.
    state: State,
    /// The latest totals in dropped segments, by kind of record. Without totals, it is unknown
    /// whether spans are missing.
    totals: Vec<(u16, Vec<u8>)>,
    segments: VecDeque<Segment>,
    open: Segment,
    /// Of the complete session.
    damage: Vec<Damage>,
    fresh: bool,
}

/// Content of a window.
#[derive(Debug)]
pub(crate) struct Last {
    /// A complete stream of one piece.
    pub(crate) stream: Vec<u8>,
    /// Damage since the session began, by kind.
    pub(crate) damage: Vec<Damage>,
}

impl Window {
    /// Keeps the last `time` of a session, in at most `most` bytes.
    pub(crate) fn new(time: Duration, most: usize) -> Self {
        Self {
            time,
            most,
            hello: unknown_hello(),
            hello_left: HELLO_LEN,
            state: State::default(),
            totals: Vec::new(),
            segments: VecDeque::new(),
            open: Segment::new(Instant::now()),
            damage: Vec::new(),
            fresh: false,
        }
    }

    /// Observes what was found in the bytes that [`Self::take`] gets next.
    pub(crate) fn see(&mut self, found: &Found<'_>) {
        match found {
            Found::Hello(hello) => self.hello = *hello,
            Found::Damage(d) => self.damaged(d),
            Found::Cut { .. } => {}
            Found::Record { seq, record, .. } => {
                let open = &mut self.open;
                let first = open.seqs.map_or(*seq, |(first, _)| first);
                open.seqs = Some((first, seq.wrapping_add(1)));
                match record {
                    Record::Decode(_) => (open.calls, open.clean) = (open.calls + 1, true),
                    Record::GraphCall(call) => open.clean = call.decode == 0 && call.parent == 0,
                    Record::SpanBatch(_)
                    | Record::CountedBatch(_)
                    | Record::PredictedBatch(_)
                    | Record::NestedBatch(_)
                    | Record::ExpertBatch(_) => open.clean = false,
                    _ => {}
                }
            }
        }
    }

    fn damaged(&mut self, damage: &Damage) {
        match self.damage.iter().position(|d| d.kind == damage.kind) {
            Some(i) => {
                let d = &mut self.damage[i];
                (d.count, d.bytes) = (d.count + damage.count, d.bytes + damage.bytes);
            }
            None if self.damage.len() < MAX_KINDS => self.damage.push(*damage),
            None => {}
        }
    }

    /// Takes bytes of the stream. They end at the latest with a frame.
    pub(crate) fn take(&mut self, bytes: &[u8], now: Instant) {
        let hello = self.hello_left.min(bytes.len());
        self.hello_left -= hello;
        let bytes = &bytes[hello..];
        self.open.bytes.extend_from_slice(bytes);
        if bytes.last() == Some(&0) {
            self.close(now);
            self.trim(now);
        }
    }

    /// Forgets the last bytes: the agent sends the frame that they begin again.
    pub(crate) fn forget_partial(&mut self, bytes: u64) {
        let left = self.open.bytes.len().saturating_sub(usize::try_from(bytes).unwrap_or(usize::MAX));
        self.open.bytes.truncate(left);
    }

    /// Ends the segment if it is long enough.
    fn close(&mut self, now: Instant) {
        let (open, part) = (&self.open, self.most / SEGMENTS);
        let due = now - open.begun >= SEGMENT || open.bytes.len() >= part;
        if !(open.clean && due || open.bytes.len() >= part.saturating_mul(4)) {
            return;
        }
        let clean = open.clean;
        let closed = std::mem::replace(&mut self.open, Segment { clean, ..Segment::new(now) });
        self.fresh |= clean;
        self.segments.push_back(closed);
    }

    /// Drops segments that are too old or too large.
    fn trim(&mut self, now: Instant) {
        loop {
            let Some(first) = self.segments.iter().position(|s| s.clean) else {
                // One call is larger than the window: nothing of it can be shown.
                if self.bytes() > self.most && !self.segments.is_empty() {
                    self.drop_first(self.segments.len());
                }
                return;
            };
            let behind = first + 1;
            let calls = self.segments.iter().skip(behind).map(|s| s.calls).sum::<u64>();
            // Age of the segment that would be the first.
            let Some(age) = self.segments.get(behind).map(|s| now - s.begun) else { return };
            let old = age >= self.time && calls >= LEAST_CALLS || age >= self.time * LONGEST;
            if !old && self.bytes() <= self.most {
                return;
            }
            self.drop_first(behind);
        }
    }

    fn bytes(&self) -> usize {
        self.segments.iter().map(|s| s.bytes.len()).sum::<usize>() + self.open.bytes.len()
    }

    /// Drops segments, and keeps their descriptions.
    fn drop_first(&mut self, n: usize) {
        for segment in self.segments.drain(..n) {
            for frame in segment.bytes.split_inclusive(|b| *b == 0) {
                let mut chunk = frame[..frame.len() - 1].to_vec();
                if let Ok(frame) = decode_frame(&mut chunk)
                    && let Ok(record) = Record::decode(&frame)
                {
                    self.state.see(&record);
                    remember(&mut self.totals, frame.kind, &record, frame.payload);
                }
            }
        }
    }

    /// True if there is something that [`Self::last`] has not returned yet.
    pub(crate) const fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// The window. `None` before the first `llama_decode` call in it ended.
    pub(crate) fn last(&mut self) -> Option<Last> {
        let n = self.segments.iter().rposition(|s| s.clean)? + 1;
        self.fresh = false;
        let seqs = || self.segments.iter().take(n).filter_map(|s| s.seqs);
        let (first, behind) = (seqs().next()?.0, seqs().next_back()?.1);
        let carried = self.state.carry();
        let n_carried = u32::try_from(carried.len() + self.totals.len()).unwrap_or(u32::MAX);
        let carried = carried.chain(self.totals.iter().map(|(kind, payload)| (*kind, &payload[..])));
        let piece = Piece { number: 2, carried: n_carried, ..Piece::default() };
        let mut stream = head(&self.hello, &piece, first, carried);
        for segment in self.segments.iter().take(n) {
            stream.extend_from_slice(&segment.bytes);
        }
        end(piece.number, behind, &mut stream);
        Some(Last { stream, damage: self.damage.clone() })
    }
}

/// Keeps totals in place of earlier ones.
fn remember(totals: &mut Vec<(u16, Vec<u8>)>, kind: u16, record: &Record<'_>, payload: &[u8]) {
    let total = matches!(
        record,
        Record::CaptureLoss(_)
            | Record::LossReasons(_)
            | Record::Loss(_)
            | Record::NestedLoss(_)
            | Record::SchedLoss(_)
            | Record::CpuUseLoss(_)
            | Record::ExpertLoss(_)
            | Record::DirectLoss(_)
    );
    if total {
        // In order of arrival: the totals complete the sum of the spans after them.
        totals.retain(|(k, _)| *k != kind);
        totals.push((kind, payload.to_vec()));
    }
}

#[cfg(test)]
mod tests;
