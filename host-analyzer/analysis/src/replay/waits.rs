//! Why the main thread of a process, or another one for which it slept, waited for a CPU before its first call.

use super::away::{Away, AwayTimes};
use super::cause::{Amounts, Cause};
use super::lookup::overlaps;
use crate::shared::session::first_call;
use profinfer_trace::model::{Model, ThreadId, ThreadState};

/// The waits of one start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartWaits {
    pub pid: u32,
    pub exec_ns: u64,
    /// Times in which the main thread was runnable and had no CPU; empty if the scheduler level did not
    /// record them.
    pub amounts: Amounts,
    /// Times in which it did nothing while another thread of the process was runnable and had no CPU: it slept, or it
    /// was stopped, for the agent waits until all threads are stopped.
    pub of_others: Amounts,
    /// Part of them in which it was stopped, ns.
    pub stopped_for_others_ns: u64,
    /// Time in which it was stopped by the agent, ns.
    pub stopped_ns: u64,
    /// Time in which its control group was frozen, ns.
    pub frozen_ns: u64,
    /// When it slept uninterruptibly, as a thread does that waits for storage: starts and ends, ns. `None` if
    /// the scheduler level did not see the thread.
    pub blocked: Option<Vec<(u64, u64)>>,
}

impl StartWaits {
    /// Time of a sleep of `asleep_ns` between two times that may be a wait for storage, ns.
    #[must_use]
    pub fn storage_ns(&self, asleep_ns: u64, (from, to): (u64, u64)) -> u64 {
        let Some(blocked) = &self.blocked else { return asleep_ns };
        within(blocked, (from, to)).fold(0, u64::saturating_add).min(asleep_ns)
    }
}

/// The waits of all sampled starts.
pub(super) fn waits(model: &Model, away: &AwayTimes) -> Vec<StartWaits> {
    let mut rows: Vec<StartWaits> = Vec::new();
    for sample in &model.start_ups {
        let (pid, exec_ns) = (sample.pid, sample.exec_ns);
        if !rows.iter().any(|r| r.pid == pid && r.exec_ns == exec_ns) {
            rows.push(before_first_call(model, away, pid, exec_ns));
        }
    }
    rows
}

fn before_first_call(model: &Model, away: &AwayTimes, pid: u32, exec_ns: u64) -> StartWaits {
    let mut waits = StartWaits { pid, exec_ns, ..StartWaits::default() };
    let Some(first) = first_call(model, pid, exec_ns).map(|i| model.llama_calls.start_ns[i]) else {
        return waits;
    };
    let others = model.threads.iter().filter(|(_, t)| t.pid == pid && t.tid != pid);
    let waiting = others.flat_map(|(thread, _)| {
        let stops = stops(model, thread, (exec_ns, first));
        away.of(thread).iter().filter(move |a| within(&stops, (a.start, a.end)).next().is_none())
    });
    let others = apart(waiting, (exec_ns, first));
    for (thread, _) in model.threads.iter().filter(|(_, t)| t.tid == pid) {
        let stops = stops(model, thread, (exec_ns, first));
        let mut at = 0;
        for (start, end) in &stops {
            overlaps(&others, &mut at, *start, *end, &mut waits.of_others);
        }
        waits.stopped_for_others_ns = waits.of_others.total();
        let mut at = 0;
        for a in away.of(thread).iter().filter(|a| a.start < first) {
            let (start, end) = (a.start.max(exec_ns), a.end.min(first));
            let ns = end.saturating_sub(start);
            let blocked = waits.blocked.get_or_insert_default();
            match a.cause {
                Cause::Stopped => waits.frozen_ns = waits.frozen_ns.saturating_add(ns),
                Cause::Blocked => blocked.push((start, end)),
                Cause::Asleep => overlaps(&others, &mut at, start, end, &mut waits.of_others),
                Cause::Interrupts => {}
                // The agent stopped it, or had the CPU.
                Cause::Agent => {
                    let stopped = within(&stops, (start, end)).fold(0, u64::saturating_add);
                    waits.stopped_ns = waits.stopped_ns.saturating_add(stopped);
                    waits.amounts.add(Cause::Agent, ns.saturating_sub(stopped));
                }
                cause => waits.amounts.add(cause, ns),
            }
        }
    }
    waits
}

/// When a thread was stopped between two times: starts and ends, ns.
fn stops(model: &Model, thread: ThreadId, (from, to): (u64, u64)) -> Vec<(u64, u64)> {
    let states = &model.sched.states;
    // They are by thread, then start.
    let begins = states.thread.partition_point(|t| *t < thread);
    let rows = (begins..states.len()).take_while(|i| states.thread[*i] == thread && states.start_ns[*i] < to);
    let stopped = rows.filter(|i| states.state[*i] == ThreadState::Stopped);
    let times =
        stopped.map(|i| (states.start_ns[i], states.start_ns[i].saturating_add(states.duration_ns[i])));
    times.map(|(start, end)| (start.max(from), end.min(to))).filter(|(start, end)| start < end).collect()
}

/// The parts of a time that are in some others, ns; none that is empty.
fn within(times: &[(u64, u64)], (from, to): (u64, u64)) -> impl Iterator<Item = u64> {
    times.iter().map(move |(start, end)| end.min(&to).saturating_sub(*start.max(&from))).filter(|ns| *ns > 0)
}

/// When at least one of some threads lacked a CPU between two times, by the cause of the first of them: in order,
/// without overlaps.
fn apart<'a>(rows: impl Iterator<Item = &'a Away>, (from, to): (u64, u64)) -> Vec<Away> {
    let mut rows: Vec<Away> = rows.filter(|a| a.cause.takes_cpus()).copied().collect();
    rows.sort_by_key(|a| a.start);
    let mut until = from;
    for away in &mut rows {
        (away.start, away.end) = (away.start.max(until), away.end.min(to));
        until = until.max(away.end);
    }
    rows.retain(|a| a.start < a.end);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_without_a_cpu_do_not_overlap() {
        let away = |start, end, cause| Away { start, end, cause };
        let rows = [
            away(50, 90, Cause::Agent),
            away(10, 30, Cause::TooManyThreads),
            away(20, 25, Cause::Agent),
            away(25, 40, Cause::Agent),
            away(60, 70, Cause::Asleep),
        ];
        let expected =
            [away(15, 30, Cause::TooManyThreads), away(30, 40, Cause::Agent), away(50, 80, Cause::Agent)];
        assert_eq!(apart(rows.iter(), (15, 80)), expected);
    }

    #[test]
    fn only_an_uninterruptible_sleep_may_be_a_wait_for_storage() {
        let waits = |blocked: Option<&[(u64, u64)]>| StartWaits {
            blocked: blocked.map(<[_]>::to_vec),
            ..StartWaits::default()
        };
        // 30 ns between 100 and 150: 5 of them, then 20.
        let seen = waits(Some(&[(90, 105), (120, 140), (200, 300)]));
        assert_eq!(seen.storage_ns(30, (100, 150)), 25);
        assert_eq!(seen.storage_ns(10, (100, 150)), 10);
        assert_eq!(waits(Some(&[])).storage_ns(30, (100, 150)), 0);
        // Without states it may be all.
        assert_eq!(waits(None).storage_ns(30, (100, 150)), 30);
    }
}
