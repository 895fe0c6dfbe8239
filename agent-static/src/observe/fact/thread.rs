//! A thread that computes: affinity, scheduling policy, and time spent waiting for a CPU.

use std::path::Path;

use profinfer_wire::record::fact::FactScope;

use super::affinity::{self, Affinity};
use super::read::{self, Open, number, words};
use super::send::{Changing, Sender};

/// Facts of /proc/PID/task/TID/schedstat, in order.
const COUNTS: [&str; 2] = ["run_ns", "run_delay_ns"];
/// Indices in /proc/PID/task/TID/stat after the name.
const PRIORITY: usize = 37;
const POLICY: usize = 38;

/// Values that are sampled while the session runs.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) tid: u32,
    pub(super) pid: u32,
    schedstat: Open,
    sent: [Changing; 2],
}

impl Thread {
    /// Sends the facts of a thread; `None` if it has ended, or the kernel does not count its time.
    pub(super) fn begin(
        root: &Path,
        (pid, tid): (u32, u32),
        of_process: Option<&Affinity>,
        buffer: &mut [u8],
        out: &mut Sender<'_>,
    ) -> Option<Self> {
        let scope = FactScope::Thread(tid);
        let path = |name: &str| format!("/proc/{pid}/task/{tid}/{name}");
        let status = Open::new(root, &path("status")).ok()?;
        if let Some(list) = affinity::of(status.read(buffer).ok()?)
            && of_process.is_none_or(|process| !process.is(list))
        {
            out.text(scope, "affinity", list);
        }
        if let Some(policy) = policy(Open::new(root, &path("stat")).ok()?.read(buffer).ok()?) {
            out.text(scope, "sched.policy", &policy);
        }
        let path = path("schedstat");
        let opened = Open::new(root, &path);
        let text = opened.as_ref().map_err(Clone::clone);
        let text = text.and_then(|f| f.read(buffer).map_err(|e| read::why(&path, &e)));
        let mut sent = [Changing::default(); 2];
        for (i, (changing, name)) in sent.iter_mut().zip(COUNTS).enumerate() {
            let value = text.clone().and_then(|t| of_text(t).ok_or_else(|| NOT_COUNTED.to_owned()));
            changing.begin(out, scope, name, value.map(|v| v[i]));
        }
        opened.ok().map(|schedstat| Self { tid, pid, schedstat, sent })
    }

    /// Sends changed values; false if the thread has ended.
    pub(super) fn sample(&mut self, buffer: &mut [u8], out: &mut Sender<'_>) -> bool {
        let Ok(text) = self.schedstat.read(buffer) else { return false };
        if let Some(values) = of_text(text) {
            for ((changing, name), value) in self.sent.iter_mut().zip(COUNTS).zip(values) {
                changing.send(out, FactScope::Thread(self.tid), name, Some(value));
            }
        }
        true
    }
}

const NOT_COUNTED: &str = "the kernel does not count it (CONFIG_SCHED_INFO)";

/// Time on a CPU, and time spent waiting for one. A thread that computes has been on a CPU, so
/// zeros come from a kernel without these counts.
fn of_text(text: &[u8]) -> Option<[u64; 2]> {
    let mut numbers = words(text).map(number);
    let (run, delay) = (numbers.next()??, numbers.next()??);
    (run > 0).then_some([run, delay])
}

/// The scheduling policy, unless it is the usual one (SCHED_OTHER); numbers from
/// `include/uapi/linux/sched.h`.
fn policy(stat: &[u8]) -> Option<String> {
    let name = match read::stat(stat, POLICY).and_then(number)? {
        0 => return None,
        1 => "SCHED_FIFO",
        2 => "SCHED_RR",
        3 => "SCHED_BATCH",
        5 => "SCHED_IDLE",
        6 => "SCHED_DEADLINE",
        other => return Some(format!("policy {other}")),
    };
    match read::stat(stat, PRIORITY).and_then(number) {
        Some(priority) if priority > 0 => Some(format!("{name} {priority}")),
        _ => Some(name.to_owned()),
    }
}
