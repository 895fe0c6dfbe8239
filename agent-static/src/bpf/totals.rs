//! What the programs count, summed over the CPUs.

use std::mem::offset_of;

use libbpf_rs::{MapCore, MapFlags};

use super::Bpf;
use super::layout::types;
use crate::sys::maps;

/// Totals by the names of a struct of `bpf/include`, all of whose fields are `__u64`.
macro_rules! totals {
    ($(#[$about:meta])* $name:ident of $struct:ident { $($field:ident),* $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the wire's loss records document each; one name in every layer")]
        pub struct $name {
            $(pub $field: u64),*
        }

        // All of them: one that is new in `bpf/include` does not compile.
        const _: fn(types::$struct) = |types::$struct { $($field: _),* }| ();

        impl $name {
            const WORDS: usize = size_of::<types::$struct>() / 8;

            fn of(sums: &[u64]) -> Self {
                let sum = |at: usize| sums.get(at / 8).copied().unwrap_or(0);
                Self { $($field: sum(offset_of!(types::$struct, $field))),* }
            }
        }
    };
}

totals! {
    /// Totals of the kernel side; names as in the wire's `Loss`, `ExpertLoss` and `CaptureLoss` records.
    Totals of counters {
        span_starts, span_ends, spans_ring_full, spans_no_start, spans_no_end, calls_ring_full, tensors_ring_full, no_state,
        experts_chosen, experts_ring_full, experts_unreadable, spans_filtered, spans_gated, starts_gated,
    }
}

totals! {
    /// Totals of nested calls on the kernel side; names as in the wire's `NestedLoss` record.
    NestedTotals of nested_counters { starts, ends, ring_full, no_start, no_end }
}

totals! {
    /// Totals of the scheduler level on the kernel side; names as in the wire's `SchedLoss` record.
    SchedTotals of sched_counters {
        switches, wakes, migrations, interrupts, switches_ring_full, wakes_ring_full, migrations_ring_full, interrupts_ring_full,
        threads_no_room,
    }
}

/// Room for the totals of one CPU.
const MOST_WORDS: usize = {
    let [a, b, c] = [Totals::WORDS, NestedTotals::WORDS, SchedTotals::WORDS];
    let most = if a > b { a } else { b };
    if most > c { most } else { c }
};

/// Room for the totals of all CPUs, so that reading them allocates nothing.
pub(super) fn room() -> Vec<u64> {
    vec![0; maps::possible_cpus() * MOST_WORDS]
}

impl Bpf<'_> {
    /// What the programs counted so far.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals::of(&self.sums::<{ Totals::WORDS }>(&self.skel.maps.totals))
    }

    /// What the programs counted of nested calls so far.
    #[must_use]
    pub fn nested_totals(&self) -> NestedTotals {
        NestedTotals::of(&self.sums::<{ NestedTotals::WORDS }>(&self.skel.maps.nested_totals))
    }

    /// What the programs counted of the scheduler level so far.
    #[must_use]
    pub fn sched_totals(&self) -> SchedTotals {
        if !self.sched {
            return SchedTotals::default();
        }
        SchedTotals::of(&self.sums::<{ SchedTotals::WORDS }>(&self.skel.maps.sched_totals))
    }

    /// The sums over all CPUs of a map with one value of so many words; zeros where it cannot be read.
    fn sums<const N: usize>(&self, map: &impl MapCore) -> [u64; N] {
        let mut sum = [0u64; N];
        let mut per_cpu = self.per_cpu.borrow_mut();
        per_cpu.fill(0);
        maps::lookup_percpu(map, 0, &mut per_cpu);
        for cpu in per_cpu.chunks_exact(N).take(maps::possible_cpus()) {
            for (total, value) in sum.iter_mut().zip(cpu) {
                *total += value;
            }
        }
        sum
    }

    /// Sets the totals to zero.
    pub fn reset_totals(&self) {
        let zeros = |bytes: usize| vec![vec![0u8; bytes]; maps::possible_cpus()];
        let key = 0u32.to_ne_bytes();
        let all = zeros(size_of::<types::counters>());
        let _ = self.skel.maps.totals.update_percpu(&key, &all, MapFlags::ANY);
        if self.sched {
            let all = zeros(size_of::<types::sched_counters>());
            let _ = self.skel.maps.sched_totals.update_percpu(&key, &all, MapFlags::ANY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_by_name() {
        let mut sums = [0; Totals::WORDS];
        sums[offset_of!(types::counters, spans_no_end) / 8] = 5;
        sums[offset_of!(types::counters, experts_unreadable) / 8] = 7;
        let expected = Totals { spans_no_end: 5, experts_unreadable: 7, ..Totals::default() };
        assert_eq!(Totals::of(&sums), expected);
    }
}
