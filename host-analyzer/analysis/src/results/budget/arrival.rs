//! Operators of one graph call, with the threads' arrivals at the barrier after each.

use std::ops::Range;

use crate::shared::gather::Gather;
use crate::shared::steps::Steps;
use crate::stats::percentile::percentile;
use profinfer_trace::model::{NodeIdx, Spans};

/// One operator in one graph call, and the barrier after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Barrier {
    pub(super) node: NodeIdx,
    /// Threads that took part.
    pub(super) threads: u32,
    /// First start of work, ns, and its span.
    pub(super) start: u64,
    pub(super) first: usize,
    /// Last end of work, ns, when the barrier opens, and its span.
    pub(super) release: u64,
    pub(super) last: usize,
    /// The span that ended first.
    pub(super) early: usize,
    /// Medians of the other threads' starts and ends, ns; for a single thread, its own.
    pub(super) others_start: u64,
    pub(super) others_end: u64,
    /// Most work of another thread, ns.
    pub(super) others_work: u64,
}

impl Barrier {
    /// Sort key for the order in which barriers opened.
    #[inline]
    pub(super) const fn opened(&self) -> (u64, u64) {
        (self.release, self.start)
    }
}

/// The operators of one graph call, in the order in which the spans first name their nodes.
#[derive(Debug, Default)]
pub(super) struct BarrierArrivals {
    pub(super) rows: Vec<Barrier>,
    gather: Gather,
    /// Reused from call to call.
    values: Vec<u64>,
}

#[inline]
pub(super) fn end(spans: &Spans, i: usize) -> u64 {
    spans.start_ns[i].saturating_add(spans.work_ns[i])
}

impl BarrierArrivals {
    /// Reads the spans of one graph call, in any order.
    pub(super) fn read(&mut self, spans: &Spans, rows: Range<usize>) {
        let Self { rows: barriers, gather, values } = self;
        gather.read(&spans.node, rows);
        barriers.clear();
        let of = |members: &[usize]| of_any(spans, members.iter().copied(), values);
        barriers.extend(gather.rows().map(of));
    }

    /// Row by span, from the call's first span on.
    pub(super) fn of_span(&self) -> &[u32] {
        &self.gather.of_span
    }

    /// The rows in the order in which barriers opened.
    pub(super) fn in_order(&self) -> impl Iterator<Item = usize> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|row| self.rows[*row].opened());
        order.into_iter()
    }
}

/// One thread's part in a barrier: its span, and its first and last moment of work, ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) span: usize,
    pub(super) start: u64,
    pub(super) work: u64,
}

impl Arrival {
    #[inline]
    pub(super) const fn end(self) -> u64 {
        self.start.saturating_add(self.work)
    }
}

/// With two threads, the other one is the median. Which thread comes last is random, so this code
/// does not branch on it.
#[inline]
fn of_two(node: NodeIdx, a: Arrival, b: Arrival) -> Barrier {
    let (a_end, b_end) = (a.end(), b.end());
    // If both arrive together, the later thread counts as the last, and the earlier one as the
    // first.
    let (b_last, b_first) = (b_end >= a_end, b.start < a.start);
    Barrier {
        node,
        threads: 2,
        start: a.start.min(b.start),
        first: if b_first { b.span } else { a.span },
        release: a_end.max(b_end),
        last: if b_last { b.span } else { a.span },
        early: if b_end < a_end { b.span } else { a.span },
        others_start: if b_last { a.start } else { b.start },
        others_end: a_end.min(b_end),
        others_work: if b_last { a.work } else { b.work },
    }
}

/// For one thread or more. `values` is a buffer for reuse.
fn of_any(spans: &Spans, members: impl Iterator<Item = usize> + Clone, values: &mut Vec<u64>) -> Barrier {
    let start = |i: usize| spans.start_ns[i];
    let mut all = members.clone();
    let one = all.next().unwrap_or_default();
    let (mut first, mut last, mut early) = (one, one, one);
    let (mut release, mut early_end) = (end(spans, one), end(spans, one));
    let mut threads = 1_u32;
    for i in all {
        threads += 1;
        let ended = end(spans, i);
        if start(i) < start(first) {
            first = i;
        }
        // If several arrive together, the later thread counts as the last.
        if ended >= release {
            (last, release) = (i, ended);
        }
        if ended < early_end {
            (early, early_end) = (i, ended);
        }
    }
    let others = || members.clone().filter(|i| *i != last);
    Barrier {
        node: spans.node[last],
        threads,
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

/// The spans of one thread that is in step, node by node. `n` is its position in the call.
pub(super) fn arrivals(spans: &Spans, steps: Steps, n: usize) -> impl Iterator<Item = Arrival> {
    let rows = steps.of_thread(n);
    let times = spans.start_ns[rows.clone()].iter().zip(&spans.work_ns[rows.clone()]);
    rows.zip(times).map(|(span, (start, work))| Arrival { span, start: *start, work: *work })
}

/// The barriers of exactly two threads in step.
pub(super) fn pairs(spans: &Spans, steps: Steps) -> Option<impl Iterator<Item = Barrier>> {
    (steps.count() == 2).then(|| {
        let pairs = arrivals(spans, steps, 0).zip(arrivals(spans, steps, 1));
        pairs.zip(&spans.node[steps.of_thread(0)]).map(|((a, b), node)| of_two(*node, a, b))
    })
}

/// The same for any number of threads. `values` is a buffer for reuse.
pub(super) fn barriers(spans: &Spans, steps: Steps, values: &mut Vec<u64>) -> impl Iterator<Item = Barrier> {
    (0..steps.nodes()).map(move |k| of_any(spans, steps.of_node(k), values))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code for two threads gives the same as the code for any number, whatever the times.
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
            let arrival = |span| Arrival { span, start: spans.start_ns[span], work: spans.work_ns[span] };
            let two = of_two(NodeIdx(7), arrival(0), arrival(1));
            let any = of_any(&spans, 0..2, &mut values);
            assert_eq!(format!("{two:?}"), format!("{any:?}"));
        }
    }

    #[test]
    fn rows_are_in_the_order_of_barriers_even_if_nodes_are_not() {
        let mut barriers = BarrierArrivals::default();
        let row = |release, start| Barrier { release, start, ..of_any(&one(), 0..1, &mut Vec::new()) };
        barriers.rows = vec![row(5, 1), row(9, 3), row(5, 0), row(7, 7), row(5, 0)];
        assert_eq!(barriers.in_order().collect::<Vec<_>>(), [2, 4, 0, 3, 1]);
        barriers.rows = vec![row(5, 1), row(5, 1), row(7, 0)];
        assert_eq!(barriers.in_order().collect::<Vec<_>>(), [0, 1, 2]);
    }

    fn one() -> Spans {
        Spans { node: vec![NodeIdx(0)], start_ns: vec![0], work_ns: vec![0], ..Spans::default() }
    }
}
