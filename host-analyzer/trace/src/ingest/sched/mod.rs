//! The scheduler level: converts events to the states of threads and to the turns of the tasks on
//! their CPUs, and lists who had which CPU.
//!
//! Time with lost events stays unknown. It is never filled with the state before or after.

mod cpu_use;
mod gaps;
mod states;
mod tasks;
mod turns;

use std::collections::HashMap;

use profinfer_wire::interrupt::Interrupt;
use profinfer_wire::record::cpu_use::CpuUseBatch;
use profinfer_wire::record::sched as wire;
use profinfer_wire::sched::{Happened, SchedEvent};

use super::damage::Damages;
use crate::model::{DamageKind, InterruptKind, Model, SchedLedger, Text};
use cpu_use::Uses;
use gaps::Gaps;
use states::Stretch;
use tasks::Tasks;

/// Records of the level, which may come in any order.
#[derive(Debug, Default)]
pub(super) struct Records {
    tasks: Tasks,
    events: Vec<SchedEvent>,
    gaps: Gaps,
    /// Interrupts, with the offset of their record.
    interrupts: Vec<(Interrupt, u64)>,
    cpu_uses: Uses,
}

impl Records {
    pub(super) fn task(&mut self, r: &wire::Task<'_>, model: &mut Model) {
        self.tasks.describe(r, &mut model.texts);
    }

    /// Unpacks a batch; returns the number of those events that the agent counts.
    pub(super) fn events(&mut self, r: &wire::SchedBatch<'_>, offset: u64, damages: &mut Damages) -> u64 {
        let (first, mut events) = (self.events.len(), r.events());
        for event in events.by_ref() {
            match event.happened {
                Happened::Gap { length_ns } => {
                    self.gaps.add(event.at_ns.saturating_sub(length_ns), event.at_ns);
                }
                _ => self.events.push(event),
            }
        }
        if events.failed {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
        let times = || self.events[first..].iter().map(|e| e.at_ns);
        self.gaps.batch(r.seq, times().min(), times().max(), !events.failed);
        (self.events.len() - first) as u64
    }

    /// Unpacks a batch; returns the number of interrupts in it.
    pub(super) fn interrupts(
        &mut self,
        r: &wire::InterruptBatch<'_>,
        offset: u64,
        damages: &mut Damages,
    ) -> u64 {
        let (first, mut interrupts) = (self.interrupts.len(), r.interrupts());
        self.interrupts.extend(interrupts.by_ref().map(|i| (i, offset)));
        if interrupts.failed {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
        (self.interrupts.len() - first) as u64
    }

    /// Unpacks a batch; returns the number of windows in it.
    pub(super) fn cpu_uses(&mut self, r: &CpuUseBatch<'_>, offset: u64, damages: &mut Damages) -> u64 {
        self.cpu_uses.add(r, offset, damages)
    }

    /// Fills the tables.
    pub(super) fn finish(mut self, texts: &HashMap<u32, Text>, model: &mut Model, damages: &mut Damages) {
        let ledger = model.health.sched;
        let has = |bit| ledger.is_some_and(|l| l.recorded & bit != 0);
        model.sched.recorded = has(wire::recorded::SCHED) || !self.events.is_empty();
        model.sched.interrupts_recorded = has(wire::recorded::HARD) && has(wire::recorded::SOFT);
        self.events.sort_by_key(|e| e.at_ns);
        let last_ns = self.events.last().map_or(0, |e| e.at_ns);
        let end_ns = ledger
            .filter(|l| l.sent == model.health.sched_received && l.queue_full == 0)
            .map_or(last_ns, |l: SchedLedger| l.at_ns.max(last_ns));
        let gaps = self.gaps.finish();
        let mut stretches = states::stretches(&self.events, &gaps, end_ns);
        let turns = turns::turns(&self.events, &stretches);
        let mut ids = self.tasks.table(model);
        for turn in turns {
            let Some(task) = ids.get(turn.who, model) else {
                damages.add(DamageKind::Unresolved, 1, 0, model.health.bytes);
                continue;
            };
            let rows = &mut model.sched.turns;
            rows.cpu.push(turn.cpu);
            rows.start_ns.push(turn.start_ns);
            rows.duration_ns.push(turn.end_ns - turn.start_ns);
            rows.task.push(task);
        }
        self.cpu_uses.finish(&mut ids, model, damages);
        let mut threads = HashMap::new();
        for Stretch { tid, .. } in &stretches {
            threads.entry(*tid).or_insert_with(|| model.threads.find_or_add(*tid));
        }
        stretches.sort_by_key(|s| (threads[&s.tid], s.start_ns));
        let rows = &mut model.sched.states;
        for stretch in &stretches {
            rows.thread.push(threads[&stretch.tid]);
            rows.start_ns.push(stretch.start_ns);
            rows.duration_ns.push(stretch.end_ns - stretch.start_ns);
            rows.state.push(stretch.state);
            rows.cpu.push(stretch.cpu);
        }
        self.interrupts.sort_by_key(|(i, _)| (i.cpu, i.start_ns, std::cmp::Reverse(i.duration_ns)));
        for (i, offset) in &self.interrupts {
            let Some(name) = texts.get(&i.name).copied().or((i.name == 0).then(Text::default)) else {
                damages.add(DamageKind::Unresolved, 1, 0, *offset);
                continue;
            };
            let rows = &mut model.sched.interrupts;
            rows.cpu.push(i.cpu);
            rows.start_ns.push(i.start_ns);
            rows.duration_ns.push(i.duration_ns.min(u64::MAX - i.start_ns));
            rows.kind.push(if i.soft { InterruptKind::Soft } else { InterruptKind::Hard });
            rows.name.push(name);
        }
    }
}
