//! The capture plan, as the agent stores it.

use profinfer_wire::record::control::{self, level};
use profinfer_wire::record::direct::Probes;
use profinfer_wire::record::gauge::{GaugeKind, GaugeParse, GaugeUnit};

use crate::request::capture::Wanted;

/// Board profile of an unknown machine.
pub const UNKNOWN: &str = if cfg!(target_arch = "aarch64") { "generic-aarch64" } else { "host" };

/// A capture plan, from a host or from the options of `record`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The board profile from which the plan was made.
    pub board: String,
    /// Bits of [`level`].
    pub levels: u32,
    /// Process name to wait for. If empty, the command line of the agent names the target.
    pub target: String,
    /// Counters to read at the start and end of every operator; the index is the slot.
    pub counters: Vec<CounterRequest>,
    pub gauges: Vec<GaugeRequest>,
    /// Ceilings to measure before the session, if any.
    pub bench: Option<BenchRequest>,
    /// The requested kind of operator probes.
    pub probes: Probes,
    /// The requested operator capture.
    pub capture: Wanted,
    /// True if no other session follows in this process, so that privileges which only the setup
    /// needs can be dropped. Set from the command line of the agent.
    pub only: bool,
    /// Ring buffer size in bytes. `None`: the agent chooses. Set from the command line of the
    /// agent.
    pub ring_bytes: Option<u32>,
}

/// Maximum number of counters, and of sensors, that a host may request: enough for seven counters
/// per core type on every known board.
pub const MAX_REQUESTS: usize = 64;
/// Maximum number that the agent stores: one more, so that it can report an excess.
pub const KEPT_REQUESTS: usize = MAX_REQUESTS + 1;

/// See [`control::CounterRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterRequest {
    pub name: String,
    pub event: u32,
    /// `MIDR_EL1` of the cores that have the event; 0 for a software event.
    pub midr: u32,
}

impl From<control::CounterRequest<'_>> for CounterRequest {
    fn from(w: control::CounterRequest<'_>) -> Self {
        Self { name: w.name.to_owned(), event: w.event, midr: w.midr }
    }
}

/// See [`control::GaugeRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GaugeRequest {
    /// Display name.
    pub name: String,
    pub kind: GaugeKind,
    pub unit: GaugeUnit,
    pub source: GaugeSource,
    /// Sampling period, ms.
    pub period_ms: u32,
}

/// See [`control::GaugeSource`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GaugeSource {
    File {
        /// Absolute path; may contain `*`.
        path: String,
        parse: GaugeParse,
    },
    /// A PMU that counts system-wide.
    Pmu { pmu: String, event: String },
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

/// See [`control::BenchRequest`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BenchRequest {
    /// CPU list; empty for all CPUs.
    pub cpus: String,
    /// List of thread counts; empty for the default ones.
    pub threads: String,
    /// Time limit, ms; 0 for the default.
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

/// Parses a list of level names, for example `token,graph`.
///
/// # Errors
/// A message that lists the valid levels.
pub fn levels(list: &str) -> Result<u32, String> {
    let mut bits = 0;
    for name in list.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        bits |= match name {
            "token" => level::TOKEN,
            "graph" => level::GRAPH,
            "op" | "operator" => level::OP,
            // The agent reads expert selections where an operator begins, so the operator level is
            // needed too.
            "expert" => level::OP | level::EXPERT,
            // The off-CPU time of a thread is assigned to `llama_decode` calls.
            "sched" => level::TOKEN | level::SCHED,
            "all" => level::ALL,
            other => {
                return Err(format!("unknown level `{other}`: use token, graph, op, expert, sched or all"));
            }
        };
    }
    if bits == 0 {
        Err("no level given: use token, graph, op, expert, sched or all".to_owned())
    } else {
        Ok(bits)
    }
}
