//! The walk over a timeline: rows, beginnings and ends of slices, and counters, in order.
//!
//! Each format is a [`TimelineSink`]. [`by_row`] writes one row after the other, as formats do that
//! have tracks. [`by_time`] merges the rows into one stream in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use super::gauge::{Counter, Number};
use super::rows::{Content, Process, Row};
use profinfer_analysis::duty::stretches::Stretch;
use profinfer_analysis::sched::pieces::Piece;
use profinfer_analysis::track::{self, Slice};
use profinfer_trace::model::Model;

/// A format of the timeline.
pub(super) trait TimelineSink {
    /// What the format needs to know of a row while it writes its slices.
    type Track;

    /// A process begins; its rows follow.
    fn process(&mut self, process: &Process<'_>) -> io::Result<()>;

    /// A row begins. `by_time` calls this for all rows before the first slice.
    fn track(&mut self, row: &Row<'_>) -> io::Result<Self::Track>;

    /// A slice begins, inside those of its row that are open.
    fn begin(&mut self, track: &mut Self::Track, item: Item<'_>, at_ns: u64) -> io::Result<()>;

    /// The innermost open slice of the row ends.
    fn end(&mut self, track: &mut Self::Track, item: Item<'_>, at_ns: u64) -> io::Result<()>;

    /// A row is complete. `by_time` never calls this.
    fn track_ends(&mut self, _: Self::Track) -> io::Result<()> {
        Ok(())
    }

    /// A counter begins. `by_time` calls this for all counters before the first slice.
    fn counter_track(&mut self, _: &Counter<'_>) -> io::Result<()> {
        Ok(())
    }

    /// A value of a counter. From `by_row`, the counter is the one that began last.
    fn counter(&mut self, _: &Counter<'_>, _at_ns: u64, _: Number) -> io::Result<()> {
        Ok(())
    }
}

/// What a slice shows.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Slice(Slice),
    State(&'a Piece),
    Probes(&'a Stretch),
}

impl Item<'_> {
    /// Start and end, ns of the session's clock.
    pub(super) fn bounds(self, model: &Model) -> (u64, u64) {
        match self {
            Self::Slice(slice) => slice.bounds(model),
            Self::State(piece) => (piece.start_ns, piece.end_ns),
            Self::Probes(stretch) => (stretch.start_ns, stretch.end_ns),
        }
    }
}

/// Beginning or end of a slice, and its time in ns of the session's clock.
enum Edge<'a> {
    Begin(Item<'a>, u64),
    End(Item<'a>, u64),
}

impl Edge<'_> {
    const fn at_ns(&self) -> u64 {
        let (Self::Begin(_, at) | Self::End(_, at)) = self;
        *at
    }
}

/// Writes row by row, then counter by counter.
pub(super) fn by_row<S: TimelineSink>(
    model: &Model,
    processes: &[Process<'_>],
    counters: &[Counter<'_>],
    sink: &mut S,
) -> io::Result<()> {
    for process in processes {
        sink.process(process)?;
        for row in &process.rows {
            let mut track = sink.track(row)?;
            // Each kind has its own loop: `by_row` spends its time here.
            match &row.content {
                Content::Slices(slices, range) => {
                    let edges = slices.edges_of(model, range.clone()).map(from_track);
                    write(sink, &mut track, edges)?;
                }
                Content::States(pieces) => write(sink, &mut track, apart(model, pieces, Item::State))?,
                Content::Probes(all) => write(sink, &mut track, apart(model, all, Item::Probes))?,
            }
            sink.track_ends(track)?;
        }
    }
    for counter in counters {
        sink.counter_track(counter)?;
        for (at, value) in &counter.points {
            sink.counter(counter, *at, *value)?;
        }
    }
    Ok(())
}

/// Writes everything in order of time; of what happens at one time, the upper row first and
/// counters last.
pub(super) fn by_time<S: TimelineSink>(
    model: &Model,
    processes: &[Process<'_>],
    counters: &[Counter<'_>],
    sink: &mut S,
) -> io::Result<()> {
    let (mut tracks, mut edges) = (Vec::new(), Vec::new());
    for process in processes {
        sink.process(process)?;
        for row in &process.rows {
            tracks.push(sink.track(row)?);
            edges.push(edges_of(model, row).peekable());
        }
    }
    counters.iter().try_for_each(|counter| sink.counter_track(counter))?;
    let mut points: Vec<_> = counters.iter().map(|counter| counter.points.iter().peekable()).collect();
    // The time of the next event of each row, then of each counter.
    let first_edges = edges.iter_mut().map(|e| e.peek().map(Edge::at_ns));
    let first_points = points.iter_mut().map(|p| p.peek().map(|(at, _)| *at));
    let firsts = first_edges.chain(first_points).enumerate();
    let mut queue: BinaryHeap<_> = firsts.filter_map(|(n, at)| Some(Reverse((at?, n)))).collect();
    while let Some(Reverse((_, n))) = queue.pop() {
        let next = match n.checked_sub(edges.len()) {
            None => {
                match edges[n].next() {
                    Some(Edge::Begin(item, at)) => sink.begin(&mut tracks[n], item, at)?,
                    Some(Edge::End(item, at)) => sink.end(&mut tracks[n], item, at)?,
                    None => {}
                }
                edges[n].peek().map(Edge::at_ns)
            }
            Some(counter) => {
                if let Some((at, value)) = points[counter].next() {
                    sink.counter(&counters[counter], *at, *value)?;
                }
                points[counter].peek().map(|(at, _)| *at)
            }
        };
        queue.extend(next.map(|at| Reverse((at, n))));
    }
    Ok(())
}

#[inline]
fn write<'a, S: TimelineSink>(
    sink: &mut S,
    track: &mut S::Track,
    edges: impl Iterator<Item = Edge<'a>>,
) -> io::Result<()> {
    for edge in edges {
        match edge {
            Edge::Begin(item, at) => sink.begin(track, item, at)?,
            Edge::End(item, at) => sink.end(track, item, at)?,
        }
    }
    Ok(())
}

fn edges_of<'a>(model: &'a Model, row: &'a Row<'_>) -> Box<dyn Iterator<Item = Edge<'a>> + 'a> {
    match &row.content {
        Content::Slices(slices, range) => Box::new(slices.edges_of(model, range.clone()).map(from_track)),
        Content::States(pieces) => Box::new(apart(model, pieces, Item::State)),
        Content::Probes(all) => Box::new(apart(model, all, Item::Probes)),
    }
}

#[inline]
const fn from_track<'a>(edge: track::Edge) -> Edge<'a> {
    match edge {
        track::Edge::Begin(slice, at) => Edge::Begin(Item::Slice(slice), at),
        track::Edge::End(slice, at) => Edge::End(Item::Slice(slice), at),
    }
}

/// The edges of slices that do not overlap.
fn apart<'a, T>(
    model: &'a Model,
    all: &'a [T],
    item: fn(&'a T) -> Item<'a>,
) -> impl Iterator<Item = Edge<'a>> + 'a {
    all.iter().map(item).flat_map(|item| {
        let (start, end) = item.bounds(model);
        [Edge::Begin(item, start), Edge::End(item, end)]
    })
}
