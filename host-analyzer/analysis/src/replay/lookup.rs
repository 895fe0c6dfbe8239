//! Finds when threads were off the CPU, and when interrupts ran, by times that mostly go forward.

use super::away::{Away, AwayTimes};
use super::cause::{Amounts, Cause};
use crate::shared::seek::seek;
use profinfer_trace::model::{Model, Spans, ThreadId};

/// Cursors into the times of each thread and CPU.
#[derive(Debug)]
pub(super) struct Lookup<'a> {
    away: &'a AwayTimes,
    threads: Vec<usize>,
    /// Interrupts by CPU; nested ones are joined.
    interrupts: &'a [Vec<Away>],
    cpus: Vec<usize>,
    /// There is nothing to find.
    empty: bool,
}

/// The interrupts of each CPU, by start.
pub(super) fn interrupts(model: &Model) -> Vec<Vec<Away>> {
    let rows = &model.sched.interrupts;
    let mut found: Vec<Vec<Away>> = Vec::new();
    for i in 0..rows.len() {
        let cpu = usize::from(rows.cpu[i]);
        if found.len() <= cpu {
            found.resize_with(cpu + 1, Vec::new);
        }
        let (start, end) = (rows.start_ns[i], rows.start_ns[i].saturating_add(rows.duration_ns[i]));
        match found[cpu].last_mut().filter(|last| start < last.end) {
            Some(last) => last.end = last.end.max(end),
            None => found[cpu].push(Away { start, end, cause: Cause::Interrupts }),
        }
    }
    found
}

impl<'a> Lookup<'a> {
    pub(super) fn new(model: &Model, away: &'a AwayTimes, interrupts: &'a [Vec<Away>]) -> Self {
        let states = &model.sched.states;
        Self {
            away,
            threads: vec![0; model.threads.len()],
            interrupts,
            cpus: vec![0; interrupts.len()],
            empty: states.start_ns.is_empty() && interrupts.is_empty(),
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.empty
    }

    /// Whether a thread of these spans was off the CPU, or interrupted, from `from` to `to`.
    pub(super) fn disturbs(&mut self, spans: &Spans, members: &[usize], from: u64, to: u64) -> bool {
        if self.empty {
            return false;
        }
        members.iter().any(|i| {
            let thread = spans.thread[*i];
            let rows = self.away.of(thread);
            let at = ends_after(rows, &mut self.threads[thread.0 as usize], from);
            if rows.get(at).is_some_and(|a| a.start < to) {
                return true;
            }
            let Some(cpu) = spans.cpu[*i].map(usize::from) else { return false };
            let Some(rows) = self.interrupts.get(cpu) else { return false };
            let at = ends_after(rows, &mut self.cpus[cpu], from);
            rows.get(at).is_some_and(|a| a.start < to)
        })
    }

    /// Adds the times off the CPU of a thread from `from` to `to`.
    pub(super) fn away(&mut self, thread: ThreadId, from: u64, to: u64, sum: &mut Amounts) {
        if let Some(cursor) = self.threads.get_mut(thread.0 as usize) {
            overlaps(self.away.of(thread), cursor, from, to, sum);
        }
    }

    /// The times off the CPU of a thread that overlap `from` to `to`.
    pub(super) fn rows(&mut self, thread: ThreadId, from: u64, to: u64) -> &'a [Away] {
        let rows = self.away.of(thread);
        let Some(cursor) = self.threads.get_mut(thread.0 as usize) else { return &[] };
        let first = ends_after(rows, cursor, from);
        let last = first + rows[first..].partition_point(|a| a.start < to);
        &rows[first..last]
    }

    /// Adds the time of interrupts on a CPU from `from` to `to`.
    pub(super) fn interrupts(&mut self, cpu: Option<u16>, from: u64, to: u64, sum: &mut Amounts) {
        let Some(cpu) = cpu.map(usize::from) else { return };
        if let Some((rows, cursor)) = self.interrupts.get(cpu).zip(self.cpus.get_mut(cpu)) {
            overlaps(rows, cursor, from, to, sum);
        }
    }
}

pub(super) fn overlaps(rows: &[Away], cursor: &mut usize, from: u64, to: u64, sum: &mut Amounts) {
    let first = ends_after(rows, cursor, from);
    for away in rows[first..].iter().take_while(|a| a.start < to) {
        sum.add(away.cause, away.end.min(to).saturating_sub(away.start.max(from)));
    }
}

/// The first row that ends after `t`.
fn ends_after(rows: &[Away], cursor: &mut usize, t: u64) -> usize {
    seek(rows, cursor, |a| a.end <= t)
}
