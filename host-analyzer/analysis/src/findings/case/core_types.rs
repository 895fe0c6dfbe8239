//! Operators whose threads ran on fast and on slow cores, and what they take on the fast ones alone.

use std::collections::{BTreeMap, HashMap};

use super::Case;
use profinfer_trace::model::{GraphCallId, Model, NodeIdx, Text};

/// One execution of an operator.
#[derive(Debug, Clone, Copy, Default)]
struct Shares {
    fast_ns: u64,
    slow_ns: u64,
    fast: u32,
    slow: u32,
    /// When the last thread began, and the sum of when those on fast cores did, ns.
    last_start_ns: u64,
    fast_starts_ns: u128,
    /// Longest and second longest work of a thread, ns.
    most_ns: u64,
    second_ns: u64,
}

/// Operators of the judged calls that fast and slow cores computed together.
#[derive(Debug, Clone, Default)]
pub(in crate::findings) struct CoreTypes {
    rows: Vec<Shares>,
    /// How many times as long the slow ones took: over all operators, and for the type of operator with the
    /// largest ratio.
    ratio: (f64, f64),
}

/// A thread has nothing to do in an operator if another one takes this many times as long.
const NOTHING: u64 = 10;
/// Types of operators with less than this share of the work show no ratio.
const LEAST_SHARE: f64 = 0.01;

impl Shares {
    const fn is_of_one_thread(&self) -> bool {
        self.most_ns >= self.second_ns.saturating_mul(NOTHING)
    }

    /// Time on fast cores before the last thread began: they may have waited for it at a barrier inside, ns.
    fn early_ns(&self) -> u64 {
        let early = u128::from(self.last_start_ns) * u128::from(self.fast) - self.fast_starts_ns;
        u64::try_from(early).unwrap_or(u64::MAX).min(self.fast_ns)
    }
}

impl CoreTypes {
    /// Time that all of them together take less on the fast cores alone, at least and at most, ns. What the slow
    /// ones did goes to the fast ones. It does not matter who decided how much that was: a split into equal
    /// parts, or the threads that asked for more.
    pub(in crate::findings) fn saved(&self) -> (f64, f64) {
        let (least, most) = self.ratio;
        (self.saved_if(least, |_| 0), self.saved_if(most, Shares::early_ns))
    }

    /// The same if a slow core takes `ratio` times as long for the same work, and the fast ones waited for a part of
    /// theirs.
    fn saved_if(&self, ratio: f64, waited_ns: impl Fn(&Shares) -> u64) -> f64 {
        let ratio = ratio.max(1.0);
        let of = |s: &Shares| {
            let work = (s.fast_ns - waited_ns(s)) as f64 + s.slow_ns as f64 / ratio;
            // A single thread that has all of it does not gain by its number.
            let alone = if s.is_of_one_thread() {
                if s.fast_ns >= s.slow_ns { s.most_ns as f64 } else { s.most_ns as f64 / ratio }
            } else {
                work / f64::from(s.fast.max(1))
            };
            s.most_ns as f64 - alone
        };
        self.rows.iter().map(of).sum()
    }
}

impl Case<'_> {
    /// The operators of the captured calls, where these CPUs are the fast ones.
    pub(in crate::findings) fn core_types(&self, fast: &[u16]) -> CoreTypes {
        let spans = &self.model.spans;
        let mut sums = Sums::default();
        let mut of_call: BTreeMap<NodeIdx, Shares> = BTreeMap::new();
        let mut last: Option<GraphCallId> = None;
        for i in self.captured_spans() {
            let call = spans.graph_call[i];
            match last.replace(call) {
                Some(before) if before != call => sums.add(self.model, before, &mut of_call),
                _ => {}
            }
            let (ns, shares) = (spans.work_ns[i], of_call.entry(spans.node[i]).or_default());
            shares.last_start_ns = shares.last_start_ns.max(spans.start_ns[i]);
            if spans.cpu[i].is_some_and(|cpu| fast.contains(&cpu)) {
                (shares.fast_ns, shares.fast) = (shares.fast_ns.saturating_add(ns), shares.fast + 1);
                shares.fast_starts_ns += u128::from(spans.start_ns[i]);
            } else {
                (shares.slow_ns, shares.slow) = (shares.slow_ns.saturating_add(ns), shares.slow + 1);
            }
            shares.second_ns = shares.second_ns.max(ns.min(shares.most_ns));
            shares.most_ns = shares.most_ns.max(ns);
        }
        if let Some(call) = last {
            sums.add(self.model, call, &mut of_call);
        }
        let ratio = sums.ratio();
        CoreTypes { rows: sums.rows, ratio }
    }
}

/// Mean work of a thread on a fast and on a slow core, ns.
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

    fn ratio(self) -> f64 {
        if self.fast > 0.0 { (self.slow / self.fast).max(1.0) } else { 1.0 }
    }
}

#[derive(Debug, Default)]
struct Sums {
    rows: Vec<Shares>,
    /// By type of operator, of those that several threads share.
    of_op: HashMap<Text, Means>,
}

impl Sums {
    /// Takes the operators of a call.
    fn add(&mut self, model: &Model, call: GraphCallId, of_call: &mut BTreeMap<NodeIdx, Shares>) {
        let topology = model.graph_calls.topology[call.0 as usize];
        let nodes = topology.map_or(&[][..], |t| &model.topologies.rows[t.0 as usize].nodes);
        for (node, shares) in std::mem::take(of_call) {
            if shares.fast == 0 || shares.slow == 0 {
                continue;
            }
            self.rows.push(shares);
            if let Some(node) = nodes.get(node.0 as usize).filter(|_| !shares.is_of_one_thread()) {
                let mean = |ns: u64, threads: u32| ns as f64 / f64::from(threads);
                self.of_op.entry(node.op).or_default().add(Means {
                    fast: mean(shares.fast_ns, shares.fast),
                    slow: mean(shares.slow_ns, shares.slow),
                });
            }
        }
    }

    fn ratio(&self) -> (f64, f64) {
        let mut all = Means::default();
        self.of_op.values().for_each(|m| all.add(*m));
        let large = self.of_op.values().filter(|m| m.slow >= all.slow * LEAST_SHARE);
        let most = large.map(|m| m.ratio()).fold(all.ratio(), f64::max);
        (all.ratio(), most)
    }
}
