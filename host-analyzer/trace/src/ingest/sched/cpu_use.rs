//! Who had the CPUs: windows to rows. Windows of a CPU do not overlap.

use profinfer_wire::cpu_use::{Used, Window};
use profinfer_wire::record::cpu_use::CpuUseBatch;

use super::super::damage::Damages;
use super::gaps::Gaps;
use super::tasks::Table;
use crate::model::{CpuUseLedger, DamageKind, Model};

/// Rows in order of arrival, with the offset of their record.
#[derive(Debug, Default)]
pub(super) struct Uses {
    rows: Vec<(Used, u64)>,
    /// Times in which windows may have ended that are not here.
    gaps: Gaps,
    /// End of the last window.
    last_ns: u64,
}

const fn end(window: &Window) -> u64 {
    window.start_ns.saturating_add(window.duration_ns)
}

impl Uses {
    /// Unpacks a batch; returns the number of windows in it.
    pub(super) fn add(&mut self, r: &CpuUseBatch<'_>, offset: u64, damages: &mut Damages) -> u64 {
        let (first, mut uses) = (self.rows.len(), r.uses());
        self.rows.extend(uses.by_ref().map(|u| (u, offset)));
        if uses.failed {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
        let ends = || self.rows[first..].iter().map(|(u, _)| end(&u.window));
        self.gaps.batch(r.seq, ends().min(), ends().max(), !uses.failed);
        self.last_ns = ends().max().unwrap_or(0).max(self.last_ns);
        self.rows[first..].iter().filter(|(u, _)| u.first).count() as u64
    }

    pub(super) fn finish(mut self, tasks: &mut Table, model: &mut Model, damages: &mut Damages) {
        let ledger = model.health.cpu_use;
        model.sched.cpu_use_recorded = ledger.is_some() || !self.rows.is_empty();
        let all_here = |l: &CpuUseLedger| model.health.cpu_use_here(l) && l.queue_full == 0;
        if model.health.cut_short() || !ledger.as_ref().is_some_and(all_here) {
            self.gaps.add(self.last_ns, u64::MAX);
        }
        if model.sched.cpu_use_recorded {
            model.sched.cpu_use_gaps = self.gaps.finish();
        }
        // Stable: the rows of a window keep their order.
        self.rows.sort_by_key(|(u, _)| (u.window.cpu, u.window.start_ns));
        let mut before: Option<Window> = None;
        for (used, offset) in &self.rows {
            let window = used.window;
            let overlaps = before.is_some_and(|b| b.cpu == window.cpu && end(&b) > window.start_ns);
            if overlaps && (before != Some(window) || used.first) {
                damages.add(DamageKind::Unresolved, 1, 0, *offset);
                continue;
            }
            before = Some(window);
            let task = match used.who {
                Some(who) => tasks.get(who, model),
                None => Some(tasks.others(model)),
            };
            let Some(task) = task else {
                damages.add(DamageKind::Unresolved, 1, 0, *offset);
                continue;
            };
            let rows = &mut model.sched.cpu_use;
            let duration_ns = window.duration_ns.min(u64::MAX - window.start_ns);
            rows.cpu.push(window.cpu);
            rows.start_ns.push(window.start_ns);
            rows.duration_ns.push(duration_ns);
            rows.task.push(task);
            rows.busy_ns.push(used.busy_ns.min(duration_ns));
        }
    }
}
