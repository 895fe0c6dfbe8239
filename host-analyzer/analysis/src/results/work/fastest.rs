//! The fastest execution of each operator: what the CPUs and the memory can do at least.

use super::{Accuracy, Work};

/// Fewest bytes read, and operations, of an execution whose rate counts. Of smaller ones, the time
/// is that of starting and finishing.
pub(crate) const LEAST: u64 = 1 << 20;
/// Shortest execution whose rate counts, ns.
const LEAST_NS: u64 = 1_000;

/// Highest rates of single executions of an operator, among those with the most threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fastest {
    /// Largest number of threads of the calls.
    pub threads: u32,
    /// Weights and KV cache read per second of wall time; 0 if no execution counts.
    pub read_per_s: u64,
    /// Bytes that this execution read.
    pub read_bytes: u64,
    /// Operations per second of wall time; 0 if no execution counts.
    pub operations_per_s: u64,
}

impl Fastest {
    /// Adds an execution in a call with so many threads. Figures that are estimates do not count:
    /// a rate that is too high would not be a lower bound.
    pub(super) fn add(&mut self, work: &Work, wall_ns: u64, threads: u32) {
        let streamed = work.streamed_bytes();
        if (streamed < LEAST && work.operations < LEAST)
            || wall_ns < LEAST_NS
            || work.accuracy != Accuracy::Counted
        {
            return;
        }
        let per_s = |n: u64| if n < LEAST { 0 } else { (n as f64 * 1e9 / wall_ns as f64) as u64 };
        self.join(&Self {
            threads,
            read_per_s: per_s(streamed),
            read_bytes: streamed,
            operations_per_s: per_s(work.operations),
        });
    }

    /// The higher rates of both. Those with fewer threads are forgotten.
    pub fn join(&mut self, other: &Self) {
        if other.threads > self.threads {
            *self = *other;
        } else if other.threads == self.threads {
            if other.read_per_s > self.read_per_s {
                (self.read_per_s, self.read_bytes) = (other.read_per_s, other.read_bytes);
            }
            self.operations_per_s = self.operations_per_s.max(other.operations_per_s);
        }
    }
}
