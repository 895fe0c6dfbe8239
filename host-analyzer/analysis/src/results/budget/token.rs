//! One token: its own time, and that of each of its threads.

use std::ops::Range;

use super::arrival::BarrierArrivals;
use super::call::CallRows;
use super::class::{Allocation, Class, Parts};
use super::habit::HabitsOf;
use super::lateness::Late;
use super::orderly::Operator;
use super::thread::ThreadWalk;
use super::wall::{self, Wall};
use super::worked::{OfGraph, Worked};
use super::{arrival, orderly};
use crate::shared::steps::Steps;
use profinfer_trace::model::{GraphCallId, ThreadId};

/// The time of a token by class, along the last arrivers and by thread.
pub(super) struct TokenParts {
    pub(super) wall: Parts,
    /// In the order of the given threads.
    pub(super) threads: Vec<Parts>,
}

/// Buffers that are reused from call to call.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    barriers: BarrierArrivals,
    values: Vec<u64>,
    operators: Vec<Operator>,
}

/// The allocations of all threads of a token.
struct Fills<'a> {
    threads: &'a [ThreadId],
    fills: Vec<Allocation>,
}

impl Fills<'_> {
    fn iter(&mut self) -> impl Iterator<Item = (ThreadId, &mut Allocation)> {
        self.threads.iter().copied().zip(&mut self.fills)
    }

    fn each(&mut self, then: impl FnMut(&mut Allocation)) {
        self.fills.iter_mut().for_each(then);
    }
}

impl<const SCHED: bool> ThreadWalk<'_, SCHED> {
    /// The complete token; `rows` by graph call.
    pub(super) fn token(
        &self,
        threads: &[ThreadId],
        rows: &[CallRows],
        scratch: &mut Scratch,
        worked: &mut Worked<'_>,
    ) -> TokenParts {
        let (outside, interval) = (self.outside(), self.interval);
        let mut wall = Allocation::new(interval.start, interval.end);
        let mut fills = Fills { threads, fills: vec![wall; threads.len()] };
        for (graph, gap) in interval.graphs.iter().zip(&outside) {
            let (start, end) = self.model.graph_calls.bounds(*graph);
            wall.copy(start, gap);
            fills.each(|fill| fill.copy(start, gap));
            let time = (wall.at(), end.min(interval.end).max(wall.at()));
            if !self.traced {
                wall.until(time.1, Class::NotTraced);
                fills.each(|fill| fill.until(end, Class::NotTraced));
                continue;
            }
            let call = &rows[graph.0 as usize];
            let mut worked = worked.of_graph(*graph);
            let of_graph = if !self.model.computes_on_cpu(*graph) {
                for (thread, fill) in fills.iter() {
                    self.other_backend(fill, thread, self.own_rows(call, thread), end);
                }
                wall::other(self.causes, call.rows.clone(), time, &mut worked)
            } else {
                // No part of it is before or after the time that is classified.
                let whole = time == (start, end) && fills.fills.iter().all(|fill| fill.at() == start);
                let wall = Wall::new(self.causes, self.costs, time);
                match call.steps {
                    Some(steps) if !SCHED && whole && self.causes.ends() => {
                        self.in_step((*graph, steps), &mut fills, wall, scratch, &mut worked)
                    }
                    _ => self.in_any_order((*graph, call), &mut fills, wall, end, scratch, &mut worked),
                }
            };
            wall.copy(time.1, &of_graph);
        }
        if let Some(gap) = outside.last() {
            wall.copy(interval.end, gap);
            fills.each(|fill| fill.copy(interval.end, gap));
        }
        TokenParts {
            wall: wall.finish(Class::Unknown),
            threads: fills.fills.into_iter().map(|fill| fill.finish(Class::Unknown)).collect(),
        }
    }

    /// A graph call of the CPU backend whose threads are in step.
    fn in_step(
        &self,
        (graph, steps): (GraphCallId, Steps),
        fills: &mut Fills<'_>,
        wall: Wall<'_, SCHED>,
        scratch: &mut Scratch,
        worked: &mut OfGraph<'_>,
    ) -> Parts {
        let (spans, causes) = (&self.model.spans, self.causes);
        let (habits, operators) = (self.habits(graph), &mut scratch.operators);
        let parts = match arrival::pairs(spans, steps) {
            Some(pairs) => orderly::read(causes, habits, pairs, wall, operators, worked),
            None => {
                let barriers = arrival::barriers(spans, steps, &mut scratch.values);
                orderly::read(causes, habits, barriers, wall, operators, worked)
            }
        };
        let time = self.model.graph_calls.bounds(graph);
        let ids: Vec<ThreadId> = steps.threads(spans).collect();
        for (thread, fill) in fills.iter() {
            match ids.iter().position(|id| *id == thread) {
                Some(n) => {
                    let own = arrival::arrivals(spans, steps, n);
                    fill.copy(
                        time.1,
                        &orderly::thread(self.costs, causes.between, ids.len() == 2, time, own, operators),
                    );
                }
                None => self.nothing(fill, time.1, ids.len() == 1),
            }
        }
        parts
    }

    /// The same for threads that computed different nodes, or in different orders.
    fn in_any_order(
        &self,
        (graph, call): (GraphCallId, &CallRows),
        fills: &mut Fills<'_>,
        mut wall: Wall<'_, SCHED>,
        end: u64,
        scratch: &mut Scratch,
        worked: &mut OfGraph<'_>,
    ) -> Parts {
        let (spans, causes) = (&self.model.spans, self.causes);
        let habits = self.habits(graph);
        let barriers = &mut scratch.barriers;
        barriers.read(spans, call.rows.clone());
        let late: Vec<_> = barriers.rows.iter().map(|m| Late::new(causes, habits, m)).collect();
        for row in barriers.in_order() {
            let m = &barriers.rows[row];
            worked.node(m.node, wall.up_to(m, &late[row]));
        }
        let alone = !call.rows.is_empty() && barriers.rows.iter().all(|m| m.threads == 1);
        for (thread, fill) in fills.iter() {
            let own = self.own_rows(call, thread);
            if own.is_empty() {
                self.nothing(fill, end, alone);
                continue;
            }
            for i in own.clone() {
                let row = barriers.of_span()[i - call.rows.start] as usize;
                let next = if i + 1 < own.end { spans.start_ns[i + 1] } else { end };
                self.span(fill, thread, i);
                self.behind(fill, i, next, barriers.rows[row].release, &late[row]);
            }
            self.between(fill, thread, end);
        }
        wall.finish(if call.rows.is_empty() { causes.unseen() } else { causes.between })
    }

    /// A thread that has no span in a graph call; `alone`: one other thread computed all of it.
    fn nothing(&self, fill: &mut Allocation, end: u64, alone: bool) {
        fill.until(end, if alone { Class::WaitOneThread } else { self.causes.unseen() });
    }

    fn habits(&self, graph: GraphCallId) -> HabitsOf<'_> {
        self.causes.habits.of_topology(self.model.graph_calls.topology[graph.0 as usize])
    }

    fn own_rows(&self, call: &CallRows, thread: ThreadId) -> Range<usize> {
        // The spans of a call are in the order of threads.
        let column = &self.model.spans.thread[call.rows.clone()];
        let from = column.partition_point(|t| *t < thread);
        let to = column.partition_point(|t| *t <= thread);
        call.rows.start + from..call.rows.start + to
    }
}
