//! Which thread is habitually last at an operator.

use super::arrival::{self, Barrier, BarrierArrivals};
use super::call::CallRows;
use crate::shared::steps::Steps;
use crate::shared::tracing::Tracing;
use profinfer_trace::model::{GraphCallId, Model, NodeIdx, Spans, ThreadId, TopologyId, WAIT_UNKNOWN};
use std::ops::Range;

/// Nodes of each topology at which nearly always the same thread is last.
#[derive(Debug, Default)]
pub(super) struct Habits {
    rows: Vec<Vec<bool>>,
}

#[derive(Debug, Clone, Copy)]
struct Habit {
    /// The last arriver of the previous call, and whether it was late.
    last: ThreadId,
    late: bool,
    same: u32,
    times: u32,
}

/// Least number of repetitions, and least share, for a habit. Two threads that come last at random
/// repeat half of the time.
const TIMES: u32 = 8;
const SHARE: f64 = 0.8;
/// A thread is late if it arrives later than the others by more than this fraction of its work
/// (1/20).
const MUCH: u64 = 20;

impl Habits {
    /// The habits of a session, from completely traced calls. Also marks in `calls` which calls are
    /// in step.
    pub(super) fn compute(model: &Model, tracing: &Tracing, calls: &mut [CallRows]) -> Self {
        let mut seen: Vec<Vec<Habit>> = Vec::new();
        seen.resize_with(model.topologies.rows.len(), Vec::new);
        let (mut barriers, mut values) = (BarrierArrivals::default(), Vec::new());
        for (id, call) in (0..).map(GraphCallId).zip(calls) {
            let i = id.0 as usize;
            if let Some(topology) = model.graph_calls.topology[i]
                && !call.rows.is_empty()
                && tracing.whole(i)
            {
                let habits = &mut seen[topology.0 as usize];
                let inside = model.graph_calls.bounds(id);
                call.steps =
                    learn(habits, &model.spans, call.rows.clone(), inside, (&mut barriers, &mut values));
            }
        }
        let is_habit = |h: &Habit| h.times >= TIMES && f64::from(h.same) >= SHARE * f64::from(h.times);
        Self { rows: seen.iter().map(|row| row.iter().map(is_habit).collect()).collect() }
    }

    /// By node of one topology; nodes after the last entry have no habit.
    pub(super) fn of_topology(&self, topology: Option<TopologyId>) -> HabitsOf<'_> {
        HabitsOf(topology.and_then(|t| self.rows.get(t.0 as usize)).map_or(&[], Vec::as_slice))
    }
}

/// Habits of one topology.
#[derive(Debug, Clone, Copy)]
pub(super) struct HabitsOf<'a>(&'a [bool]);

impl HabitsOf<'_> {
    #[inline]
    pub(super) fn is_habit(self, node: NodeIdx) -> bool {
        self.0.get(node.0 as usize).copied().unwrap_or(false)
    }
}

/// Reads the barriers of one graph call from `start` to `stop`. Returns whether its threads are in
/// step.
fn learn(
    habits: &mut Vec<Habit>,
    spans: &Spans,
    rows: Range<usize>,
    inside: (u64, u64),
    (barriers, values): (&mut BarrierArrivals, &mut Vec<u64>),
) -> Option<Steps> {
    let Some(steps) = Steps::new(spans, rows.clone()) else {
        barriers.read(spans, rows);
        barriers.rows.iter().for_each(|m| add(habits, spans, m));
        return None;
    };
    let in_turn = match arrival::pairs(spans, steps) {
        Some(pairs) => learn_in_step(habits, spans, pairs, inside),
        None => learn_in_step(habits, spans, arrival::barriers(spans, steps, values), inside),
    };
    let known = spans.wait_ns[rows].iter().fold(true, |so_far, wait| so_far & (*wait != WAIT_UNKNOWN));
    (in_turn && known).then_some(steps)
}

/// Returns whether each barrier began after the one before, and all of them within the time of the
/// call.
fn learn_in_step(
    habits: &mut Vec<Habit>,
    spans: &Spans,
    barriers: impl Iterator<Item = Barrier>,
    (start, stop): (u64, u64),
) -> bool {
    let (mut in_turn, mut before) = (true, start);
    for m in barriers {
        in_turn &= before <= m.start;
        before = m.release;
        add(habits, spans, &m);
    }
    in_turn && before <= stop
}

#[inline(always)]
fn add(row: &mut Vec<Habit>, spans: &Spans, m: &Barrier) {
    if m.threads < 2 {
        return;
    }
    let node = m.node.0 as usize;
    if row.len() <= node {
        row.resize(node + 1, Habit { last: ThreadId(0), late: false, same: 0, times: 0 });
    }
    let habit = &mut row[node];
    let late = m.release.saturating_sub(m.others_end).saturating_mul(MUCH) > spans.work_ns[m.last];
    let last = spans.thread[m.last];
    // Which thread is last is unpredictable, so this code does not branch on it.
    habit.same += u32::from(late & habit.late & (habit.last == last));
    habit.times += 1;
    habit.last = last;
    habit.late = late;
}
