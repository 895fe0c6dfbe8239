//! The summary on the terminal: what was recorded, health, the answer, its speed, the ladder, details,
//! and the cost of the measurement. At most about 80 lines of 100 columns, or of the width of the terminal.
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

use crate::words::heading::Heading;
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
    answer(model, analysis, out)?;
    details(model, analysis, out)?;
    out.left_out()
}

/// Writes the first part of the summary: what was recorded, health, the answer, and the ladder.
///
/// # Errors
/// Those of `out`.
pub fn first_screen(model: &Model, analysis: &Analysis, width: usize, out: &mut dyn Write) -> io::Result<()> {
    answer(model, analysis, &mut Sheet::new(out, width))
}

fn answer(model: &Model, analysis: &Analysis, out: &mut Sheet<'_>) -> io::Result<()> {
    let found = Findings::compute(model, analysis);
    session(&words::heading::heading(&model.session, analysis, &found.headline), out)?;
    health(analysis, out)?;
    findings::write(&found, &analysis.ladder, out)?;
    ladder::write(&analysis.ladder, &analysis.replay, out)?;
    ladder::pieces(&analysis.ladders_of_pieces, out)
}

fn details(model: &Model, analysis: &Analysis, out: &mut Sheet<'_>) -> io::Result<()> {
    processes(&model.session, out)?;
    weights::write(&analysis.engine, &analysis.weight, out)?;
    let others = analysis.sched.other_programs.as_ref();
    let others = others.map(|o| words::conditions::others(o, model.session.cpus, analysis.duration_ns));
    conditions::write(others, &analysis.conditions, out)?;
    speed::write(&analysis.token, out)?;
    server::write(&analysis.server, out)?;
    speculative::write(&analysis.speculative, out)?;
    budget::write(&analysis.budget, &analysis.ladder, &analysis.capture, out)?;
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
    cost(&analysis.cost, analysis.duration_ns, out)
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

/// Model, engine and machine. A model without a name is named by the program.
fn session(heading: &Heading, out: &mut Sheet<'_>) -> io::Result<()> {
    let width = out.width();
    let line = |parts: &[String]| cut(&one_line(&parts.join(" · ")), width);
    let model: Vec<String> =
        [&heading.name].into_iter().filter(|n| !n.is_empty()).chain(&heading.model).cloned().collect();
    if !model.is_empty() {
        writeln!(out, "{}", Colour::Strong.paint(&line(&model)))?;
    }
    for parts in [&heading.engine, &heading.machine].into_iter().filter(|parts| !parts.is_empty()) {
        writeln!(out, "{}", line(parts))?;
    }
    Ok(())
}

/// The traced processes, with their commands.
fn processes(s: &Session, out: &mut Sheet<'_>) -> io::Result<()> {
    // A process that executes another program is listed again; the last entry is valid.
    let later = |i: usize, pid: u32| s.processes[i + 1..].iter().any(|p| p.pid == pid);
    let processes = s.processes.iter().enumerate().filter(|(i, p)| !later(*i, p.pid));
    for (_, p) in processes.take(3) {
        let line = format!("{}, process {}: {}", p.name, p.pid, p.command);
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
    if let (Some(pair), Some(inside)) = (cost.probe_pair_ns, cost.probe_inside_ns) {
        parts.push(format!("probes {pair} ns per operator, {inside} ns of it within the operator's time"));
    }
    if let (Some(hits), Some(ns)) = (cost.batch_hits, cost.batch_probes_ns) {
        parts.push(format!(
            "reading batches and outputs about {} ({} probe hits)",
            duration(ns),
            count(hits)
        ));
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
