//! Which thread comes last at an operator, time after time.

use super::super::tracing::Tracing;
use super::arrival::Meetings;
use crate::model::{Model, NodeIdx, Spans, ThreadId, TopologyId};
use std::ops::Range;

/// At which nodes of each topology it is nearly always the same thread that comes last.
#[derive(Debug, Default)]
pub(super) struct Habits {
    rows: Vec<Vec<bool>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Habit {
    last: Option<ThreadId>,
    same: u32,
    times: u32,
}

/// From so many times on, and from this share on, it is a habit. Two threads that come last by chance repeat half of the time.
const TIMES: u32 = 8;
const SHARE: f64 = 0.8;
/// A thread is late if it comes later than the others by more than this part of its work.
const MUCH: u64 = 20;

impl Habits {
    /// The habits of a session, of calls that were traced whole.
    pub(super) fn of(model: &Model, tracing: &Tracing, rows: &[Range<usize>]) -> Self {
        let mut seen: Vec<Vec<Habit>> = Vec::new();
        seen.resize_with(model.topologies.rows.len(), Vec::new);
        let mut meetings = Meetings::default();
        for (i, rows) in rows.iter().enumerate() {
            if let Some(topology) = model.graph_calls.topology[i]
                && !rows.is_empty()
                && tracing.whole(i)
            {
                meetings.read(&model.spans, rows.clone());
                add(&mut seen[topology.0 as usize], &model.spans, &meetings);
            }
        }
        let is_habit = |h: &Habit| h.times >= TIMES && f64::from(h.same) >= SHARE * f64::from(h.times);
        Self { rows: seen.iter().map(|row| row.iter().map(is_habit).collect()).collect() }
    }

    /// By node of one topology; nodes behind the last one have no habit.
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

fn add(row: &mut Vec<Habit>, spans: &Spans, meetings: &Meetings) {
    for m in meetings.rows.iter().filter(|m| m.threads > 1) {
        let node = m.node.0 as usize;
        if row.len() <= node {
            row.resize(node + 1, Habit::default());
        }
        let habit = &mut row[node];
        let late = m.release.saturating_sub(m.others_end) > spans.work_ns[m.last] / MUCH;
        let thread = late.then(|| spans.thread[m.last]);
        habit.same += u32::from(late && habit.last == thread);
        habit.times += 1;
        habit.last = thread;
    }
}
