//! Barriers inside operators: a thread that comes first spins there until the last one has come.
//!
//! Which operators have one is learnt from instances in which a thread began much later than
//! another. Where there is an inner barrier, no thread ends before the last one has begun;
//! elsewhere the first one does.

use std::collections::HashMap;

use super::class::{ClassId, Classes};
use super::meeting::{Meetings, end};
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
}

impl Seen {
    fn add(&mut self, overtaken: bool) {
        self.late += 1;
        self.overtaken += u32::from(overtaken);
    }

    /// Whether threads wait; `None` for too few instances.
    fn waits(self) -> Option<bool> {
        (self.late >= FEWEST).then(|| self.overtaken * 2 < self.late)
    }
}

/// What was seen of each class, and of each operator type.
#[derive(Debug, Default)]
pub(super) struct Learning {
    classes: Vec<Seen>,
    ops: HashMap<Text, Seen>,
}

impl Learning {
    pub(super) fn new(classes: &Classes) -> Self {
        Self { classes: vec![Seen::default(); classes.len()], ops: HashMap::new() }
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
            if last - first <= LATE_NS {
                continue;
            }
            let overtaken = members.iter().map(|i| end(spans, *i)).min().unwrap_or(0) < last;
            if let Some(class) = of_node.get(m.node.0 as usize) {
                self.classes[class.0 as usize].add(overtaken);
                self.ops.entry(classes.rows[class.0 as usize].op).or_default().add(overtaken);
            }
        }
    }

    /// Whether each class has an inner barrier: as seen for the class, else for the operator type,
    /// else as in ggml's CPU backend.
    pub(super) fn finish(&self, model: &Model, classes: &Classes) -> Vec<bool> {
        let known = |op: Text| matches!(model.texts.get(op), "MUL_MAT" | "MUL_MAT_ID" | "FLASH_ATTN_EXT");
        let of = |(class, seen): (&super::class::Class, &Seen)| {
            let of_op = || self.ops.get(&class.op).copied().and_then(Seen::waits);
            seen.waits().or_else(of_op).unwrap_or_else(|| known(class.op))
        };
        classes.rows.iter().zip(&self.classes).map(of).collect()
    }
}
