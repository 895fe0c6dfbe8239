//! Counters of the programs, summed over the CPUs.

use std::mem::offset_of;
use std::sync::atomic::Ordering::Relaxed;

use super::Bpf;
use super::layout::{length, types};

/// Totals by the names of a struct of `bpf/include`, all of whose fields are `__u64`.
macro_rules! totals {
    ($(#[$about:meta])* $name:ident of $struct:ident { $($field:ident),* $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct $name {
            $(pub $field: u64),*
        }

        // Lists all fields: a new one in `bpf/include` does not compile.
        const _: fn(types::$struct) = |types::$struct { $($field: _),* }| ();

        impl $name {
            /// `sum` returns the sum over all CPUs of the total at this byte offset.
            fn of(sum: impl Fn(usize) -> u64) -> Self {
                Self { $($field: sum(offset_of!(types::$struct, $field))),* }
            }
        }
    };
}

totals! {
    /// Totals of the kernel side, with the names of the wire records `Loss`, `ExpertLoss`,
    /// `PartLoss` and `CaptureLoss`.
    Totals of counters {
        span_starts, span_ends, spans_ring_full, spans_no_start, spans_no_end, calls_ring_full, tensors_ring_full, no_state,
        experts_chosen, experts_ring_full, experts_unreadable, part_tokens, part_ring_full, part_unreadable,
        part_left_out, batch_hits, spans_filtered, spans_gated, starts_gated, spans_empty, graphs_too_large, graphs_unreadable,
    }
}

totals! {
    /// Totals of nested calls, with the names of the wire record `NestedLoss`.
    NestedTotals of nested_counters { starts, ends, ring_full, no_start, no_end }
}

totals! {
    /// Totals of the scheduler level, with the names of the wire record `SchedLoss`.
    SchedTotals of sched_counters {
        switches, wakes, migrations, interrupts, switches_ring_full, wakes_ring_full, migrations_ring_full, interrupts_ring_full,
        threads_no_room,
    }
}

totals! {
    /// Totals of the CPUs' use, with the names of the wire record `CpuUseLoss`.
    CpuUseTotals of cpu_use_counters { windows, windows_late, small_ns, switches_no_room }
}

const OF_CPU: usize = size_of::<types::cpu_totals>();
/// Number of CPUs for which the programs have totals.
const TOTALS_CPUS: usize = length(|bss| &bss.totals);

impl Bpf<'_> {
    /// Totals so far.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals::of(|at| self.sum(offset_of!(types::cpu_totals, ops) + at))
    }

    /// Hits of operator probes so far.
    #[must_use]
    pub fn op_hits(&self) -> u64 {
        let of = |at: usize| self.sum(offset_of!(types::cpu_totals, ops) + at);
        of(offset_of!(types::counters, span_starts)) + of(offset_of!(types::counters, span_ends))
    }

    /// Totals of nested calls so far.
    #[must_use]
    pub fn nested_totals(&self) -> NestedTotals {
        NestedTotals::of(|at| self.sum(offset_of!(types::cpu_totals, nested) + at))
    }

    /// Totals of the scheduler level so far.
    #[must_use]
    pub fn sched_totals(&self) -> SchedTotals {
        SchedTotals::of(|at| self.sum(offset_of!(types::cpu_totals, sched) + at))
    }

    /// Totals of the CPUs' use so far.
    #[must_use]
    pub fn cpu_use_totals(&self) -> CpuUseTotals {
        CpuUseTotals::of(|at| self.sum(offset_of!(types::cpu_totals, cpu_use) + at))
    }

    /// Sums the total at this byte offset over all CPUs.
    fn sum(&self, at: usize) -> u64 {
        let first = offset_of!(types::bss, totals);
        let of_cpu = |cpu| self.shared.words(first + cpu * OF_CPU + at, 1);
        (0..TOTALS_CPUS).flat_map(of_cpu).fold(0, |sum, w| sum.wrapping_add(w.load(Relaxed)))
    }

    pub fn reset_totals(&self) {
        let all = self.shared.words(offset_of!(types::bss, totals), TOTALS_CPUS * OF_CPU / 8);
        all.iter().for_each(|word| word.store(0, Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_by_name() {
        let sum = |at| match at {
            at if at == offset_of!(types::counters, spans_no_end) => 5,
            at if at == offset_of!(types::counters, experts_unreadable) => 7,
            _ => 0,
        };
        let expected = Totals { spans_no_end: 5, experts_unreadable: 7, ..Totals::default() };
        assert_eq!(Totals::of(sum), expected);
    }
}
