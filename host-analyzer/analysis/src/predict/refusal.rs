//! Reasons for refusing a prediction.

use super::Query;
use super::census::{Census, NoCensus};
use super::run::Run;

/// Why there is no prediction.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The file allows no census.
    NoCensus(NoCensus),
    /// There is no recording, or one has no completely captured decode tokens with both probes and
    /// without filters.
    NoOperators,
    /// Recordings of different machines.
    Machines(Vec<String>),
    /// Recordings of another board than requested.
    Board {
        /// Requested board.
        asked: String,
        /// Board of the recordings.
        found: String,
    },
    /// Recordings with different numbers of threads.
    Threads(Vec<u32>),
    /// A clock that differs between recordings.
    Clocks {
        name: String,
        /// Lowest mean, Hz.
        low: f64,
        /// Highest mean, Hz.
        high: f64,
    },
    /// Backends other than the CPU computed tokens.
    Backends(Vec<String>),
    /// Weights and cache do not fit into the memory, so weights would be read from storage.
    Paging {
        /// Bytes of the file without tables of which a token reads rows, and of the cache.
        needed: u64,
        /// Bytes of memory.
        available: u64,
    },
}

/// Largest difference between the mean clocks of recordings, as a share of the lower one: rates
/// follow the clock.
pub const CLOCKS: f64 = 0.05;

impl Refusal {
    /// Stable name.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoCensus(NoCensus::Split(_)) => "split_file",
            Self::NoCensus(NoCensus::NoLanguageModel) => "no_language_model",
            Self::NoCensus(NoCensus::NotCausal) => "not_causal",
            Self::NoCensus(NoCensus::EncoderDecoder) => "encoder_decoder",
            Self::NoCensus(NoCensus::ExpertsUsed) => "experts_used_unknown",
            Self::NoOperators => "no_operators",
            Self::Machines(_) => "different_machines",
            Self::Board { .. } => "other_board",
            Self::Threads(_) => "different_threads",
            Self::Clocks { .. } => "different_clocks",
            Self::Backends(_) => "other_backends",
            Self::Paging { .. } => "would_page",
        }
    }
}

/// Whether these recordings are of one board under the same conditions.
pub(super) fn recordings(runs: &[Run], query: &Query) -> Result<(), Refusal> {
    if runs.is_empty() || runs.iter().any(|r| !r.whole || r.decode.nodes.iter().all(|n| n.matrix.is_none())) {
        return Err(Refusal::NoOperators);
    }
    let mut machines: Vec<String> =
        runs.iter().map(|r| format!("{} ({} CPUs)", r.cpu_model, r.cpus)).collect();
    machines.sort();
    machines.dedup();
    if machines.len() > 1 {
        return Err(Refusal::Machines(machines));
    }
    if let Some(asked) = &query.board
        && let Some(other) = runs.iter().find(|r| r.board != *asked)
    {
        return Err(Refusal::Board { asked: asked.clone(), found: other.board.clone() });
    }
    let mut backends: Vec<String> =
        runs.iter().flat_map(|r| &r.backends).filter(|b| *b != "CPU").cloned().collect();
    backends.sort();
    backends.dedup();
    if !backends.is_empty() {
        return Err(Refusal::Backends(backends));
    }
    let mut threads: Vec<u32> = runs.iter().map(|r| r.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    if threads.len() > 1 {
        return Err(Refusal::Threads(threads));
    }
    clocks(runs)
}

fn clocks(runs: &[Run]) -> Result<(), Refusal> {
    for (name, _) in runs.iter().flat_map(|r| &r.clocks) {
        let values = || runs.iter().flat_map(|r| &r.clocks).filter(|(n, _)| n == name).map(|(_, hz)| *hz);
        let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
        if high > low * (1.0 + CLOCKS) {
            return Err(Refusal::Clocks { name: name.clone(), low, high });
        }
    }
    Ok(())
}

/// Whether weights and cache fit into the memory of every recording that has its size.
pub(super) fn memory(census: &Census, runs: &[&Run]) -> Result<(), Refusal> {
    let needed = census.resident_bytes();
    match runs.iter().filter_map(|r| r.memory_bytes).min() {
        Some(available) if needed > available => Err(Refusal::Paging { needed, available }),
        _ => Ok(()),
    }
}
