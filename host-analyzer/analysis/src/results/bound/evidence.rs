//! The numbers that support a verdict.

/// A number and its reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Evidence {
    /// Bytes read and written per second, and their share of the read ceiling.
    Bandwidth {
        bytes_per_s: f64,
        /// Ceiling, bytes per second; `None` when there is none for this number of threads.
        ceiling: Option<u64>,
        /// Share of the ceiling. Above 1, the bytes came from a cache.
        share: Option<f64>,
    },
    /// Operations per second, and their share of the ceiling for this arithmetic.
    Arithmetic {
        operations_per_s: f64,
        /// Ceiling, operations per second; `None` when there is none for this number of threads.
        ceiling: Option<u64>,
        /// Share of the ceiling.
        share: Option<f64>,
    },
    /// Operations per byte.
    Intensity { operations_per_byte: f64 },
    /// Time at the barrier, and its share of the threads' time.
    Waited {
        /// ns, summed over threads.
        wait_ns: u64,
        /// Share of work and wait together, 0 to 1.
        share: f64,
    },
    /// Cycles in which the core waited for data or for a free unit.
    BackendStalls {
        /// Share of the cycles, 0 to 1.
        share: f64,
    },
    /// Lines of 64 bytes that the last-level cache loaded from memory.
    Refills {
        bytes: u64,
        /// Ratio to the bytes that the operator had to read. Above 1, it read some twice, or others
        /// loaded data at the same time.
        of_read: f64,
    },
    /// Instructions per cycle.
    Ipc { instructions_per_cycle: f64 },
    /// Page faults that read from a disk.
    MajorFaults {
        faults: u64,
        /// Lower bound of their share of the threads' work, 0 to 1.
        share: f64,
    },
    /// Other tasks had its CPUs.
    Disturbed {
        /// Share of the wall time, 0 to 1.
        share: f64,
    },
    /// It takes hardly longer than what its probe adds.
    Tiny {
        /// Median wall time, ns.
        median_ns: u64,
        /// The probe's part of it, ns.
        probe_inside_ns: u64,
    },
}

impl Evidence {
    /// The number, its reference, and its share.
    #[must_use]
    pub fn numbers(&self) -> (Option<f64>, Option<f64>, Option<f64>) {
        match *self {
            Self::Bandwidth { bytes_per_s: value, ceiling, share }
            | Self::Arithmetic { operations_per_s: value, ceiling, share } => {
                (Some(value), ceiling.map(|c| c as f64), share)
            }
            Self::Intensity { operations_per_byte: value } | Self::Ipc { instructions_per_cycle: value } => {
                (Some(value), None, None)
            }
            Self::Waited { wait_ns, share } => (Some(wait_ns as f64), None, Some(share)),
            Self::BackendStalls { share } | Self::Disturbed { share } => (None, None, Some(share)),
            Self::Refills { bytes, of_read } => (Some(bytes as f64), None, Some(of_read)),
            Self::MajorFaults { faults, share } => (Some(faults as f64), None, Some(share)),
            Self::Tiny { median_ns, probe_inside_ns } => {
                (Some(median_ns as f64), Some(probe_inside_ns as f64), None)
            }
        }
    }
}
