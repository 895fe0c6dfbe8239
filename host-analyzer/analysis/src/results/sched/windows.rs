//! The times of `llama_decode` calls, by phase.

use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::Model;

/// Start and end, ns.
pub(super) type Window = (u64, u64);

/// Times at which at least one call of a phase was running, in order.
#[derive(Debug, Default)]
pub(super) struct Windows {
    pub(super) prefill: Vec<Window>,
    pub(super) decode: Vec<Window>,
}

impl Windows {
    pub(super) fn compute(model: &Model, phases: &Phases) -> Self {
        let calls = &model.llama_calls;
        let of = |phase: Phase| {
            let rows = (0..calls.len()).filter(|i| phases.llama_calls[*i] == phase);
            joined(
                rows.map(|i| (calls.start_ns[i], calls.start_ns[i].saturating_add(calls.duration_ns[i])))
                    .collect(),
            )
        };
        Self { prefill: of(Phase::Prefill), decode: of(phases.decode) }
    }
}

/// The same times, sorted, and joined where they touch.
pub(super) fn joined(mut windows: Vec<Window>) -> Vec<Window> {
    windows.sort_unstable();
    let mut joined: Vec<Window> = Vec::with_capacity(windows.len());
    for (from, to) in windows {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

/// Overlap of `from` to `to` with the windows, ns.
pub(super) fn within(windows: &[Window], from: u64, to: u64) -> u64 {
    let first = windows.partition_point(|w| w.1 <= from);
    let overlapping = windows[first..].iter().take_while(|w| w.0 < to);
    overlapping.map(|w| w.1.min(to).saturating_sub(w.0.max(from))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_counts_once() {
        let windows = joined(vec![(30, 40), (0, 10), (5, 15), (40, 50)]);
        assert_eq!(windows, [(0, 15), (30, 50)]);
        assert_eq!(
            [(0, 100), (10, 35), (15, 30), (49, 60)].map(|(f, t)| within(&windows, f, t)),
            [35, 10, 0, 1]
        );
    }
}
