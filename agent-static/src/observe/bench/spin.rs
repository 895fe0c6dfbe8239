//! A spinning barrier.

use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// A value on separate cache lines.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Padded<T>(T);

/// A barrier like GGML's: a counter of arrived threads, and a counter of completed barriers.
#[derive(Debug)]
pub(super) struct SpinBarrier {
    threads: usize,
    arrived: Padded<AtomicUsize>,
    passed: Padded<AtomicUsize>,
}

impl SpinBarrier {
    #[must_use]
    pub(super) fn new(threads: usize) -> Self {
        Self { threads, arrived: Padded::default(), passed: Padded::default() }
    }

    /// Waits until all threads have arrived.
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
    fn no_thread_passes_before_all_have_arrived() {
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
