//! The last seconds of a session, as a piece of its recording that can be read alone.
//!
//! The stream is kept in segments of about a second, each of which ends behind a token call. What an old segment says of processes,
//! threads, topologies is remembered when it is dropped, as between the pieces on disk. Memory is bounded by time and by bytes, whichever
//! is less, however long the session runs.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use profinfer_wire::frame::decode as decode_frame;
use profinfer_wire::hello::{HELLO_LEN, Hello};
use profinfer_wire::record::Record;
use profinfer_wire::record::piece::Piece;

use super::pieces::{end, head, unknown_hello};
use super::state::State;
use profinfer_trace::decode::{Damage, Found};

/// A segment ends behind the first token call after so long.
const SEGMENT: Duration = Duration::from_secs(1);
/// Segments in the most that is kept, by bytes.
const SEGMENTS: usize = 8;
/// Token calls that are kept although they are older than the window, so that slow engines show enough of them for a finding.
const LEAST_CALLS: u64 = 40;
/// Nothing is kept for longer than so many times the window.
const LONGEST: u32 = 6;
/// Kinds of damage that are told apart; a damaged stream can name 65,536 of unknown records.
const MAX_KINDS: usize = 32;

/// Frames of the stream, up to the end of one.
#[derive(Debug)]
struct Segment {
    bytes: Vec<u8>,
    begun: Instant,
    /// Numbers of its first record's frame, and of the one behind its last.
    seqs: Option<(u32, u32)>,
    calls: u64,
    /// No token call or graph call was running where it ends.
    clean: bool,
}

impl Segment {
    const fn new(begun: Instant) -> Self {
        Self { bytes: Vec::new(), begun, seqs: None, calls: 0, clean: true }
    }
}

/// The window.
#[derive(Debug)]
pub(crate) struct Window {
    time: Duration,
    most: usize,
    hello: Hello,
    /// Bytes of the hello that did not come yet; it belongs to no segment.
    hello_left: usize,
    /// What the segments that were dropped say of the rest.
    state: State,
    /// The latest totals in them, by kind of record: without totals it is not known whether spans are missing.
    totals: Vec<(u16, Vec<u8>)>,
    segments: VecDeque<Segment>,
    open: Segment,
    /// Of the whole session.
    damage: Vec<Damage>,
    fresh: bool,
}

/// What a window holds.
#[derive(Debug)]
pub(crate) struct Last {
    /// A stream of its own, one piece.
    pub(crate) stream: Vec<u8>,
    /// What was damaged since the session began, by kind.
    pub(crate) damage: Vec<Damage>,
}

impl Window {
    /// The last `time` of a session, of at most `most` bytes.
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

    /// Takes note of what was found in the bytes that [`Self::take`] gets next.
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

    /// Takes bytes of the stream, which end at the latest with a frame.
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

    /// Forgets the last bytes: the frame that they begin comes again.
    pub(crate) fn forget_partial(&mut self, bytes: u64) {
        let left = self.open.bytes.len().saturating_sub(usize::try_from(bytes).unwrap_or(usize::MAX));
        self.open.bytes.truncate(left);
    }

    /// Ends the segment if it is time.
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

    /// Drops what is too old or too much.
    fn trim(&mut self, now: Instant) {
        loop {
            let Some(first) = self.segments.iter().position(|s| s.clean) else {
                // One call alone is larger than the window: nothing of it can be shown.
                if self.bytes() > self.most && !self.segments.is_empty() {
                    self.drop_first(self.segments.len());
                }
                return;
            };
            let behind = first + 1;
            let calls = self.segments.iter().skip(behind).map(|s| s.calls).sum::<u64>();
            // The age of what would be the first.
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

    /// Drops segments, and remembers what they say of the rest.
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

    /// Whether there is something that [`Self::last`] did not give yet.
    pub(crate) const fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// The window; `None` before the first token call ended in it.
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

/// Remembers totals in the place of earlier ones.
fn remember(totals: &mut Vec<(u16, Vec<u8>)>, kind: u16, record: &Record<'_>, payload: &[u8]) {
    let total = matches!(
        record,
        Record::CaptureLoss(_)
            | Record::LossReasons(_)
            | Record::Loss(_)
            | Record::NestedLoss(_)
            | Record::SchedLoss(_)
            | Record::ExpertLoss(_)
            | Record::DirectLoss(_)
    );
    if total {
        // In the order in which they came: what was left out completes the sum of the spans behind it.
        totals.retain(|(k, _)| *k != kind);
        totals.push((kind, payload.to_vec()));
    }
}

#[cfg(test)]
mod tests;
