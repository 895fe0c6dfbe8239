//! The overhead of the agent, its programs and its probes.

pub mod calibrate;
pub mod sample;

use crate::proc_file::text_of_process;
use nix::sys::resource::{UsageWho, getrusage};

/// The median; `None` without values.
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

/// Resets the peak resident set. Examining an engine's files maps their pages for a moment; they
/// belong to the page cache, which gives them up when needed.
pub fn forget_peak_rss() {
    // On a kernel without this file the peak includes them.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Peak resident set since [`forget_peak_rss`], bytes; 0 if the kernel does not report it.
#[must_use]
pub fn peak_rss_bytes() -> u64 {
    // ru_maxrss of a forked child starts at its parent's value; VmHWM is the process's own.
    let status = text_of_process("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
