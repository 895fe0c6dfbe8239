//! Wake-up latency: time from waking a sleeping thread until it runs.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use super::workers;
use crate::clock;
use crate::error::Result;

/// Wake-up method, for people. A condition variable uses a futex of the kernel.
pub(super) const HOW: &str = "futex";

/// Sleep before each wake-up: long enough that the CPU becomes idle, as between two graphs.
const ASLEEP: Duration = Duration::from_micros(500);
/// Fewest and most measurements.
const TIMES: std::ops::RangeInclusive<u32> = 20..=400;

/// Time from the waking call to the first reading of the clock after the sleep, ns, for each
/// measurement. The thread on the first CPU wakes the one on the second.
///
/// # Errors See [`workers::run`].
pub(super) fn measure(cpus: [u32; 2], length: Duration) -> Result<Vec<u64>> {
    let woken_ns = AtomicU64::new(0);
    let (round, wake, ran) = (Mutex::new(0u32), Condvar::new(), AtomicU32::new(0));
    let begun = Instant::now();
    let enough = |times: u32| times >= *TIMES.end() || (times >= *TIMES.start() && begun.elapsed() >= length);
    /// The round that ends the measurement.
    const OVER: u32 = u32::MAX;
    // A poisoned lock means that the other thread has panicked: its result is lost anyway.
    let lock = || round.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let times = workers::run(&cpus, vec![(); 2], |index, ()| {
        let mut times = Vec::with_capacity(*TIMES.end() as usize);
        let mut done = 0;
        if index == 0 {
            while !enough(done) {
                std::thread::sleep(ASLEEP);
                done += 1;
                let mut now = lock();
                *now = done;
                drop(now);
                woken_ns.store(clock::monotonic_ns(), Ordering::Release);
                wake.notify_one();
                while ran.load(Ordering::Acquire) < done {
                    std::thread::sleep(Duration::from_micros(20));
                }
            }
            *lock() = OVER;
            wake.notify_one();
            return times;
        }
        loop {
            let mut now = lock();
            while *now == done {
                now = wake.wait(now).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            let at = clock::monotonic_ns();
            done = *now;
            drop(now);
            if done == OVER {
                return times;
            }
            // A thread that was not asleep yet, or woke between the change and the call, gives no
            // measurement.
            let from = woken_ns.swap(0, Ordering::AcqRel);
            if from > 0 && at > from {
                times.push(at - from);
            }
            ran.store(done, Ordering::Release);
        }
    })?;
    Ok(times.into_iter().next_back().unwrap_or_default())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn wake_up_times() {
        let cpus = crate::observe::bench::cpus::chosen(None, std::path::Path::new("/sys")).unwrap();
        for pair in [[cpus[0], *cpus.last().unwrap()], [cpus[0], cpus[0]]] {
            let times = measure(pair, Duration::from_millis(1)).unwrap();
            assert!(times.len() > 10 && times.iter().all(|t| (100..1_000_000_000).contains(t)), "{times:?}");
        }
    }
}
