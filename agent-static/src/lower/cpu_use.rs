//! Who had the CPUs: packs the windows into batches, in order of arrival.

use profinfer_wire::cpu_use::{Cursor, MAX_USED_LEN, Used, Window};
use profinfer_wire::record::Record;
use profinfer_wire::record::cpu_use::{CpuUseBatch, CpuUseLoss};
use profinfer_wire::sched::{IDLE, Who};

use super::Lower;
use super::packed::{Packed, cpu};
use crate::bpf::CpuUseTotals;
use crate::bpf::cpu_use::Open;
use crate::bpf::ring::CpuUse;
use crate::link::output::Weight;

/// Most rows of one window: the idle task, the distinguished tasks, all others.
const MAX_ROWS: usize = CpuUse::TASKS + 2;

/// The windows of a session, allocated when the scheduler level begins.
#[derive(Debug)]
pub(super) struct CpuUses {
    seq: u32,
    rows: Packed<Cursor>,
    /// Number of windows in the batch.
    in_batch: u64,
    /// Windows that the agent completed, which the kernel did not count; and the time of those that
    /// were not sent, ns.
    completed: u64,
    small_ns: u64,
    sent: u64,
    queue_full: u64,
}

impl CpuUses {
    pub(super) fn new() -> Self {
        let rows = Packed::new(Cursor::new(0));
        Self { seq: 0, rows, in_batch: 0, completed: 0, small_ns: 0, sent: 0, queue_full: 0 }
    }
}

impl Lower {
    pub(super) fn cpu_use(&mut self, used: &CpuUse) {
        if self.cpu_uses.as_ref().is_some_and(|u| u.rows.full(MAX_ROWS * MAX_USED_LEN)) {
            self.send_cpu_uses();
        }
        let window = Window {
            cpu: cpu(used.cpu),
            start_ns: used.from_ns,
            duration_ns: used.to_ns.saturating_sub(used.from_ns),
        };
        let mut rows: heapless::Vec<(Option<Who>, u64), MAX_ROWS> = heapless::Vec::new();
        let _ = rows.push((Some(Who::Task(IDLE)), used.idle_ns));
        for (who, busy_ns) in used.tasks() {
            let _ = rows.push((Some(self.who(who)), busy_ns));
        }
        rows.retain(|(_, ns)| *ns > 0);
        // A window of which no task is known has this row alone.
        if used.others_ns > 0 || rows.is_empty() {
            let _ = rows.push((None, used.others_ns));
        }
        for (i, (who, busy_ns)) in rows.into_iter().enumerate() {
            self.push_used(&Used { window, first: i == 0, who, busy_ns });
        }
    }

    fn push_used(&mut self, used: &Used) {
        let Some(uses) = &mut self.cpu_uses else { return };
        let batch = &mut uses.rows;
        if batch.count == 0 {
            (batch.base_ns, batch.cursor) = (used.window.start_ns, Cursor::new(used.window.start_ns));
        }
        // The row fits, because a full batch was sent before the window.
        if let Some(len) = batch.cursor.encode(used, &mut *batch.bytes, batch.len) {
            batch.len = len;
            batch.count += 1;
            uses.in_batch += u64::from(used.first);
        }
    }

    /// Adds the windows that were open when the programs stopped.
    pub fn open_cpu_uses(&mut self, open: &Open) {
        let Some(uses) = &mut self.cpu_uses else { return };
        uses.small_ns += open.small_ns;
        uses.completed += open.windows.len() as u64;
        open.windows.iter().for_each(|window| self.cpu_use(window));
    }

    fn send_cpu_uses(&mut self) {
        let Some(uses) = &mut self.cpu_uses else { return };
        let batch = &mut uses.rows;
        if batch.count == 0 {
            return;
        }
        let bytes = &batch.bytes[..batch.len];
        let record = CpuUseBatch { seq: uses.seq, base_ns: batch.base_ns, count: batch.count, bytes };
        uses.seq = uses.seq.wrapping_add(1);
        let sent = self.emit.emit(&Record::CpuUseBatch(record), Weight::Droppable);
        batch.clear();
        let n = std::mem::take(&mut uses.in_batch);
        *(if sent { &mut uses.sent } else { &mut uses.queue_full }) += n;
    }

    /// Sends the current batch, and the ledger of all windows before `drained_ns`.
    pub fn emit_cpu_use_loss(&mut self, drained_ns: u64, kernel: &CpuUseTotals, weight: Weight) {
        self.send_cpu_uses();
        let Some(uses) = &self.cpu_uses else { return };
        let loss = CpuUseLoss {
            at_ns: drained_ns,
            windows: kernel.windows + uses.completed,
            sent: uses.sent,
            queue_full: uses.queue_full,
            windows_late: kernel.windows_late,
            small_ns: kernel.small_ns + uses.small_ns,
            switches_no_room: kernel.switches_no_room,
        };
        self.emit.emit(&Record::CpuUseLoss(loss), weight);
    }
}
