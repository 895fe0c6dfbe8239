//! Operators of one graph call with the threads' arrivals at the barrier behind each.

use std::ops::Range;

use super::super::percentile::percentile;
use super::gather::{Gather, NONE};
use crate::model::{NodeIdx, Spans};

/// One operator in one graph call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting {
    pub(super) node: NodeIdx,
    /// Threads that took part.
    pub(super) threads: u32,
    /// First start of work, ns, and the span that began it.
    pub(super) start: u64,
    pub(super) first: usize,
    /// Last end of work, ns: the barrier opens. And the span that ended then.
    pub(super) release: u64,
    pub(super) last: usize,
    /// The span that ended first.
    pub(super) early: usize,
    /// Medians of the other threads' starts and ends, ns; of one thread its own.
    pub(super) others_start: u64,
    pub(super) others_end: u64,
    /// Most work of another thread, ns.
    pub(super) others_work: u64,
}

/// The operators of one graph call, in the order in which the spans name their nodes.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    pub(super) rows: Vec<Meeting>,
    gather: Gather,
    /// Used again from call to call.
    values: Vec<u64>,
}

pub(super) fn end(spans: &Spans, i: usize) -> u64 {
    spans.start_ns[i].saturating_add(spans.work_ns[i])
}

impl Meetings {
    /// Reads the spans of one graph call.
    pub(super) fn read(&mut self, spans: &Spans, rows: Range<usize>) {
        let Self { rows: meetings, gather, values } = self;
        gather.read(spans, rows);
        meetings.clear();
        meetings.extend(gather.rows().map(|members| match *members {
            [a, b] => of_two(spans, a, b),
            _ => of_any(spans, members, values),
        }));
    }

    /// Row by span, from the call's first span on.
    pub(super) fn of_span(&self) -> &[u32] {
        &self.gather.of_span
    }

    /// The rows in the order in which barriers opened.
    pub(super) fn in_order(&self) -> impl Iterator<Item = usize> {
        let key = |m: &Meeting| (m.release, m.start);
        // Threads compute the nodes in order, unless the recording is damaged.
        let sorted = (!self.rows.is_sorted_by_key(key)).then(|| {
            let mut order: Vec<usize> = (0..self.rows.len()).collect();
            order.sort_by_key(|row| key(&self.rows[*row]));
            order
        });
        (0..self.rows.len()).map(move |i| sorted.as_ref().map_or(i, |order| order[i]))
    }
}

/// Of two threads the other one is the median. Which one comes last is a matter of chance, so that nothing here branches by it.
#[inline]
fn of_two(spans: &Spans, a: usize, b: usize) -> Meeting {
    let (a_start, b_start, a_end, b_end) =
        (spans.start_ns[a], spans.start_ns[b], end(spans, a), end(spans, b));
    // Of those that come together the later thread counts as the last, and the earlier one as the first.
    let (b_last, b_first) = (b_end >= a_end, b_start < a_start);
    let (last, other) = if b_last { (b, a) } else { (a, b) };
    Meeting {
        node: spans.node[last],
        threads: 2,
        start: a_start.min(b_start),
        first: if b_first { b } else { a },
        release: a_end.max(b_end),
        last,
        early: if b_end < a_end { b } else { a },
        others_start: if b_last { a_start } else { b_start },
        others_end: a_end.min(b_end),
        others_work: spans.work_ns[other],
    }
}

/// `values` is room that is used again.
fn of_any(spans: &Spans, members: &[usize], values: &mut Vec<u64>) -> Meeting {
    let start = |i: usize| spans.start_ns[i];
    let (mut first, mut last, mut early) = (members[0], members[0], members[0]);
    let (mut release, mut early_end) = (end(spans, last), end(spans, early));
    for i in members[1..].iter().copied() {
        let ended = end(spans, i);
        if start(i) < start(first) {
            first = i;
        }
        // Of those that come together the later thread counts as the last.
        if ended >= release {
            (last, release) = (i, ended);
        }
        if ended < early_end {
            (early, early_end) = (i, ended);
        }
    }
    let others = || members.iter().copied().filter(|i| *i != last);
    Meeting {
        node: spans.node[last],
        threads: u32::try_from(members.len()).unwrap_or(NONE),
        start: start(first),
        first,
        release,
        last,
        early,
        others_start: median(others().map(start), values).unwrap_or_else(|| start(last)),
        others_end: median(others().map(|i| end(spans, i)), values).unwrap_or(release),
        others_work: others().map(|i| spans.work_ns[i]).max().unwrap_or(0),
    }
}

fn median(of: impl Iterator<Item = u64>, values: &mut Vec<u64>) -> Option<u64> {
    values.clear();
    values.extend(of);
    percentile(values, 50)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads are read as any number is, whatever their times.
    #[test]
    fn both_ways_give_the_same() {
        let times = [0, 1, 2, 3, u64::MAX - 1, u64::MAX];
        let mut values = Vec::new();
        for n in 0..times.len().pow(4) {
            let time = |place: u32| times[n / times.len().pow(place) % times.len()];
            let spans = Spans {
                node: vec![NodeIdx(7); 2],
                start_ns: vec![time(0), time(1)],
                work_ns: vec![time(2), time(3)],
                ..Spans::default()
            };
            let (two, any) = (of_two(&spans, 0, 1), of_any(&spans, &[0, 1], &mut values));
            assert_eq!(format!("{two:?}"), format!("{any:?}"));
        }
    }

    #[test]
    fn rows_are_in_the_order_of_barriers_even_if_nodes_are_not() {
        let mut meetings = Meetings::default();
        let row = |release, start| Meeting { release, start, ..of_two(&one(), 0, 0) };
        meetings.rows = vec![row(5, 1), row(9, 3), row(5, 0), row(7, 7), row(5, 0)];
        assert_eq!(meetings.in_order().collect::<Vec<_>>(), [2, 4, 0, 3, 1]);
        meetings.rows = vec![row(5, 1), row(5, 1), row(7, 0)];
        assert_eq!(meetings.in_order().collect::<Vec<_>>(), [0, 1, 2]);
    }

    fn one() -> Spans {
        Spans { node: vec![NodeIdx(0)], start_ns: vec![0], work_ns: vec![0], ..Spans::default() }
    }
}
