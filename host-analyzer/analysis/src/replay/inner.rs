//! Barriers inside operators: a thread that comes first spins there until the last one has come.
//!
//! Which operators have one is learnt from instances in which a thread began much later than
//! another. Where there is an inner barrier, no thread ends before the last one has begun;
//! elsewhere the first one does.
//!
//! Which operators are shared among threads is learnt from how long the second thread computes.

use std::collections::HashMap;

use super::class::{ClassId, Classes};
use super::meeting::{Meetings, end};
use super::split::nothing_ns;
use profinfer_trace::model::{Model, Spans, Text};

/// Difference of starts from which on an instance shows whether the first thread waits for the
/// last one, ns. It is longer than nearly all undisturbed operators.
const LATE_NS: u64 = 200_000;
/// Fewest instances that show it.
const FEWEST: u32 = 3;

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    late: u32,
    /// Instances in which a thread ended before the last one had begun.
    overtaken: u32,
    instances: u32,
    /// Instances in which a second thread computed: from its start, and from the last start on.
    second: u32,
    second_after_last: u32,
}

/// A class is shared if a second thread computes, from which on the class is
/// shared. Where threads sleep, one of them often does the parts of all.
const SHARED: u32 = 5;

/// A thread that takes this many times as long as one that has nothing to do has work: one that was
/// woken is slower, whatever it does.
const SURELY: u64 = 3;

/// What is known of a class.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Learnt {
    /// It has an inner barrier.
    pub(super) inner: bool,
    /// Several threads have work.
    pub(super) shared: bool,
}

impl Seen {
    fn add(&mut self, overtaken: bool) {
        self.late += 1;
        self.overtaken += u32::from(overtaken);
    }

    /// Counts an instance whose last thread started at `last`.
    fn count(&mut self, spans: &Spans, members: &[usize], last: u64, inside: u64) {
        let second = |from: fn(u64, u64) -> u64| {
            let (mut most, mut second) = (0_u64, 0_u64);
            for i in members {
                let on = end(spans, *i).saturating_sub(from(spans.start_ns[*i], last));
                second = second.max(most.min(on));
                most = most.max(on);
            }
            u32::from(second > nothing_ns(inside) * SURELY)
        };
        self.instances += 1;
        self.second += second(|start, _| start);
        self.second_after_last += second(|_, last| last);
    }

    const fn shared(self, inner: bool) -> bool {
        let second = if inner { self.second_after_last } else { self.second };
        second.saturating_mul(SHARED) > self.instances
    }

    /// Whether threads wait; `None` for too few instances.
    fn waits(self) -> Option<bool> {
        (self.late >= FEWEST).then(|| self.overtaken * 2 < self.late)
    }
}

/// What was seen of each class, and of each operator type.
#[derive(Debug, Default)]
pub(super) struct Learning {
    /// Time of the probes inside an operator, ns.
    inside: u64,
    classes: Vec<Seen>,
    ops: HashMap<Text, Seen>,
}

impl Learning {
    pub(super) fn new(classes: &Classes, inside: u64) -> Self {
        Self { inside, classes: vec![Seen::default(); classes.len()], ops: HashMap::new() }
    }

    /// Reads the meetings of one graph call; `of_node`: class by node.
    pub(super) fn read(
        &mut self,
        spans: &Spans,
        meetings: &Meetings,
        classes: &Classes,
        of_node: &[ClassId],
    ) {
        for m in &meetings.rows {
            let members = meetings.members(m);
            let first = members.iter().map(|i| spans.start_ns[*i]).min().unwrap_or(0);
            let last = members.iter().map(|i| spans.start_ns[*i]).max().unwrap_or(0);
            let class = of_node.get(m.node.0 as usize);
            if let Some(class) = class {
                self.classes[class.0 as usize].count(spans, members, last, self.inside);
            }
            if last - first <= LATE_NS {
                continue;
            }
            let overtaken = members.iter().map(|i| end(spans, *i)).min().unwrap_or(0) < last;
            if let Some(class) = class {
                self.classes[class.0 as usize].add(overtaken);
                self.ops.entry(classes.rows[class.0 as usize].op).or_default().add(overtaken);
            }
        }
    }

    /// What is known of each class. An inner barrier: as seen for the class, else for the operator
    /// type, else as in ggml's CPU backend.
    pub(super) fn finish(&self, model: &Model, classes: &Classes) -> Vec<Learnt> {
        let known = |op: Text| matches!(model.texts.get(op), "MUL_MAT" | "MUL_MAT_ID" | "FLASH_ATTN_EXT");
        let of = |(class, seen): (&super::class::Class, &Seen)| {
            let of_op = || self.ops.get(&class.op).copied().and_then(Seen::waits);
            let inner = seen.waits().or_else(of_op).unwrap_or_else(|| known(class.op));
            Learnt { inner, shared: seen.shared(inner) }
        };
        classes.rows.iter().zip(&self.classes).map(of).collect()
    }
}
