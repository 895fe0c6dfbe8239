//! Hard limits of a plan, for any host.
//!
//! A plan names things that the agent reads. It has no fields for an address to write to, a command
//! to run or a file to create. The limits bound the names, so that a hostile plan costs little and
//! reads only sensor files.
//!
//! ```text
//! plan ─▶ checked ─▶ session          beyond a limit ─▶ `Refused`, no session
//! sensor's path ─▶ place ─▶ gauge     another place ─▶ that gauge is refused, with the reason
//! ```

pub mod place;

use std::fmt;

use crate::error::{Diagnostic, Result};
use crate::request::plan::{GaugeSource, MAX_REQUESTS, Plan};

/// Maximum length of a board, engine, counter, sensor, PMU or event name, bytes.
const MAX_NAME: usize = 100;
/// Maximum length of a list of CPUs or thread counts, bytes.
const MAX_LIST: usize = 200;

/// How a plan exceeds a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// Too many requests of one kind.
    Requests(What),
    /// A name or list is too long.
    Long(What),
    /// A name or list has invalid characters.
    Characters(What),
    /// The engine name matches processes with any name.
    AnyName,
}

/// The part of a plan that a limit applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Board,
    /// The name of the engine processes.
    Target,
    Counter,
    Gauge,
    /// CPU list or thread counts for ceilings.
    Bench,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Board => "the board name",
            Self::Target => "the engine name",
            Self::Counter => "a counter name",
            Self::Gauge => "a sensor name",
            Self::Bench => "the list of CPUs or thread counts of the ceilings",
        })
    }
}

impl fmt::Display for Beyond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requests(What::Counter) => write!(f, "it requests more than {MAX_REQUESTS} counters"),
            Self::Requests(_) => write!(f, "it requests more than {MAX_REQUESTS} sensors"),
            Self::Long(what @ What::Bench) => write!(f, "{what} is longer than {MAX_LIST} bytes"),
            Self::Long(what) => write!(f, "{what} is longer than {MAX_NAME} bytes"),
            Self::Characters(what) => write!(f, "{what} has invalid characters"),
            Self::AnyName => f.write_str("the engine name matches every process"),
        }
    }
}

/// Returns the plan if it is within the limits.
///
/// # Errors
/// If the plan exceeds a limit.
pub fn checked(plan: Plan) -> Result<Plan> {
    match beyond(&plan) {
        None => Ok(plan),
        Some(beyond) => Err(Diagnostic::new(
            "checking the plan of the host",
            beyond,
            "request less; docs/security.md lists the limits of a plan",
        )),
    }
}

/// The first limit that the plan exceeds.
#[must_use]
pub fn beyond(plan: &Plan) -> Option<Beyond> {
    let requests = |n: usize, what| (n > MAX_REQUESTS).then_some(Beyond::Requests(what));
    requests(plan.counters.len(), What::Counter)
        .or_else(|| requests(plan.gauges.len(), What::Gauge))
        .or_else(|| name(&plan.board, What::Board))
        .or_else(|| target(&plan.target))
        .or_else(|| plan.counters.iter().find_map(|c| name(&c.name, What::Counter)))
        .or_else(|| plan.gauges.iter().find_map(|g| name(&g.name, What::Gauge).or_else(|| source(&g.source))))
        .or_else(|| plan.bench.iter().find_map(|b| list(&b.cpus).or_else(|| list(&b.threads))))
}

/// The name is copied into the recording and shown to readers.
fn name(text: &str, what: What) -> Option<Beyond> {
    bounded(text, MAX_NAME, what, |c| !c.is_control())
}

fn list(text: &str) -> Option<Beyond> {
    bounded(text, MAX_LIST, What::Bench, |c| c.is_ascii_digit() || matches!(c, ',' | '-' | ' '))
}

fn bounded(text: &str, most: usize, what: What, allowed: impl Fn(char) -> bool) -> Option<Beyond> {
    match () {
        () if text.len() > most => Some(Beyond::Long(what)),
        () if !text.chars().all(allowed) => Some(Beyond::Characters(what)),
        () => None,
    }
}

/// A host must name the processes to trace, so that it cannot trace whatever runs.
fn target(text: &str) -> Option<Beyond> {
    let any = text.starts_with('*');
    let slash = |c: char| !c.is_control() && c != '/';
    any.then_some(Beyond::AnyName).or_else(|| bounded(text, MAX_NAME, What::Target, slash))
}

