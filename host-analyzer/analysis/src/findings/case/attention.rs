//! Operators of the attention: their time follows the cells of the KV cache.

use super::Case;
use crate::results::module::TensorGroup;
use crate::shared::phase::Phase;

/// Time per token, without what delayed it.
#[derive(Debug, Clone, Copy)]
pub(in crate::findings) struct Attention {
    /// ns.
    pub(in crate::findings) work_ns: f64,
    /// Part of it that the operators have without cells, at most: as many of the fastest ones, ns.
    pub(in crate::findings) constant_ns: f64,
}

impl Case<'_> {
    /// Mean cells that a judged call attends to; `None` if unknown.
    pub(in crate::findings) fn mean_cells(&self) -> Option<u64> {
        let cells = |call: u32| self.analysis.phases.contexts[call as usize].n_kv;
        let cells: Vec<u64> = self.calls.all.iter().filter_map(|t| cells(t.call)).collect();
        cells.iter().sum::<u64>().checked_div(cells.len() as u64)
    }

    /// Share of the work of a phase that operators which read the cache have.
    pub(in crate::findings) fn attention_share(&self, phase: Phase) -> f64 {
        let replay = &self.analysis.replay;
        let (mut cells, mut all) = (0_u64, 0_u64);
        let times = replay.class_times.get(phase.index()).map_or(&[][..], Vec::as_slice);
        for (class, times) in replay.classes.iter().zip(times) {
            all = all.saturating_add(times.usual.work);
            if class.group == TensorGroup::AttentionCells {
                cells = cells.saturating_add(times.usual.work);
            }
        }
        cells as f64 / all.max(1) as f64
    }

    /// The operators that read the cache: flash attention, or softmax and products without weights.
    /// `None` without captured tokens, or if there are no such operators.
    pub(in crate::findings) fn attention(&self) -> Option<Attention> {
        let replay = &self.analysis.replay;
        let phase = self.phase();
        let calls = replay.phase(phase).filter(|c| c.traced).count();
        let times = replay.class_times.get(phase.index())?;
        let (mut work, mut instances, mut fastest) = (0_u64, 0_u64, f64::INFINITY);
        for (class, times) in replay.classes.iter().zip(times).filter(|(_, t)| t.instances > 0) {
            fastest = fastest.min(times.usual.work as f64 / times.instances as f64);
            if class.group == TensorGroup::AttentionCells {
                work = work.saturating_add(times.usual.work);
                instances += times.instances;
            }
        }
        // Guesses are verified in fewer calls than tokens come out.
        let of_phase = self.calls.traced.iter().filter(|t| t.phase == phase).count() as f64;
        let tokens = self.calls.traced_units() / of_phase.max(1.0) * calls as f64;
        let per_token = |ns: f64| ns / tokens.max(1.0);
        (calls > 0 && instances > 0).then(|| Attention {
            work_ns: per_token(work as f64),
            constant_ns: per_token(instances as f64 * fastest),
        })
    }
}
