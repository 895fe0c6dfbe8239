//! Operators whose threads ran on fast and on slow cores, and what they take on the fast ones alone.

use std::collections::{BTreeMap, HashMap};

use super::Case;
use profinfer_trace::model::{GraphCallId, NodeIdx, Text};

/// What a thread did in one execution of an operator.
#[derive(Debug, Clone, Copy)]
struct Part {
    fast: bool,
    start_ns: u64,
    end_ns: u64,
}

/// The threads on one type of core in one execution of an operator.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    threads: u32,
    /// Sum of their times, ns.
    ns: u64,
    /// Of that, before the last thread of all began: they may have waited for it at a barrier inside, ns.
    early_ns: u64,
    longest_ns: u64,
}

impl Share {
    fn of<'a>(parts: impl Iterator<Item = &'a Part>, last_start_ns: u64) -> Self {
        parts.fold(Self::default(), |sum, part| {
            let ns = part.end_ns.saturating_sub(part.start_ns);
            Self {
                threads: sum.threads + 1,
                ns: sum.ns.saturating_add(ns),
                early_ns: sum.early_ns.saturating_add(last_start_ns.saturating_sub(part.start_ns).min(ns)),
                longest_ns: sum.longest_ns.max(ns),
            }
        })
    }

    /// Time in which they computed, ns.
    const fn computed_ns(&self, waits: bool) -> u64 {
        if waits { self.ns - self.early_ns } else { self.ns }
    }
}

/// One execution of an operator that fast and slow cores computed together.
#[derive(Debug, Clone, Copy)]
struct Together {
    /// From the first start to the last end, ns.
    elapsed_ns: u64,
    fast: Share,
    slow: Share,
    /// Its threads meet at a barrier inside.
    meets: bool,
    /// A single thread has all of it.
    one_thread: bool,
}

impl Together {
    fn new(parts: &[Part], meets: bool) -> Option<Self> {
        let first = parts.iter().map(|p| p.start_ns).min()?;
        let last_start = parts.iter().map(|p| p.start_ns).max()?;
        let last_end = parts.iter().map(|p| p.end_ns).max()?;
        let share = |fast: bool| Share::of(parts.iter().filter(|p| p.fast == fast), last_start);
        let (fast, slow) = (share(true), share(false));
        let both = fast.threads > 0 && slow.threads > 0;
        let long = parts.iter().filter(|p| {
            let ns = p.end_ns.saturating_sub(p.start_ns);
            ns.saturating_mul(NOTHING) > fast.longest_ns.max(slow.longest_ns)
        });
        let one_thread = long.count() <= 1;
        both.then_some(Self { elapsed_ns: last_end.saturating_sub(first), fast, slow, meets, one_thread })
    }

    /// Time on the fast cores alone, ns, if a slow one takes `ratio` times as long for the same work. `waits`: the
    /// threads waited inside until the last one began.
    fn on_fast_ns(&self, ratio: f64, waits: bool) -> f64 {
        let ratio = ratio.max(1.0);
        // A single thread that has all of it does not gain by its number.
        if self.one_thread {
            return (self.fast.longest_ns as f64).max(self.slow.longest_ns as f64 / ratio);
        }
        let slow = self.slow.computed_ns(waits) as f64 / ratio;
        (self.fast.computed_ns(waits) as f64 + slow) / f64::from(self.fast.threads.max(1))
    }
}

/// Operators of the judged calls that fast and slow cores computed together.
#[derive(Debug, Clone, Default)]
pub(in crate::findings) struct CoreTypes {
    rows: Vec<Together>,
    /// By type of operator, of those that several threads share.
    of_op: HashMap<Text, Means>,
}

/// A thread has nothing to do in an operator if another one takes this many times as long.
const NOTHING: u64 = 10;
/// Types of operators with less than this share of the work show no ratio.
const LEAST_SHARE: f64 = 0.01;

impl CoreTypes {
    /// Time that all of them together take less on the fast cores alone, at least and at most, ns. What the slow
    /// ones did goes to the fast ones. It does not matter who decided how much that was: a split into equal
    /// parts, or the threads that asked for more.
    pub(in crate::findings) fn saved(&self) -> (f64, f64) {
        let mut all = Means::default();
        self.of_op.values().for_each(|m| all.add(*m));
        let large = self.of_op.values().filter(|m| m.slow >= all.slow * LEAST_SHARE);
        let most = large.map(Means::ratio).fold(all.ratio(), f64::max);
        let saved = |ratio: f64, waits: &dyn Fn(&Together) -> bool| {
            let of = |t: &Together| t.elapsed_ns as f64 - t.on_fast_ns(ratio, waits(t));
            self.rows.iter().map(of).sum()
        };
        (saved(all.ratio(), &|t| t.meets), saved(most, &|_| true))
    }

