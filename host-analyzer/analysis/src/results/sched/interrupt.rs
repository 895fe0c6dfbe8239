//! Interrupts that took CPUs from threads of the engine.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::windows::{Windows, within};
use profinfer_trace::model::{InterruptKind, Model, Text};

/// The interrupts of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupt {
    /// `hard` for a device's handler, `soft` for deferred work.
    pub kind: &'static str,
    /// The kernel's name.
    pub name: String,
    pub count: u64,
    /// ns; a hard interrupt nested in a soft one counts for both.
    pub time_ns: u64,
    /// Part of `time_ns` in prefill calls.
    pub prefill_ns: u64,
    /// Part of `time_ns` in decode calls.
    pub decode_ns: u64,
    /// ns.
    pub longest_ns: u64,
}

/// All names, longest time first.
pub(super) fn interrupts(model: &Model, windows: &Windows) -> Vec<Interrupt> {
    let rows = &model.sched.interrupts;
    let mut sums: BTreeMap<(bool, Text), Interrupt> = BTreeMap::new();
    for i in 0..rows.len() {
        let soft = rows.kind[i] == InterruptKind::Soft;
        let sum = sums.entry((soft, rows.name[i])).or_insert_with(|| Interrupt {
            kind: if soft { "soft" } else { "hard" },
            name: model.texts.get(rows.name[i]).to_owned(),
            count: 0,
            time_ns: 0,
            prefill_ns: 0,
            decode_ns: 0,
            longest_ns: 0,
        });
        let (from, length) = (rows.start_ns[i], rows.duration_ns[i]);
        sum.count += 1;
        sum.time_ns = sum.time_ns.saturating_add(length);
        sum.prefill_ns += within(&windows.prefill, from, from.saturating_add(length));
        sum.decode_ns += within(&windows.decode, from, from.saturating_add(length));
        sum.longest_ns = sum.longest_ns.max(length);
    }
    let mut all: Vec<Interrupt> = sums.into_values().collect();
    all.sort_by(|a, b| (Reverse(a.time_ns), &a.name).cmp(&(Reverse(b.time_ns), &b.name)));
    all
}
