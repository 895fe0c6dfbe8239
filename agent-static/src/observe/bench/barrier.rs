//! Barrier: time until all threads have reached a barrier and left it. They spin on a counter, as
//! engines do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::spin::SpinBarrier;
use super::workers::{self, Pace};
use crate::error::Result;

/// Waiting method, for people.
pub(super) const HOW: &str = "spinning on a counter";

/// Barriers between two readings of the clock.
const LOOKS: u64 = 32;

/// Time of one barrier, ns, for each repetition.
///
/// # Errors
/// See [`workers::run`].
pub(super) fn measure(cpus: &[u32], pace: Pace) -> Result<Vec<u64>> {
    let (barrier, done) = (SpinBarrier::new(cpus.len()), AtomicBool::new(false));
    let times = workers::run(cpus, vec![(); cpus.len()], |index, ()| {
        let mut times = Vec::with_capacity(pace.repeats as usize + 1);
        for _ in 0..=pace.repeats {
            barrier.wait();
            let (begun, mut rounds) = (Instant::now(), 0u64);
            // The first thread decides when to stop, before a barrier that all pass, so that all
            // stop after the same one.
            while !done.load(Ordering::Relaxed) {
                barrier.wait();
                // Reading the clock every time would distort the time.
                if index == 0 && rounds.is_multiple_of(LOOKS) && begun.elapsed() >= pace.window {
                    done.store(true, Ordering::Relaxed);
                }
                barrier.wait();
                rounds += 2;
            }
            times.push(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX) / rounds.max(1));
            barrier.wait();
            done.store(false, Ordering::Relaxed);
        }
        times
    })?;
    // All threads measured the same barriers: use the first one's times, without the warm-up.
    Ok(times.into_iter().next().unwrap_or_default().into_iter().skip(1).collect())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn as_many_times_as_repetitions() {
        let cpus = crate::observe::bench::cpus::chosen(None, std::path::Path::new("/sys")).unwrap();
        let pace = Pace { window: std::time::Duration::from_millis(3), repeats: 5 };
        let times = measure(&cpus[..cpus.len().min(2)], pace).unwrap();
        assert!(times.len() == 5 && times.iter().all(|t| *t > 0), "{times:?}");
    }
}
