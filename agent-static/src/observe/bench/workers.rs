//! Threads that work at the same time, one pinned to each CPU, at the agent's priority.

use std::sync::atomic::{AtomicI32, AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use super::spin::SpinBarrier;
use crate::error::{Diagnostic, Result};
use crate::observe::counter::pmu;

/// Duration of a measurement: a warm-up, then repetitions of the same length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// Length of the warm-up and of each repetition.
    pub(super) window: Duration,
    pub(super) repeats: u32,
}

impl Pace {
    /// All windows: the repetitions and the warm-up.
    #[must_use]
    pub(super) const fn windows(self) -> u32 {
        self.repeats + 1
    }
}

/// Runs `work` on one thread per CPU, each with one of `states` and its index, and returns the
/// results in that order.
///
/// # Errors If a thread cannot be created or pinned. In that case no work has started.
pub(super) fn run<S: Send, T: Send>(
    cpus: &[u32],
    states: Vec<S>,
    work: impl Fn(usize, S) -> T + Sync,
) -> Result<Vec<T>> {
    let (failed, ready, order) = (AtomicI32::new(0), AtomicUsize::new(0), AtomicU8::new(WAIT));
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (index, (cpu, state)) in cpus.iter().zip(states).enumerate() {
            let (failed, ready, order, work) = (&failed, &ready, &order, &work);
            let made = std::thread::Builder::new().name("bench".to_owned()).spawn_scoped(scope, move || {
                if let Err(errno) = pin(*cpu) {
                    failed.store(errno as i32, Ordering::Relaxed);
                }
                ready.fetch_add(1, Ordering::Release);
                while order.load(Ordering::Acquire) == WAIT {
                    std::thread::sleep(Duration::from_micros(50));
                }
                (order.load(Ordering::Acquire) == GO).then(|| work(index, state))
            });
            match made {
                Ok(thread) => threads.push(thread),
                Err(e) => failed.store(e.raw_os_error().unwrap_or(Errno::EAGAIN as i32), Ordering::Relaxed),
            }
        }
        while ready.load(Ordering::Acquire) < threads.len() {
            std::thread::sleep(Duration::from_micros(50));
        }
        let go = failed.load(Ordering::Relaxed) == 0;
        order.store(if go { GO } else { LEAVE }, Ordering::Release);
        let done: Option<Vec<T>> = threads.into_iter().map(|t| t.join().ok().flatten()).collect();
        done.filter(|_| go).ok_or_else(|| {
            Diagnostic::new(
                format!("running a thread on each of the CPUs {}", pmu::list_of(cpus)),
                Errno::from_raw(failed.load(Ordering::Relaxed)).desc(),
                "choose CPUs with --cpus that are online and allowed, or fewer threads with --threads",
            )
        })
    })
}

/// Orders to the threads once all are created and pinned.
const WAIT: u8 = 0;
const GO: u8 = 1;
const LEAVE: u8 = 2;

fn pin(cpu: u32) -> std::result::Result<(), Errno> {
    let mut set = CpuSet::new();
    set.set(cpu as usize)?;
    sched_setaffinity(Pid::from_raw(0), &set)
}

/// Units per second of all threads together, for each repetition. `chunk` does a little work and
/// returns its units.
///
/// Each thread works for the same time and has its own rate, so that a slow core does not delay a
/// fast one.
///
/// # Errors See [`run`].
pub(super) fn rates<S: Send>(
    cpus: &[u32],
    states: Vec<S>,
    pace: Pace,
    chunk: impl Fn(&mut S) -> u64 + Sync,
) -> Result<Vec<u64>> {
    let start = SpinBarrier::new(cpus.len());
    let rates = run(cpus, states, |_, mut state| {
        let window = || {
            start.wait();
            let (begun, mut units) = (Instant::now(), 0u64);
            loop {
                units += chunk(&mut state);
                let passed = begun.elapsed();
                if passed >= pace.window {
                    return units as f64 / passed.as_secs_f64();
                }
            }
        };
        // The first window is the warm-up: clocks rise, pages and caches settle.
        std::iter::repeat_with(window).take(pace.repeats as usize + 1).skip(1).collect::<Vec<f64>>()
    })?;
    let sum = |repeat: usize| rates.iter().filter_map(|r| r.get(repeat)).sum::<f64>();
    Ok((0..pace.repeats as usize).map(|r| sum(r) as u64).collect())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;
    use crate::observe::bench::cpus;

    #[test]
    fn each_thread_is_on_its_cpu() {
        let own = cpus::chosen(None, std::path::Path::new("/sys")).unwrap();
        let seen = run(&own, own.clone(), |index, cpu| {
            let mask = nix::sched::sched_getaffinity(Pid::from_raw(0)).unwrap();
            (
                index,
                (0..CpuSet::count()).filter(|c| mask.is_set(*c).unwrap()).collect::<Vec<_>>()
                    == [cpu as usize],
            )
        });
        assert_eq!(seen.unwrap(), (0..own.len()).map(|i| (i, true)).collect::<Vec<_>>());
        let refused = run(&[own[0], 1023], vec![(), ()], |_, ()| panic!("it must not start")).unwrap_err();
        assert!(refused.answer.contains("nvalid"), "{refused}");
    }

    #[test]
    fn rates_are_sums_over_the_threads() {
        let own = cpus::chosen(None, std::path::Path::new("/sys")).unwrap();
        let pace = Pace { window: Duration::from_millis(5), repeats: 3 };
        let rates = rates(&own[..1], vec![()], pace, |()| {
            std::thread::sleep(Duration::from_millis(1));
            1_000
        });
        let rates = rates.unwrap();
        assert!(rates.len() == 3 && rates.iter().all(|r| (1..=1_000_000).contains(r)), "{rates:?}");
    }
}
