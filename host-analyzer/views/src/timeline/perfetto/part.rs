//! Parts of a recording, by time: a viewer keeps every slice in memory, which limits what it can open.

use std::ops::Range;

use super::LeftOut;
use crate::timeline::metadata;
use crate::timeline::row::{Content, Row};
use profinfer_analysis::Analysis;
use profinfer_analysis::sched::pieces::{Piece, pieces};
use profinfer_analysis::track::{Slice, Track};
use profinfer_trace::model::Model;

/// Shorter waits are left out and counted: with some engines they are half of all slices, and no
/// screen shows them.
pub const WAIT_FROM_NS: u32 = 1_000;

/// Slices that Perfetto's trace_processor opens in 2 GB, the limit of its page for many years: four
/// million slices take 1.9 GB.
pub const SLICES: u64 = 3_000_000;

/// Measured bytes of a work slice, of any other slice, and of a call.
const BYTES: [u64; 3] = [13, 5, 90];

/// Maximum number of rounds that divide stretches with too many slices.
const ROUNDS: u32 = 16;

/// The slices that begin in a range of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// From 1.
    pub number: usize,
    /// Number of parts.
    pub of: usize,
    /// Of the session's clock; 0 for the first part.
    pub from_ns: u64,
    /// Start of the next part; `u64::MAX` for the last.
    pub to_ns: u64,
}

impl Part {
    /// All slices.
    pub const WHOLE: Self = Self { number: 1, of: 1, from_ns: 0, to_ns: u64::MAX };

    /// Name of the file.
    #[must_use]
    pub fn name(&self) -> String {
        match self.of {
            1 => "timeline.pftrace".to_owned(),
            _ => format!("timeline-{}.pftrace", self.number),
        }
    }

    /// Whether a slice that begins at `ns` belongs to this part.
    pub(super) const fn has(&self, ns: u64) -> bool {
        self.from_ns <= ns && (ns < self.to_ns || self.of == self.number)
    }

    /// Cuts a row to the slices that begin in this part. Returns whether it shows any; waits of a
    /// row that is left out are counted here.
    pub(super) fn restrict(&self, model: &Model, row: &mut Row<'_>, left_out: &mut LeftOut) -> bool {
        match &mut row.content {
            Content::Slices(track, range) => {
                *range = self.of_track(model, track);
                let mut slices = track.order.range(range.clone());
                let shown = slices.any(|slice| !is_left_out(model, slice));
                if !shown {
                    track.order.range(range.clone()).for_each(|slice| left_out.add(model, slice));
                }
                shown
            }
            Content::States(pieces) => {
                pieces.retain(|p| self.has(p.start_ns));
                !pieces.is_empty()
            }
            Content::Probes(stretches) => {
                stretches.retain(|s| self.has(s.start_ns));
                !stretches.is_empty()
            }
        }
    }

    /// The slices of a track that begin in this part, as positions of its order.
    fn of_track(&self, model: &Model, track: &Track) -> Range<usize> {
        let before = |ns| track.order.partition_point(|s| s.bounds(model).0 < ns);
        let end = if self.number == self.of { track.order.len() } else { before(self.to_ns) };
        before(self.from_ns)..end
    }
}

/// The wait is too short to be shown.
#[inline]
pub(super) fn is_left_out(model: &Model, slice: Slice) -> bool {
    matches!(slice, Slice::Barrier(span) if model.spans.wait_ns[span.0 as usize] < WAIT_FROM_NS)
}

/// Divides the recording into as few parts as possible with at most `slices` slices each, if possible
/// at the start of a `llama_decode` call.
#[must_use]
pub fn parts(model: &Model, analysis: &Analysis, slices: u64) -> Vec<Part> {
    let states = model.sched.states.start_ns.len() as u64;
    if analysis.track.iter().map(|t| t.slices).sum::<u64>() + states <= slices {
        return vec![Part::WHOLE];
    }
    let (cuts, counts) = stretches(model, analysis, slices);
    let mut starts = vec![0];
    let mut in_part = 0;
    for (cut, count) in cuts.iter().zip(&counts) {
        if in_part > 0 && in_part + count > slices {
            starts.push(*cut);
            in_part = 0;
        }
        in_part += count;
    }
    let of = starts.len();
    let ends = starts[1..].iter().copied().chain([u64::MAX]);
    let bounds = starts.iter().zip(ends).zip(1..);
    bounds.map(|((from_ns, to_ns), number)| Part { number, of, from_ns: *from_ns, to_ns }).collect()
}

/// Estimated size of the files of the complete recording, bytes.
#[must_use]
pub fn bytes(model: &Model, analysis: &Analysis) -> u64 {
    let spans = model.spans.len() as u64;
    let shown = |wait: &&u32| **wait >= WAIT_FROM_NS && **wait != profinfer_trace::model::WAIT_UNKNOWN;
    let waits = model.spans.wait_ns.iter().filter(shown).count() as u64;
    let slices: u64 = analysis.track.iter().map(|t| t.slices).sum();
    let calls = (model.llama_calls.len() + model.graph_calls.len()) as u64;
    let states = model.sched.states.start_ns.len() as u64;
    let others = if slices == 0 { 0 } else { waits + states };
    spans * BYTES[0] + others * BYTES[1] + calls * BYTES[2]
}

/// Stretches of time, by their starts, and the number of slices in each: at most `slices`, unless more
/// begin at one time.
fn stretches(model: &Model, analysis: &Analysis, slices: u64) -> (Vec<u64>, Vec<u64>) {
    let mut cuts: Vec<u64> = std::iter::once(0).chain(model.llama_calls.start_ns.iter().copied()).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let last = analysis.track.iter().filter_map(|t| t.order.range(t.order.len() - 1..t.order.len()).next());
    let end = last.map(|s| s.bounds(model).0).max().unwrap_or(0).saturating_add(1);
    let first = metadata::first_ns(model, analysis);
    for _ in 0..ROUNDS {
        let counts = count(model, analysis, &cuts);
        if counts.iter().all(|n| *n <= slices) {
            return (cuts, counts);
        }
        let ends = cuts[1..].iter().copied().chain([end]);
        let divided = cuts.iter().zip(ends).zip(&counts).flat_map(|((from, to), n)| {
            // Dividing the time before the first slice would gain nothing.
            let (start, pieces) = ((*from).max(first), (n.div_ceil(slices.max(1)) * 2).min(1 << 16));
            let length = to.saturating_sub(start);
            let inside = (1..pieces)
                .filter(move |_| *n > slices)
                .map(move |i| start + (u128::from(length) * u128::from(i) / u128::from(pieces)) as u64);
            std::iter::once(*from).chain(inside)
        });
        cuts = divided.collect();
        cuts.sort_unstable();
        cuts.dedup();
    }
    let counts = count(model, analysis, &cuts);
    (cuts, counts)
}

fn count(model: &Model, analysis: &Analysis, cuts: &[u64]) -> Vec<u64> {
    let mut counts = vec![0; cuts.len()];
    let mut add = |starts: &mut dyn Iterator<Item = u64>| {
        let mut at = 0;
        for start in starts {
            while cuts.get(at + 1).is_some_and(|next| *next <= start) {
                at += 1;
            }
            counts[at] += 1;
        }
    };
    for track in &analysis.track {
        let shown = track.order.iter().filter(|s| !is_left_out(model, *s));
        add(&mut shown.map(|s| s.bounds(model).0));
    }
    let pieces: Vec<Piece> = pieces(model).collect();
    for of_thread in pieces.chunk_by(|a, b| a.thread == b.thread) {
        add(&mut of_thread.iter().map(|p| p.start_ns));
    }
    counts
}
