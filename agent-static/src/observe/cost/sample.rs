//! Samples the run time of the BPF programs with the kernel's statistics, for a short time now and
//! then. They read the clock twice per run; if always on, they would cost a fifth of a program's
//! time. Switching them patches kernel code and interrupts every CPU, so the periods grow.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use crate::bpf::Bpf;
use crate::confine::capabilities::SYS_ADMIN;
use crate::proc_file::text_of_process;
use crate::sys::privilege::raised;
use crate::sys::stats;

/// How long the statistics stay on.
const WINDOW: Duration = Duration::from_millis(25);
/// Time to the next window, which doubles each time.
const FIRST_PERIOD: Duration = Duration::from_millis(250);
const LAST_PERIOD: Duration = Duration::from_secs(16);

/// Switches the statistics on and off. They go off when the agent ends.
#[derive(Debug)]
pub struct Sampler {
    on: Option<(OwnedFd, Instant)>,
    next: Option<Instant>,
    period: Duration,
}

impl Default for Sampler {
    fn default() -> Self {
        Self { on: None, next: Some(Instant::now() + FIRST_PERIOD / 2), period: FIRST_PERIOD }
    }
}

impl Sampler {
    /// Starts or ends a window when it is time; call this now and then. Returns the time until the
    /// next call.
    pub fn step(&mut self) -> Option<Duration> {
        let now = Instant::now();
        if self.on.as_ref().is_some_and(|(_, since)| now - *since >= WINDOW) {
            self.on = None;
            self.next = Some(now + self.period);
            self.period = (self.period * 2).min(LAST_PERIOD);
        } else if self.on.is_none() && self.next.is_some_and(|at| now >= at) {
            // A kernel without the statistics will not have them later either.
            self.next = None;
            self.on = raised(SYS_ADMIN, stats::enable).ok().map(|fd| (fd, now));
        }
        self.on.as_ref().map(|_| WINDOW)
    }
}

/// Total run time, ns, and number of runs of all programs while the statistics were on, whoever
/// switched them on.
#[must_use]
pub fn runs(bpf: &Bpf<'_>) -> (u64, u64) {
    bpf.programs().map(|fd| of_program(fd.as_raw_fd())).fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
}

/// How often the kernel skipped a program of the scheduler level, because another program or a map
/// was in use on that CPU.
///
/// # Errors If the kernel does not count this: it does for tracepoints since Linux 6.7.
pub fn sched_missed(bpf: &Bpf<'_>) -> Result<u64, String> {
    const SINCE: (u32, u32) = (6, 7);
    let uname = nix::sys::utsname::uname().map_err(|e| format!("uname: {e}"))?;
    let release = uname.release().to_string_lossy();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap_or(0));
    if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < SINCE {
        return Err(format!("Linux {release} does not count this; 6.7 and newer do"));
    }
    let of = |fd: BorrowedFd<'_>| {
        figures(fd.as_raw_fd())("recursion_misses:").ok_or_else(|| "the kernel does not report it".to_owned())
    };
    bpf.sched_programs().map(of).sum()
}

/// Zeros mean that nothing was measured, or that the kernel does not report it (before Linux 5.1).
fn of_program(fd: i32) -> (u64, u64) {
    let figure = figures(fd);
    (figure("run_time_ns:").unwrap_or(0), figure("run_cnt:").unwrap_or(0))
}

/// Values of a program in /proc/self/fdinfo, by the beginnings of their lines.
fn figures(fd: i32) -> impl Fn(&str) -> Option<u64> {
    let text = text_of_process(&format!("/proc/self/fdinfo/{fd}")).unwrap_or_default();
    move |name| text.lines().find_map(|l| l.strip_prefix(name)?.trim().parse().ok())
}
