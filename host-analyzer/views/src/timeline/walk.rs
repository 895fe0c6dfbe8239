//! The walk over a timeline: rows, beginnings and ends of slices, and counters, in order.
//!
//! Each format is a [`TimelineSink`]. [`by_row`] writes one row after the other, as formats do that
//! have tracks. [`by_time`] merges the rows into one stream in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use super::gauge::{Counter, Number};
use super::item::Item;
use super::row::{Content, Process, Row};
use profinfer_analysis::track::Edge;
use profinfer_trace::model::Model;

/// A format of the timeline.
pub(super) trait TimelineSink {
    /// What the format needs to know of a row while it writes its slices.
    type Track;

    /// A process begins; its rows follow. `by_time` never calls this.
    fn process(&mut self, _: &Process<'_>) -> io::Result<()> {
        Ok(())
    }

    /// A row begins. `by_time` calls this for all rows before the first slice.
    fn track(&mut self, row: &Row<'_>) -> io::Result<Self::Track>;

    /// A slice begins, inside those of its row that are open.
    fn begin(&mut self, track: &mut Self::Track, item: Item<'_>, at_ns: u64) -> io::Result<()>;

    /// The innermost open slice of the row ends.
    fn end(&mut self, _: &mut Self::Track, _: Item<'_>, _at_ns: u64) -> io::Result<()> {
        Ok(())
    }

    /// A row is complete. `by_time` never calls this.
    fn track_ends(&mut self, _: Self::Track) -> io::Result<()> {
        Ok(())
    }

    /// A counter begins; its values follow. `by_time` never calls this.
    fn counter_track(&mut self, _: &Counter<'_>) -> io::Result<()> {
        Ok(())
    }

    fn counter(&mut self, _: &Counter<'_>, _at_ns: u64, _: Number) -> io::Result<()> {
        Ok(())
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
            match &row.content {
                Content::Slices(slices, range) => {
                    for edge in slices.edges_of(model, range.clone()) {
                        write_edge(sink, &mut track, edge)?;
                    }
                }
                Content::States(pieces) => apart(model, sink, &mut track, pieces.iter().map(Item::State))?,
                Content::Probes(all) => apart(model, sink, &mut track, all.iter().map(Item::Probes))?,
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

/// Writes the rows of tracks, and the counters, in order of time; of what happens at one time, the
/// upper row first and counters last.
pub(super) fn by_time<S: TimelineSink>(
    model: &Model,
    processes: &[Process<'_>],
    counters: &[Counter<'_>],
    sink: &mut S,
) -> io::Result<()> {
    let (mut tracks, mut edges) = (Vec::new(), Vec::new());
    for row in processes.iter().flat_map(|process| &process.rows) {
        if let Content::Slices(slices, range) = &row.content {
            tracks.push(sink.track(row)?);
            edges.push(slices.edges_of(model, range.clone()).peekable());
        }
    }
    let mut points: Vec<_> = counters.iter().map(|counter| counter.points.iter().peekable()).collect();
    let at_ns = |edge: &Edge| {
        let (Edge::Begin(_, at) | Edge::End(_, at)) = edge;
        *at
    };
    // The time of the next event of each row, then of each counter.
    let first_edges = edges.iter_mut().map(|e| e.peek().map(at_ns));
    let first_points = points.iter_mut().map(|p| p.peek().map(|(at, _)| *at));
    let firsts = first_edges.chain(first_points).enumerate();
    let mut queue: BinaryHeap<_> = firsts.filter_map(|(n, at)| Some(Reverse((at?, n)))).collect();
    while let Some(Reverse((_, n))) = queue.pop() {
        let next = if let Some(edges) = edges.get_mut(n) {
            edges.next().map_or(Ok(()), |edge| write_edge(sink, &mut tracks[n], edge))?;
            edges.peek().map(at_ns)
        } else {
            let n = n - tracks.len();
            let point = points[n].next();
            point.map_or(Ok(()), |(at, value)| sink.counter(&counters[n], *at, *value))?;
            points[n].peek().map(|(at, _)| *at)
        };
        queue.extend(next.map(|at| Reverse((at, n))));
    }
    Ok(())
}

#[inline]
fn write_edge<S: TimelineSink>(sink: &mut S, track: &mut S::Track, edge: Edge) -> io::Result<()> {
    match edge {
        Edge::Begin(slice, at) => sink.begin(track, Item::Slice(slice), at),
        Edge::End(slice, at) => sink.end(track, Item::Slice(slice), at),
    }
}

/// Writes slices that do not overlap.
fn apart<'a, S: TimelineSink>(
    model: &Model,
    sink: &mut S,
    track: &mut S::Track,
    items: impl Iterator<Item = Item<'a>>,
) -> io::Result<()> {
    for item in items {
        let (start, end) = item.bounds(model);
        sink.begin(track, item, start)?;
        sink.end(track, item, end)?;
    }
    Ok(())
}
