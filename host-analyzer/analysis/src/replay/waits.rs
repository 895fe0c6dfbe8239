//! Why the main thread of a process, or another one for which it slept, waited for a CPU before its first call.

use super::away::{Away, AwayTimes};
use super::cause::{Amounts, Cause};
use crate::shared::session::first_call;
use profinfer_trace::model::Model;

/// The waits of one start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartWaits {
    pub pid: u32,
    pub exec_ns: u64,
    /// Times in which the main thread was runnable and had no CPU; empty if the scheduler level did not
    /// record them.
    pub amounts: Amounts,
    /// Times in which it slept while another thread of the process was runnable and had no CPU.
    pub of_others: Amounts,
    /// Time in which it was stopped, by the agent in most cases, ns.
    pub stopped_ns: u64,
    /// When it slept uninterruptibly, as a thread does that waits for storage: starts and ends, ns. `None` if
    /// the scheduler level did not see the thread.
    pub blocked: Option<Vec<(u64, u64)>>,
}

impl StartWaits {
    /// Time of a sleep of `asleep_ns` between two times that may be a wait for storage, ns.
    #[must_use]
    pub fn storage_ns(&self, asleep_ns: u64, (from, to): (u64, u64)) -> u64 {
        let Some(blocked) = &self.blocked else { return asleep_ns };
        let overlap = |(start, end): &(u64, u64)| end.min(&to).saturating_sub(*start.max(&from));
        blocked.iter().map(overlap).fold(0, u64::saturating_add).min(asleep_ns)
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
    let others = apart(others.flat_map(|(thread, _)| away.of(thread)), (exec_ns, first));
    for (thread, _) in model.threads.iter().filter(|(_, t)| t.tid == pid) {
        for a in away.of(thread).iter().filter(|a| a.start < first) {
            let (start, end) = (a.start.max(exec_ns), a.end.min(first));
            let ns = end.saturating_sub(start);
            let blocked = waits.blocked.get_or_insert_default();
            match a.cause {
                Cause::Stopped => waits.stopped_ns += ns,
                Cause::Blocked => blocked.push((start, end)),
                Cause::Asleep => {
                    let from = others.partition_point(|o| o.end <= start);
                    for other in others[from..].iter().take_while(|o| o.start < end) {
                        let overlap = other.end.min(end).saturating_sub(other.start.max(start));
                        waits.of_others.add(other.cause, overlap);
                    }
                }
                Cause::Interrupts => {}
                cause => waits.amounts.add(cause, ns),
            }
        }
    }
    waits
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
