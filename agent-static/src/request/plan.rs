//! The capture plan, as the agent keeps it.

use profinfer_wire::record::control::{self, level};
use profinfer_wire::record::direct::Probes;
use profinfer_wire::record::gauge::{GaugeKind, GaugeParse, GaugeUnit};

use crate::request::capture::Wanted;

/// Name of the profile for an unknown machine.
pub const UNKNOWN: &str = if cfg!(target_arch = "aarch64") { "generic-aarch64" } else { "host" };

/// A capture plan, made by the host or from the options of `record`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Board profile that it was made from.
    pub board: String,
    /// Levels, bits of [`level`].
    pub levels: u32,
    /// Process name to wait for. If it is empty, the agent's command line names the target.
    pub target: String,
    /// Counters to read at every operator's start and end, by slot.
    pub counters: Vec<CounterRequest>,
    /// Sensors to sample.
    pub gauges: Vec<GaugeRequest>,
    /// Ceilings to measure before the session.
    pub bench: Option<BenchRequest>,
    /// Which kind of operator probes is wanted.
    pub probes: Probes,
    /// What to capture of the operators.
    pub capture: Wanted,
    /// No other session follows in this process, so that what only a beginning needs may be given up. Of the agent's own command line.
    pub only: bool,
    /// Bytes of the kernel's ring buffer; `None` leaves them to the agent. Of the agent's own command line.
    pub ring_bytes: Option<u32>,
}

/// Most counters and most sensors that a host may ask for: seven counters for as many types of core as there are boards with.
pub const MAX_REQUESTS: usize = 64;
/// Most that are kept: one more, so that it is told when it sends more.
pub const KEPT_REQUESTS: usize = MAX_REQUESTS + 1;

/// A counter to read, see [`control::CounterRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterRequest {
    /// Event name.
    pub name: String,
    /// Event number.
    pub event: u32,
    /// `MIDR_EL1` of the cores that have it; 0 for a software event.
    pub midr: u32,
}

impl From<control::CounterRequest<'_>> for CounterRequest {
    fn from(w: control::CounterRequest<'_>) -> Self {
        Self { name: w.name.to_owned(), event: w.event, midr: w.midr }
    }
}

/// A sensor to sample, see [`control::GaugeRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GaugeRequest {
    /// Name for people.
    pub name: String,
    /// What it measures.
    pub kind: GaugeKind,
    /// Unit of its values.
    pub unit: GaugeUnit,
    /// Where the values come from.
    pub source: GaugeSource,
    /// Time between two samples, ms.
    pub period_ms: u32,
}

/// See [`control::GaugeSource`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GaugeSource {
    /// Files.
    File {
        /// Path from `/`, with `*`.
        path: String,
        /// How their text is read.
        parse: GaugeParse,
    },
    /// A PMU that counts for the whole system.
    Pmu {
        /// Its name.
        pmu: String,
        /// Event.
        event: String,
    },
}

impl From<control::GaugeRequest<'_>> for GaugeRequest {
    fn from(w: control::GaugeRequest<'_>) -> Self {
        let source = match w.source {
            control::GaugeSource::File { path, parse } => GaugeSource::File { path: path.to_owned(), parse },
            control::GaugeSource::Pmu { pmu, event } => {
                GaugeSource::Pmu { pmu: pmu.to_owned(), event: event.to_owned() }
            }
        };
        Self { name: w.name.to_owned(), kind: w.kind, unit: w.unit, source, period_ms: w.period_ms }
    }
}

/// Ceilings to measure, see [`control::BenchRequest`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BenchRequest {
    /// CPUs; empty for all.
    pub cpus: String,
    /// Numbers of threads; empty for the usual ones.
    pub threads: String,
    /// How long it may take, ms; 0 for the usual time.
    pub budget_ms: u32,
}

impl From<control::BenchRequest<'_>> for BenchRequest {
    fn from(w: control::BenchRequest<'_>) -> Self {
        Self { cpus: w.cpus.to_owned(), threads: w.threads.to_owned(), budget_ms: w.budget_ms }
    }
}

impl From<control::Plan<'_>> for Plan {
    fn from(p: control::Plan<'_>) -> Self {
        Self {
            board: if p.board.is_empty() { UNKNOWN } else { p.board }.to_owned(),
            levels: p.levels & level::ALL,
            target: p.target.to_owned(),
            counters: Vec::new(),
            gauges: Vec::new(),
            bench: None,
            probes: Probes::Auto,
            capture: Wanted::default(),
            only: false,
            ring_bytes: None,
        }
    }
}

/// Reads a list of level names, for example `token,graph`.
///
/// # Errors
/// A sentence that names the allowed levels.
pub fn levels(list: &str) -> Result<u32, String> {
    let mut bits = 0;
    for name in list.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        bits |= match name {
            "token" => level::TOKEN,
            "graph" => level::GRAPH,
            "op" | "operator" => level::OP,
            // Selections are read where an operator begins, so the operator level is needed too.
            "expert" => level::OP | level::EXPERT,
            // Where a thread's time went is asked of calls.
            "sched" => level::TOKEN | level::SCHED,
            "all" => level::ALL,
            other => {
                return Err(format!("`{other}` is not a level: use token, graph, op, expert, sched, all"));
            }
        };
    }
    if bits == 0 {
        Err("no level given: use token, graph, op, expert, sched, all".to_owned())
    } else {
        Ok(bits)
    }
}
