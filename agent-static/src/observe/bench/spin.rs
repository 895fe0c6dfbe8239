//! A barrier that spins.

use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// A value with cache lines of its own.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Apart<T>(T);

/// A barrier like GGML's: a counter of those that arrived, and a counter of the times that all had.
#[derive(Debug)]
pub(super) struct SpinBarrier {
    threads: usize,
    arrived: Apart<AtomicUsize>,
    passed: Apart<AtomicUsize>,
}

impl SpinBarrier {
    /// For so many threads.
    #[must_use]
    pub(super) fn new(threads: usize) -> Self {
        Self { threads, arrived: Apart::default(), passed: Apart::default() }
    }

    /// Waits until all threads are here.
    pub(super) fn wait(&self) {
        let before = self.passed.0.load(Ordering::Relaxed);
        if self.arrived.0.fetch_add(1, Ordering::SeqCst) + 1 == self.threads {
            self.arrived.0.store(0, Ordering::Relaxed);
            self.passed.0.fetch_add(1, Ordering::SeqCst);
            return;
        }
        while self.passed.0.load(Ordering::Relaxed) == before {
            std::hint::spin_loop();
        }
        fence(Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_passes_before_all_have_arrived() {
        const ROUNDS: usize = 200;
        let (barrier, at) = (SpinBarrier::new(3), [const { AtomicUsize::new(0) }; 3]);
        std::thread::scope(|scope| {
            for own in 0..3 {
                let (barrier, at) = (&barrier, &at);
                scope.spawn(move || {
                    for round in 1..=ROUNDS {
                        at[own].store(round, Ordering::Relaxed);
                        barrier.wait();
                        assert!(at.iter().all(|a| a.load(Ordering::Relaxed) >= round));
                        if round % 10 == 0 {
                            std::thread::yield_now();
                        }
                    }
                });
            }
        });
    }
}
