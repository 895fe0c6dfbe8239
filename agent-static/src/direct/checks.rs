//! Conditions that rule out direct probes, checked before the process is touched.

use std::time::{Duration, Instant};

use super::refused::Refused;
use crate::proc_file::text_of_process;

/// How long another tracer may take to end: a killed agent releases the process any moment.
pub(super) const GRACE: Duration = Duration::from_millis(200);

/// Checks every thread's status.
pub(super) fn check(pid: u32) -> Result<(), Refused> {
    let begun = Instant::now();
    loop {
        match look(pid) {
            Err(Refused::Tracer(_)) if begun.elapsed() < GRACE => {
                std::thread::sleep(Duration::from_millis(1))
            }
            looked => return looked,
        }
    }
}

fn look(pid: u32) -> Result<(), Refused> {
    let tasks = tasks(pid);
    if tasks.is_empty() {
        return Err(Refused::Ended);
    }
    for tid in tasks {
        // The thread may have ended.
        let Some(status) = text_of_process(&format!("/proc/{pid}/task/{tid}/status")) else { continue };
        judge(&status)?;
    }
    Ok(())
}

fn judge(status: &str) -> Result<(), Refused> {
    let field = |name: &str| status.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':'));
    let tracer = field("TracerPid").and_then(|v| v.trim().parse().ok()).unwrap_or(0);
    if tracer != 0 && tracer != own() {
        return Err(Refused::Tracer(tracer));
    }
    // 1: strict, 2: a filter.
    if field("Seccomp").is_some_and(|v| v.trim() != "0") {
        return Err(Refused::Seccomp);
    }
    // The id here, and in every namespace below.
    if field("NSpid").is_some_and(|v| v.split_whitespace().count() > 1) {
        return Err(Refused::PidNamespace);
    }
    Ok(())
}

pub(super) fn tasks(pid: u32) -> Vec<i32> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()
}

/// This thread, as a tracer.
pub(super) fn own() -> u32 {
    nix::unistd::gettid().as_raw().cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses() {
        assert_eq!(judge("Name:\tx\nTracerPid:\t0\nNSpid:\t7\nSeccomp:\t0\n"), Ok(()));
        assert_eq!(judge("TracerPid:\t1\n"), Err(Refused::Tracer(1)));
        assert_eq!(judge("Seccomp:\t2\nSeccomp_filters:\t1\n"), Err(Refused::Seccomp));
        assert_eq!(judge("Seccomp:\t0\nSeccomp_filters:\t0\n"), Ok(()));
        assert_eq!(judge("NSpid:\t70\t7\n"), Err(Refused::PidNamespace));
        assert_eq!(judge(""), Ok(()), "an old kernel has fewer fields");
    }
}
