//! The summary on the terminal: health, then the session, its speed, the time budget, and the cost of
//! the measurement. At most about 80 lines of 100 columns, or of the width of the terminal.
//!
//! Stage: view. From: session, analysis. To: text with ANSI colours. Promises: foreign text cannot
//! control the terminal. The caller removes the colours for pipes and NO_COLOR (anstream does).

pub mod backends;
mod budget;
mod capture;
mod ceilings;
pub mod compare;
mod conditions;
mod counters;
mod critical_path;
mod experts;
mod findings;
mod gauges;
mod kv;
pub(crate) mod ladder;
mod nested;
mod operators;
pub mod predict;
mod sched;
mod server;
mod speculative;
mod speed;
pub(super) mod style;
mod threads;
pub mod tune;
mod weights;
mod work;

use std::io::{self, Write};

use crate::words::{self, count, duration, one_line, size};
use profinfer_analysis::Analysis;
use profinfer_analysis::cost::Cost;
use profinfer_analysis::findings::Findings;
use profinfer_analysis::health::Severity;
use profinfer_trace::model::{Model, Session};
use style::{Colour, Sheet, cut, wrapped};

/// Default width of the summary in columns.
pub const WIDTH: usize = 100;

/// Writes the summary in [`WIDTH`] columns.
///
/// # Errors
/// Those of `out`.
pub fn terminal(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    within(model, analysis, WIDTH, out)
}

/// Writes the summary in at most `width` columns. Wider tables lose their last columns; a line
/// reports that.
///
/// # Errors
/// Those of `out`.
pub fn within(model: &Model, analysis: &Analysis, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let out = &mut Sheet::new(out, width);
    health(analysis, out)?;
    findings::write(&Findings::compute(model, analysis), &analysis.ladder, out)?;
    ladder::write(&analysis.ladder, &analysis.replay, out)?;
    ladder::pieces(&analysis.ladders_of_pieces, out)?;
    session(&model.session, analysis.duration_ns, out)?;
    weights::write(&analysis.engine, &analysis.weight, out)?;
    conditions::write(&analysis.conditions, out)?;
    speed::write(&analysis.token, out)?;
    server::write(&analysis.server, out)?;
    speculative::write(&analysis.speculative, out)?;
    budget::write(&analysis.budget, &analysis.capture, out)?;
    operators::write(analysis, out)?;
    backends::write(&analysis.accelerator, out)?;
    work::write(&analysis.roof, &analysis.module.modules, out)?;
    let paths: Vec<_> = analysis.dag.iter().filter_map(|d| d.path.as_ref()).collect();
    critical_path::write(&paths, out)?;
    kv::write(&analysis.kv, out)?;
    nested::write(&analysis.nested, &analysis.capture, out)?;
    counters::write(&analysis.counted, out)?;
    experts::write(&analysis.expert, out)?;
    threads::write(&analysis.thread, &analysis.capture, out)?;
    let missed = analysis.conditions.system.sched_missed.value().copied();
    sched::write(&analysis.sched, missed, out)?;
    gauges::write(&analysis.gauge, out)?;
    ceilings::write(&analysis.ceiling, out)?;
    cost(&analysis.cost, analysis.duration_ns, out)?;
    out.left_out()
}

/// The line above the summary of one of several engines.
#[must_use]
pub fn heading(text: &str, width: usize) -> String {
    Colour::Strong.paint(&cut(text, width))
}

fn health(analysis: &Analysis, out: &mut Sheet<'_>) -> io::Result<()> {
    for remark in &analysis.health.remarks {
        let colour = match remark.severity() {
            Severity::Good => Colour::Good,
            Severity::Note => Colour::Dim,
            Severity::Warning => Colour::Warn,
            Severity::Loss => Colour::Bad,
        };
        for (i, part) in wrapped(&words::health::line(remark), out.width() - 2).iter().enumerate() {
            writeln!(out, "{}", colour.paint(&format!("{} {part}", if i == 0 { "●" } else { " " })))?;
        }
    }
    writeln!(out)
}

fn session(s: &Session, duration_ns: u64, out: &mut Sheet<'_>) -> io::Result<()> {
    let machine = match (s.cpus, s.machine.as_str()) {
        (0, machine) => machine.to_owned(),
        (1, machine) => format!("1 CPU {machine}"),
        (n, machine) => format!("{n} CPUs {machine}"),
    };
    let kernel = if s.kernel.is_empty() { String::new() } else { format!("Linux {}", s.kernel) };
    let parts = [&s.board, &s.cpu_model, &machine, &kernel, &duration(duration_ns)];
    let parts: Vec<_> = parts.iter().filter(|p| !p.is_empty()).map(|p| one_line(p)).collect();
    writeln!(out, "{}", cut(&parts.join(" · "), out.width()))?;
    // A process that executes another program is listed again; the last entry is valid.
    let later = |i: usize, pid: u32| s.processes[i + 1..].iter().any(|p| p.pid == pid);
    let processes = s.processes.iter().enumerate().filter(|(i, p)| !later(*i, p.pid));
    for (_, p) in processes.take(3) {
        let version = if p.engine_version.is_empty() { "" } else { &format!(" {}", p.engine_version) };
        let line = format!("{}{version}, process {}: {}", p.name, p.pid, p.command);
        writeln!(out, "{}", Colour::Dim.paint(&cut(&one_line(&line), out.width())))?;
    }
    Ok(())
}

fn cost(cost: &Cost, duration_ns: u64, out: &mut Sheet<'_>) -> io::Result<()> {
    let share = |ns: u64| match duration_ns {
        0 => String::new(),
        all => format!(" ({:.2} % of one CPU)", ns as f64 * 100.0 / all as f64),
    };
    let mut parts = vec![format!("stream {}", size(cost.stream_bytes))];
    if let Some(bytes) = cost.bytes_per_span {
        parts.push(format!("{bytes:.2} bytes per span"));
    }
    if let (Some(ns), Some(runs)) = (cost.bpf_run_ns, cost.bpf_runs) {
        parts.push(format!("BPF programs {} ns per run ({} runs sampled)", ns / runs.max(1), count(runs)));
    }
    if let (Some(pair), Some(inside)) = (cost.probe_pair_ns, cost.probe_inside_ns) {
        parts.push(format!("probes {pair} ns per operator, {inside} ns of it within the operator's time"));
    }
    parts.extend(words::capture::slowdown(&cost.slowdown));
    if let Some(ns) = cost.agent_cpu_ns {
        parts.push(format!("agent {}{}", duration(ns), share(ns)));
    }
    if let Some(bytes) = cost.agent_rss_bytes {
        parts.push(format!("memory {}", size(bytes)));
    }
    writeln!(out)?;
    for (i, line) in wrapped(&parts.join(" · "), out.width() - 6).iter().enumerate() {
        writeln!(out, "{}", Colour::Dim.paint(&format!("{:5} {line}", if i == 0 { "cost" } else { "" })))?;
    }
    Ok(())
}
