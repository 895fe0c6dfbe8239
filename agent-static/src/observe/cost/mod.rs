//! What the measuring costs: the agent, its programs, its probes.

pub mod calibrate;
pub mod sample;

use crate::proc_file::text_of_process;
use nix::sys::resource::{UsageWho, getrusage};

/// The median of measurements; `None` of none.
pub(crate) fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// CPU time used so far, ns.
#[must_use]
pub fn cpu_ns() -> u64 {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return 0 };
    [usage.user_time(), usage.system_time()]
        .iter()
        .map(|t| {
            let micros = t.tv_sec() * 1_000_000 + t.tv_usec();
            u64::try_from(micros).unwrap_or(0) * 1000
        })
        .sum()
}

/// Forgets how large the resident set was: looking through an engine's files takes their pages for a moment, which are the
/// page cache's and go when anybody needs them.
pub fn forget_peak_rss() {
    // Where the kernel has no such file the peak includes them.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Largest resident set since [`forget_peak_rss`], bytes; 0 where the kernel does not tell.
#[must_use]
pub fn peak_rss_bytes() -> u64 {
    // ru_maxrss of a forked child begins at its parent's; VmHWM is the process's own.
    let status = text_of_process("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