fn source(source: &GaugeSource) -> Option<Beyond> {
    match source {
        // The path is checked when the file is opened.
        GaugeSource::File { .. } => None,
        GaugeSource::Pmu { pmu, event } => name(pmu, What::Gauge).or_else(|| name(event, What::Gauge)),
    }
}

#[cfg(test)]
mod tests {
    use profinfer_wire::record::control::{self, level};
    use profinfer_wire::record::gauge::{GaugeKind, GaugeUnit};

    use super::*;
    use crate::request::plan::{BenchRequest, CounterRequest, GaugeRequest};

    fn plan(board: &str, target: &str) -> Plan {
        let plan = control::Plan { wire_version: 1, board, levels: level::ALL, target };
        Plan::from(plan)
    }

    fn with(change: impl FnOnce(&mut Plan)) -> Option<Beyond> {
        let mut plan = plan("", "");
        change(&mut plan);
        beyond(&plan)
    }

    fn counter(name: &str) -> CounterRequest {
        CounterRequest { name: name.to_owned(), event: 0, midr: 0 }
    }

    fn gauge(name: &str, pmu: &str) -> GaugeRequest {
        let (name, source) =
            (name.to_owned(), GaugeSource::Pmu { pmu: pmu.to_owned(), event: "e".to_owned() });
        GaugeRequest { name, kind: GaugeKind::Load, unit: GaugeUnit::Hertz, source, period_ms: 0 }
    }

    #[test]
    fn a_plan_of_usual_size_is_carried_out() {
        let counters = vec![counter("L3D_CACHE_REFILL"); MAX_REQUESTS];
        let gauges = vec![gauge("traffic of the memory, ä", "rockchip_ddr"); MAX_REQUESTS];
        assert_eq!(with(|p| (p.counters, p.gauges) = (counters, gauges)), None);
        for target in ["", "llama*", "llama-speculative-simple", "*"] {
            assert_eq!(beyond(&plan("orangepi-5", target)).is_none(), target != "*", "{target}");
        }
        assert!(checked(plan("rk3588", "llama*")).is_ok());
    }

    #[test]
    fn each_limit_holds() {
        let long = "x".repeat(MAX_NAME + 1);
        assert_eq!(with(|p| p.board.clone_from(&long)), Some(Beyond::Long(What::Board)));
        assert_eq!(with(|p| p.target.clone_from(&long)), Some(Beyond::Long(What::Target)));
        assert_eq!(with(|p| p.target = "*llama".to_owned()), Some(Beyond::AnyName));
        assert_eq!(with(|p| p.target = "a/b".to_owned()), Some(Beyond::Characters(What::Target)));
        assert_eq!(with(|p| p.board = "a\x1b[2J".to_owned()), Some(Beyond::Characters(What::Board)));
        assert_eq!(with(|p| p.counters = vec![counter(&long)]), Some(Beyond::Long(What::Counter)));
        let many = vec![counter("a"); MAX_REQUESTS + 1];
        assert_eq!(with(|p| p.counters = many), Some(Beyond::Requests(What::Counter)));
        let many = vec![gauge("a", "b"); MAX_REQUESTS + 1];
        assert_eq!(with(|p| p.gauges = many), Some(Beyond::Requests(What::Gauge)));
        assert_eq!(with(|p| p.gauges = vec![gauge("a", "\n")]), Some(Beyond::Characters(What::Gauge)));
        assert_eq!(with(|p| p.gauges = vec![gauge(&long, "b")]), Some(Beyond::Long(What::Gauge)));
        let bench = |cpus: &str| Some(BenchRequest { cpus: cpus.to_owned(), ..Default::default() });
        assert_eq!(with(|p| p.bench = bench("0-3,6")), None);
        assert_eq!(with(|p| p.bench = bench(&"1,".repeat(101))), Some(Beyond::Long(What::Bench)));
        assert_eq!(with(|p| p.bench = bench("$(x)")), Some(Beyond::Characters(What::Bench)));
        assert!(checked(plan(&long, "")).is_err_and(|e| e.answer.contains("longer than 100 bytes")));
    }
}