    fn add(&mut self, op: Option<Text>, together: Together) {
        self.rows.push(together);
        if let Some(op) = op.filter(|_| !together.one_thread) {
            let mean = |s: Share| s.computed_ns(together.meets) as f64 / f64::from(s.threads.max(1));
            let (fast, slow) = (mean(together.fast), mean(together.slow));
            self.of_op.entry(op).or_default().add(Means { fast, slow });
        }
    }
}

impl Case<'_> {
    /// The operators of the captured calls, where these CPUs are the fast ones.
    pub(in crate::findings) fn core_types(&self, fast: &[u16]) -> CoreTypes {
        let spans = &self.model.spans;
        let mut types = CoreTypes::default();
        let mut of_call: BTreeMap<NodeIdx, Vec<Part>> = BTreeMap::new();
        let mut last: Option<GraphCallId> = None;
        for i in self.captured_spans() {
            let call = spans.graph_call[i];
            match last.replace(call) {
                Some(before) if before != call => self.add_call(before, &mut of_call, &mut types),
                _ => {}
            }
            let (start_ns, fast) = (spans.start_ns[i], spans.cpu[i].is_some_and(|cpu| fast.contains(&cpu)));
            let end_ns = start_ns.saturating_add(spans.work_ns[i]);
            of_call.entry(spans.node[i]).or_default().push(Part { fast, start_ns, end_ns });
        }
        if let Some(call) = last {
            self.add_call(call, &mut of_call, &mut types);
        }
        types
    }

    /// Takes the operators of a call.
    fn add_call(&self, call: GraphCallId, of_call: &mut BTreeMap<NodeIdx, Vec<Part>>, types: &mut CoreTypes) {
        let topology = self.model.graph_calls.topology[call.0 as usize];
        let nodes = topology.map_or(&[][..], |t| &self.model.topologies.rows[t.0 as usize].nodes);
        let classes = topology.map_or(&[][..], |t| self.analysis.replay.classes_of(t));
        for (node, parts) in std::mem::take(of_call) {
            let meets =
                classes.get(node.0 as usize).is_some_and(|class| self.analysis.replay.meets_inside(*class));
            if let Some(together) = Together::new(&parts, meets) {
                types.add(nodes.get(node.0 as usize).map(|node| node.op), together);
            }
        }
    }
}

/// Mean time of a thread on a fast and on a slow core, ns.
#[derive(Debug, Clone, Copy, Default)]
struct Means {
    fast: f64,
    slow: f64,
}

impl Means {
    fn add(&mut self, other: Self) {
        self.fast += other.fast;
        self.slow += other.slow;
    }

    fn ratio(&self) -> f64 {
        if self.fast > 0.0 { (self.slow / self.fast).max(1.0) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn together(fast: (u64, u64), slow: (u64, u64)) -> Together {
        let part = |fast, (start_ns, end_ns)| Part { fast, start_ns, end_ns };
        let both = Together::new(&[part(true, fast), part(false, slow)], true);
        both.unwrap_or_else(|| panic!("{fast:?} {slow:?}"))
    }

    #[test]
    fn the_fast_core_does_both_parts() {
        let t = together((0, 300), (200, 700));
        assert_eq!(t.elapsed_ns, 700);
        assert!((t.on_fast_ns(5.0, true) - 200.0).abs() < 1e-9, "{t:?}");
        assert!((t.on_fast_ns(5.0, false) - 400.0).abs() < 1e-9, "{t:?}");
        // A slow core that is the faster one.
        assert!((t.on_fast_ns(0.5, true) - 600.0).abs() < 1e-9, "{t:?}");
    }

    #[test]
    fn one_thread_has_all_of_it() {
        for ((fast, slow), ns) in [((100, 5), 100.0), ((5, 100), 20.0)] {
            let t = together((0, fast), (0, slow));
            assert!((t.on_fast_ns(5.0, false) - ns).abs() < 1e-9, "{t:?}");
        }
        let part = Part { fast: true, start_ns: 0, end_ns: 9 };
        assert!(Together::new(&[part, part], false).is_none());
        // Two slow ones share it.
        let slow = Part { fast: false, start_ns: 0, end_ns: 100 };
        let t = Together::new(&[part, slow, slow], false);
        assert!(t.is_some_and(|t| (t.on_fast_ns(4.0, false) - 59.0).abs() < 1e-9), "{t:?}");
    }
}
