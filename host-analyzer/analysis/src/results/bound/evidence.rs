//! The numbers that a verdict rests on.

/// One number with what it is compared to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Evidence {
    /// Bytes read and written a second, and their part of the read ceiling.
    Bandwidth {
        /// Bytes a second.
        bytes_per_s: f64,
        /// Ceiling, bytes a second; `None` when there is none for as many threads.
        ceiling: Option<u64>,
        /// Part of it; above 1 the bytes came from a cache.
        share: Option<f64>,
    },
    /// Operations a second, and their part of the ceiling of their arithmetic.
    Arithmetic {
        /// Operations a second.
        operations_per_s: f64,
        /// Ceiling, operations a second; `None` when there is none for as many threads.
        ceiling: Option<u64>,
        /// Part of it.
        share: Option<f64>,
    },
    /// Operations for each byte.
    Intensity {
        /// Operations by bytes.
        operations_per_byte: f64,
    },
    /// Time at the barrier, and its part of the threads' time.
    Waited {
        /// ns, summed over threads.
        wait_ns: u64,
        /// Part of work and wait together, 0 to 1.
        share: f64,
    },
    /// Cycles in which the core waited for data or for a unit to be free.
    BackendStalls {
        /// Part of the cycles, 0 to 1.
        share: f64,
    },
    /// Lines of 64 bytes that the last cache got from memory.
    Refills {
        /// Bytes.
        bytes: u64,
        /// Part of the bytes that the operator had to read; above 1 something was read twice, or beside it.
        of_read: f64,
    },
    /// Instructions in each cycle.
    Ipc {
        /// Instructions by cycles.
        instructions_per_cycle: f64,
    },
    /// Page faults that read from a disk.
    MajorFaults {
        /// How many.
        faults: u64,
        /// Least part of the threads' work that they took, 0 to 1.
        share: f64,
    },
    /// Others had its CPUs.
    Disturbed {
        /// Part of the wall time, 0 to 1.
        share: f64,
    },
    /// It takes hardly longer than what its probe adds to it.
    Tiny {
        /// Median wall time, ns.
        median_ns: u64,
        /// Of it the probe, ns.
        probe_inside_ns: u64,
    },
}

impl Evidence {
    /// The number, what it is compared to, and the part that it is of something.
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
