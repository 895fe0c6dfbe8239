//! Whether the processor's clock can replace CLOCK_MONOTONIC: its rate is constant, it never stops,
//! and it is the same on every CPU.

use std::sync::OnceLock;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use super::clock::{Clock, Look};
use super::refused::Refused;
use crate::proc_file::text_of_process;

/// Largest difference between the clocks of CPUs, ns, beyond the error of the reading. It is far
/// less than the shortest distance of an operator from its graph's border, and more than a
/// hypervisor's adjustments.
const APART_NS: u64 = 2_000;
const FLAGS: [&str; 3] = ["constant_tsc", "nonstop_tsc", "rdtscp"];

/// Measured once, because it moves this thread over all CPUs that it may run on.
pub(super) fn check() -> Result<(), Refused> {
    static ANSWER: OnceLock<Option<&'static str>> = OnceLock::new();
    match ANSWER.get_or_init(doubt) {
        None => Ok(()),
        Some(why) => Err(Refused::Clock(why)),
    }
}

/// Clock sources that the kernel can use.
const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

fn doubt() -> Option<&'static str> {
    if cfg!(target_arch = "aarch64") {
        let sources = text_of_process(SOURCES).unwrap_or_default();
        // The architecture guarantees the rest: constant rate, always on, the same on all CPUs. The
        // kernel knows processors that violate this and then emulates the counter for programs,
        // which takes longer.
        let there = sources.split_whitespace().any(|s| s == "arch_sys_counter");
        return if there { measured() } else { Some("the kernel does not use the processor's counter") };
    }
    let info = text_of_process("/proc/cpuinfo").unwrap_or_default();
    if let Some(why) = flags(&info) {
        return Some(why);
    }
    // The kernel removes the TSC from the list when it finds it unstable.
    let sources = text_of_process(SOURCES).unwrap_or_default();
    if !sources.split_whitespace().any(|s| s == "tsc") {
        return Some("the kernel found the TSC unstable: it is not a clocksource");
    }
    measured()
}

fn flags(cpuinfo: &str) -> Option<&'static str> {
    let flags = cpuinfo.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
    match FLAGS.into_iter().position(|f| !flags.split_whitespace().any(|w| w == f)) {
        Some(0) => Some("the TSC is not constant (no constant_tsc in /proc/cpuinfo)"),
        Some(1) => Some("the TSC stops when a CPU sleeps (no nonstop_tsc in /proc/cpuinfo)"),
        Some(_) => Some("the processor has no rdtscp"),
        None => None,
    }
}

/// Reads both clocks on each CPU in turn, and finally on the first again. All readings must be on
/// one line.
fn measured() -> Option<&'static str> {
    let own = Pid::from_raw(0);
    let allowed = sched_getaffinity(own).ok()?;
    let cpus: Vec<usize> = (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu).unwrap_or(false)).collect();
    let first = Look::now();
    let mut looks = Vec::with_capacity(cpus.len());
    for cpu in cpus {
        let mut one = CpuSet::new();
        if one.set(cpu).is_ok() && sched_setaffinity(own, &one).is_ok() {
            looks.push(Look::now());
        }
    }
    // Restores the affinity.
    let _ = sched_setaffinity(own, &allowed);
    std::thread::sleep(std::time::Duration::from_millis(2));
    apart(first, &looks, Look::now())
}

fn apart(first: Look, between: &[Look], last: Look) -> Option<&'static str> {
    let mut line = Clock::default();
    line.add(first);
    line.add(last);
    let error = between.iter().map(|l| l.width).max().unwrap_or(0) + 2 * line.error_ns();
    let off = |l: &Look| line.ns(l.ticks).map_or(u64::MAX, |ns| ns.abs_diff(l.ns));
    between.iter().any(|l| off(l) > APART_NS + error).then_some("the clock differs between CPUs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_differ_are_found() {
        let look = |ticks: u64, ns: u64| Look { ticks, ns, width: 50 };
        let (first, last) = (look(1_000_000, 500_000), look(9_000_000, 4_500_000));
        assert_eq!(apart(first, &[look(2_000_000, 1_000_000), look(3_000_000, 1_500_900)], last), None);
        assert!(apart(first, &[look(2_000_000, 1_000_000), look(3_000_000, 1_510_000)], last).is_some());
    }

    #[test]
    fn clock_flags_are_read_from_cpuinfo() {
        assert_eq!(flags("model name: x\nflags\t\t: fpu rdtscp constant_tsc nonstop_tsc\n"), None);
        assert!(flags("flags: rdtscp nonstop_tsc").is_some_and(|w| w.contains("not constant")));
        assert!(flags("flags: rdtscp constant_tsc").is_some_and(|w| w.contains("sleeps")));
        assert!(flags("").is_some());
    }
}
