//! Faults of a stream between agent and `analyze`, from seeds, and the properties of what arrives.
//!
//! ```text
//! seed ─▶ session ─▶ fault, link ─▶ decode, ingest, analyses ─▶ check
//!         sent       injected       the host as it is           decoded ⊆ sent, the rest accounted for
//! ```
//!
//! A changed frame with a matching CRC-32C would be decoded: 1 of 2^32 frames of noise.

mod check;
mod fault;
mod link;
mod random;
mod schedule;
mod session;
mod spans;

pub use schedule::{Sums, run};

/// Runs `n` schedules from `seed` on, distributed over this machine's CPUs.
///
/// # Errors
/// The first seed that fails, and the violation.
pub fn run_all(seed: u64, n: u64) -> Result<Sums, (u64, String)> {
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let share = |worker: u64| {
        let mut sums = Sums::default();
        for i in (worker..n).step_by(workers as usize) {
            let seed = seed.wrapping_add(i);
            run(seed, &mut sums).map_err(|e| (seed, e))?;
        }
        Ok(sums)
    };
    let done: Vec<Result<Sums, (u64, String)>> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..workers).map(|w| scope.spawn(move || share(w))).collect();
        all.into_iter()
            .map(|t| t.join().unwrap_or_else(|_| Err((seed, "a worker panicked".to_owned()))))
            .collect()
    });
    let mut sums = Sums::default();
    for part in done {
        sums.add(&part?);
    }
    Ok(sums)
}
