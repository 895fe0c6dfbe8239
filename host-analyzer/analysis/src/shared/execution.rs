//! Executions: one operator in one graph call, over all threads that took part.
//!
//! Stage: analysis, shared. From: the spans, in one pass. To: [`Executions`], columns in the order
//! of graph calls. Promises: every span of a completely traced call is in exactly one execution, so
//! sums over executions equal sums over those spans. Spans of other calls are in none.

use std::ops::Range;

use super::steps::Steps;
use super::tracing::Tracing;
use profinfer_trace::model::{Ends, GraphCallId, Model, NodeIdx, Spans, WAIT_UNKNOWN};

/// Columns, one row per execution, by graph call; within a call in the order in which spans first
/// name the nodes. Starts and work are needed for single calls or nodes only, so they are read from
/// the spans.
#[derive(Debug, Clone, Default)]
pub struct Executions {
    /// Node of the call's topology.
    pub node: Vec<NodeIdx>,
    /// Last node that the same kernel also computed; equal to `node` when not fused.
    pub last_node: Vec<NodeIdx>,
    /// First start to last end of work over the threads, ns.
    pub wall_ns: Vec<u64>,
    calls: Vec<OfCall>,
}

#[derive(Debug, Clone)]
pub struct OfCall {
    pub call: GraphCallId,
    /// Rows of its executions.
    pub rows: Range<usize>,
    /// Rows of its spans.
    pub spans: Range<usize>,
    /// Largest number of spans of one execution.
    pub widest: u32,
}

/// State of a node's execution while the spans of its call are read.
#[derive(Clone, Copy, Default)]
struct Open {
    /// Its row, from 1; rows of earlier calls are stale.
    row: usize,
    start_ns: u64,
    spans: u32,
}

impl Executions {
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        let widest = model.topologies.rows.iter().map(|s| s.nodes.len()).max().unwrap_or(0);
        let mut open = vec![Open::default(); widest];
        let tracing = Tracing::compute(model);
        let whole = model.spans.by_call().filter(|(call, _)| tracing.whole(call.0 as usize));
        let calls: Vec<_> =
            whole.map(|(call, spans)| (call, Steps::new(&model.spans, spans.clone()), spans)).collect();
        // The columns are large: allocate once, so that growing does not need twice the memory.
        let most = calls.iter().map(|(_, steps, spans)| steps.map_or(spans.len(), Steps::nodes)).sum();
        let mut all = Self {
            node: Vec::with_capacity(most),
            last_node: Vec::with_capacity(most),
            wall_ns: Vec::with_capacity(most),
            calls: Vec::with_capacity(calls.len()),
        };
        for (call, steps, spans) in calls {
            let first = all.len();
            let widest = match steps {
                Some(steps) => all.add_in_step(&model.spans, steps),
                None => all.add(&model.spans, spans.clone(), &mut open),
            };
            all.calls.push(OfCall { call, rows: first..all.len(), spans, widest });
        }
        // They stay in memory while everything else is computed.
        if all.len() < most {
            all.node.shrink_to_fit();
            all.last_node.shrink_to_fit();
            all.wall_ns.shrink_to_fit();
        }
        all
    }

    /// Adds a call in which all threads computed the same nodes. Returns the largest number of
    /// spans of one execution.
    fn add_in_step(&mut self, spans: &Spans, steps: Steps) -> u32 {
        let first = self.len();
        let own = |n| steps.of_thread(n);
        self.node.extend_from_slice(&spans.node[own(0)]);
        self.last_node.extend_from_slice(&spans.last_node[own(0)]);
        for n in 1..steps.count() {
            let last_nodes = self.last_node[first..].iter_mut().zip(&spans.last_node[own(n)]);
            last_nodes.for_each(|(last, other)| *last = (*last).max(*other));
        }
        let end = |start: &u64, work: &u64| start.saturating_add(*work);
        let times = |n| spans.start_ns[own(n)].iter().zip(&spans.work_ns[own(n)]);
        match steps.count() {
            1 => self.wall_ns.extend_from_slice(&spans.work_ns[own(0)]),
            2 => self.wall_ns.extend(
                times(0)
                    .zip(times(1))
                    .map(|((a, a_work), (b, b_work))| end(a, a_work).max(end(b, b_work)) - *a.min(b)),
            ),
            _ => self.wall_ns.extend((0..steps.nodes()).map(|k| {
                let times = |(start, stop): (u64, u64), i: usize| {
                    let (from, work) = (&spans.start_ns[i], &spans.work_ns[i]);
                    (start.min(*from), stop.max(end(from, work)))
                };
                let (start, stop) = steps.of_node(k).fold((u64::MAX, 0), times);
                stop - start
            })),
        }
        u32::try_from(steps.count()).unwrap_or(u32::MAX)
    }

    /// Adds any call. Returns the same.
    fn add(&mut self, spans: &Spans, of_call: Range<usize>, open: &mut [Open]) -> u32 {
        let first = self.len();
        let mut widest = 1;
        for i in of_call {
            let (start, work) = (spans.start_ns[i], spans.work_ns[i]);
            let slot = &mut open[spans.node[i].0 as usize];
            if slot.row <= first {
                self.node.push(spans.node[i]);
                self.last_node.push(spans.last_node[i]);
                self.wall_ns.push(work);
                *slot = Open { row: self.node.len(), start_ns: start, spans: 1 };
                continue;
            }
            let row = slot.row - 1;
            let end = slot.start_ns.saturating_add(self.wall_ns[row]).max(start.saturating_add(work));
            slot.start_ns = slot.start_ns.min(start);
            slot.spans += 1;
            widest = widest.max(slot.spans);
            self.wall_ns[row] = end - slot.start_ns;
            self.last_node[row] = self.last_node[row].max(spans.last_node[i]);
        }
        widest
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.node.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.node.is_empty()
    }

    /// The graph calls that have executions, in order.
    #[must_use]
    pub fn calls(&self) -> &[OfCall] {
        &self.calls
    }

    /// The rows of each graph call that has executions.
    pub fn by_call(&self) -> impl Iterator<Item = (GraphCallId, Range<usize>)> + '_ {
        self.calls.iter().map(|c| (c.call, c.rows.clone()))
    }

    /// Rows of the spans of a graph call; empty if it has no executions.
    #[must_use]
    pub fn spans_of(&self, call: GraphCallId) -> Range<usize> {
        self.calls.binary_search_by_key(&call, |c| c.call).map_or(0..0, |at| self.calls[at].spans.clone())
    }
}

/// A sum of waits; `None` for a recording without end probes, where waits cannot be distinguished
/// from work.
#[must_use]
pub(crate) fn waits(model: &Model, wait_ns: u64) -> Option<u64> {
    (model.capture.ends == Ends::Both).then_some(wait_ns)
}

/// A wait whose end was not recorded counts as 0.
pub(crate) fn known(wait_ns: u32) -> u64 {
    if wait_ns == WAIT_UNKNOWN { 0 } else { u64::from(wait_ns) }
}
