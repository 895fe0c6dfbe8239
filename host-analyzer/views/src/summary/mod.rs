//! `summary.json`: every figure of a session but the single spans.
//!
//! Stage: view. From: session, analysis. To: one JSON object, as docs/output-schema.md says.

mod with_words;
mod work;

use std::io::{self, Write};

use serde::Serialize;

use super::SCHEMA;
use profinfer_analysis::Analysis;
use profinfer_analysis::accelerator::Accelerators;
use profinfer_analysis::capture::Capture;
use profinfer_analysis::ceiling::Ceilings;
use profinfer_analysis::cost::Cost;
use profinfer_analysis::counter::Counted;
use profinfer_analysis::critical_path::CriticalPath;
use profinfer_analysis::engine::Engine;
use profinfer_analysis::fact::Conditions;
use profinfer_analysis::findings;
use profinfer_analysis::graph::Graph;
use profinfer_analysis::kv::Kv;
use profinfer_analysis::nested::Nested;
use profinfer_analysis::sched::Sched;
use profinfer_analysis::server::Server;
use profinfer_analysis::speculative::Speculative;
use profinfer_analysis::thread::Thread;
use profinfer_analysis::token::Token;
use profinfer_analysis::track::Track;
use profinfer_analysis::weight::Weights;
use profinfer_trace::model::{self, Level, Model};
use with_words::{Budget, Ending, Findings, Gauge, Health, Routing};

#[derive(Serialize)]
struct Summary<'a> {
    schema: u32,
    session: Session<'a>,
    ending: Ending<'a>,
    health: Health<'a>,
    capture: &'a Capture,
    findings: Findings<'a>,
    engines: &'a [Engine],
    weights: &'a [Weights],
    tokens: &'a Token,
    server: &'a Server,
    speculative: &'a [Speculative],
    kv: &'a [Kv],
    critical_paths: Vec<&'a CriticalPath>,
    budget: Budget<'a>,
    graphs: &'a [Graph],
    op_types: Vec<work::TypeRow<'a>>,
    operators: Vec<work::OperatorRow<'a>>,
    work: work::Work<'a>,
    backends: &'a Accelerators,
    nested_calls: &'a [Nested],
    experts: Vec<Routing<'a>>,
    threads: &'a [Thread],
    counters: &'a [Counted],
    gauges: Vec<Gauge<'a>>,
    conditions: &'a Conditions,
    ceilings: &'a Ceilings,
    sched: &'a Sched,
    tracks: &'a [Track],
    cost: &'a Cost,
}

#[derive(Serialize)]
struct Session<'a> {
    agent: &'a str,
    kernel: &'a str,
    machine: &'a str,
    cpu_model: &'a str,
    board: &'a str,
    cpus: u16,
    levels: Vec<&'static str>,
    start_unix_ns: u64,
    duration_ns: u64,
    processes: Vec<Process<'a>>,
    libraries: Vec<Library<'a>>,
    probes: Vec<Probe<'a>>,
    counters: Vec<Counter<'a>>,
}

#[derive(Serialize)]
struct Counter<'a> {
    name: &'a str,
    event: u32,
    pmu: &'a str,
    cpus: &'a [u16],
    attached: bool,
    note: &'a str,
}

#[derive(Serialize)]
struct Process<'a> {
    pid: u32,
    name: &'a str,
    command: &'a str,
    engine_version: &'a str,
}

#[derive(Serialize)]
struct Library<'a> {
    pid: u32,
    path: &'a str,
    build_id: &'a str,
    role: &'a str,
}

#[derive(Serialize)]
struct Probe<'a> {
    pid: u32,
    level: Option<&'static str>,
    what: &'a str,
    symbol: &'a str,
    library: &'a str,
    offset: u64,
    attached: bool,
    note: &'a str,
}

/// Writes the summary.
///
/// # Errors
/// Those of `out`.
pub fn summary(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let findings = findings::Findings::of(model, analysis);
    let summary = Summary {
        schema: SCHEMA,
        session: session(&model.session, analysis.duration_ns),
        ending: Ending::of(&analysis.ending),
        health: Health::of(&analysis.health),
        capture: &analysis.capture,
        findings: Findings::of(&findings),
        engines: &analysis.engine,
        weights: &analysis.weight,
        tokens: &analysis.token,
        server: &analysis.server,
        speculative: &analysis.speculative,
        kv: &analysis.kv,
        critical_paths: analysis.dag.iter().filter_map(|d| d.path.as_ref()).collect(),
        budget: Budget::of(&analysis.budget),
        graphs: &analysis.graph,
        op_types: work::types(analysis),
        operators: work::operators(analysis),
        work: work::Work::of(analysis),
        backends: &analysis.accelerator,
        nested_calls: &analysis.nested,
        experts: analysis.expert.iter().map(Routing::of).collect(),
        threads: &analysis.thread,
        counters: &analysis.counted,
        gauges: analysis.gauge.iter().map(Gauge::of).collect(),
        conditions: &analysis.conditions,
        ceilings: &analysis.ceiling,
        sched: &analysis.sched,
        tracks: &analysis.track,
        cost: &analysis.cost,
    };
    serde_json::to_writer(&mut *out, &summary)?;
    out.write_all(b"\n")
}

fn session(s: &model::Session, duration_ns: u64) -> Session<'_> {
    Session {
        agent: &s.agent,
        kernel: &s.kernel,
        machine: &s.machine,
        cpu_model: &s.cpu_model,
        board: &s.board,
        cpus: s.cpus,
        levels: s.levels.iter().map(|l| l.name()).collect(),
        start_unix_ns: s.start_unix_ns,
        duration_ns,
        processes: s.processes.iter().map(process).collect(),
        libraries: s.libraries.iter().map(library).collect(),
        probes: s.probes.iter().map(probe).collect(),
        counters: s.counters.iter().map(counter).collect(),
    }
}

fn process(p: &model::Process) -> Process<'_> {
    Process { pid: p.pid, name: &p.name, command: &p.command, engine_version: &p.engine_version }
}

fn library(l: &model::Library) -> Library<'_> {
    Library { pid: l.pid, path: &l.path, build_id: &l.build_id, role: &l.role }
}

fn counter(c: &model::Counter) -> Counter<'_> {
    let model::Counter { name, event, pmu, cpus, attached, note, .. } = c;
    Counter { name, event: *event, pmu, cpus, attached: *attached, note }
}

fn probe(p: &model::Probe) -> Probe<'_> {
    Probe {
        pid: p.pid,
        level: p.level.map(Level::name),
        what: &p.what,
        symbol: &p.symbol,
        library: &p.library,
        offset: p.offset,
        attached: p.attached,
        note: &p.note,
    }
}
