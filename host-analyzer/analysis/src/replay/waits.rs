//! Why the main thread of a process waited for a CPU before its first call.

use super::away::AwayTimes;
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
    /// Time in which it was stopped, by the agent in most cases, ns.
    pub stopped_ns: u64,
}

/// The waits of all sampled starts.
pub(super) fn waits(model: &Model, away: &AwayTimes) -> Vec<StartWaits> {
    let mut rows: Vec<StartWaits> = Vec::new();
    for sample in &model.start_ups {
        let (pid, exec_ns) = (sample.pid, sample.exec_ns);
        if !rows.iter().any(|r| r.pid == pid && r.exec_ns == exec_ns) {
            let (amounts, stopped_ns) = before_first_call(model, away, pid, exec_ns);
            rows.push(StartWaits { pid, exec_ns, amounts, stopped_ns });
        }
    }
    rows
}

fn before_first_call(model: &Model, away: &AwayTimes, pid: u32, exec_ns: u64) -> (Amounts, u64) {
    let (mut amounts, mut stopped_ns) = (Amounts::default(), 0);
    let Some(first) = first_call(model, pid, exec_ns).map(|i| model.llama_calls.start_ns[i]) else {
        return (amounts, stopped_ns);
    };
    for (thread, _) in model.threads.iter().filter(|(_, t)| t.tid == pid) {
        for a in away.of(thread) {
            let ns = a.end.min(first).saturating_sub(a.start.max(exec_ns));
            match a.cause {
                Cause::Stopped => stopped_ns += ns,
                Cause::Asleep | Cause::Blocked | Cause::Interrupts => {}
                cause => amounts.add(cause, ns),
            }
        }
    }
    (amounts, stopped_ns)
}
