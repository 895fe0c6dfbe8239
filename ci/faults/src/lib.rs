//! What happens to a stream between agent and `analyze`, from seeds, and what must hold of what arrives.
//!
//! ```text
//! seed ─▶ session ─▶ fault, link ─▶ decode, ingest, analyses ─▶ check
//!         sent       injected       the host as it is           decoded ⊆ sent, the rest accounted for
//! ```
//!
//! A changed frame whose CRC-32C is right all the same would be decoded: 1 of 2^32 frames that noise made.

mod check;
mod fault;
mod link;
mod random;
mod schedule;
mod session;
mod spans;

pub use schedule::{Sums, run};

/// Runs `n` schedules from `seed` on, shared among this machine's CPUs.
///
/// # Errors
/// The first seed that fails, and in which way.
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
