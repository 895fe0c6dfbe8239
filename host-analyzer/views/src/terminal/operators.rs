//! Operator types: the time of each phase.

use std::io::{self, Write};

use comfy_table::Cell;

use super::capture;
use super::style::{Sheet, bar, cut, percent, table, write_table};
use super::work::gb_per_s;
use crate::words::{PHASES, count, duration, one_line, phase_name};
use profinfer_analysis::Analysis;
use profinfer_analysis::duty::types::TypeEstimate;
use profinfer_analysis::op::OpType;
use profinfer_analysis::phase::Phase;

/// Maximum number of types; summary.json has all.
const SHOWN: usize = 8;
/// Width of a name, and of a bar.
const NAME: usize = 20;
const BAR: usize = 10;

pub(super) fn write(analysis: &Analysis, out: &mut Sheet<'_>) -> io::Result<()> {
    let op = &analysis.op;
    // The first phase has the details and sets the order.
    let seen = |p: &Phase| op.wall_ns[p.index()] > 0;
    let mut phases = PHASES.into_iter().filter(seen);
    let Some(first) = phases.next() else { return Ok(()) };
    let second = phases.next();
    // A program without decode calls has no phases.
    let time = if first == Phase::Unknown { "time" } else { phase_name(first) };
    let read = analysis.roof.phase(first).read;
    // If only some tokens were captured, an interval replaces the bar.
    let estimated = !analysis.op_estimate.is_empty();
    let mean = if analysis.capture.ends == "none" { "mean + wait" } else { "mean" };
    let bar_header = if estimated { "95 %" } else { "" };
    let mut headers = vec!["operator", time, "runs", mean, "share", bar_header, "GB/s"];
    if read.is_some() {
        headers.push("of peak");
    }
    if let Some(second) = second {
        headers.extend([phase_name(second), "share"]);
    }
    let mut t = table(&headers);
    let estimates = || analysis.op_estimate.iter().map(Some).chain(std::iter::repeat(None));
    let types = || {
        op.types.iter().zip(&analysis.achieved.types).zip(estimates()).filter(|((t, _), _)| t.phase == first)
    };
    for ((kind, done), estimate) in types().take(SHOWN) {
        let mut row = cells(kind);
        row.push(match estimate {
            Some(estimate) => Cell::new(interval(estimate)),
            None => Cell::new(bar(kind.share, BAR)),
        });
        row.push(rate(done.bytes_per_s, gb_per_s));
        if let Some(read) = read {
            row.push(rate(done.bytes_per_s, |bytes_per_s| percent(bytes_per_s / read.per_s as f64)));
        }
        if let Some(second) = second {
            let same = |t: &&OpType| {
                t.phase == second && t.backend == kind.backend && t.op == kind.op && t.desc == kind.desc
            };
            row.extend(op.types.iter().find(same).map_or_else(
                || [Cell::new("–"), Cell::new("–")],
                |t| [Cell::new(duration(t.wall_ns)), Cell::new(percent(t.share))],
            ));
        }
        t.add_row(row);
    }
    write_table(&mut t, out)?;
    capture::write_part(analysis, first, out)?;
    capture::write_bias(analysis, out)?;
    let mut host_side: Vec<&str> =
        op.types.iter().filter(|t| t.host_side).map(|t| t.backend.as_str()).collect();
    host_side.dedup();
    if let Some(backend) = host_side.first() {
        let backend = one_line(backend);
        out.sentence(&format!(
            "{backend}: host side, the time to hand operators over; its kernels run later and are in no operator's time"
        ))?;
    }
    match types().count().saturating_sub(SHOWN) {
        0 => Ok(()),
        n => writeln!(out, "and {n} other types"),
    }
}

/// The type, and its backend if that is not the CPU: shares refer to the time on the same backend.
fn name(t: &OpType) -> String {
    match t.backend.as_str() {
        "CPU" | "" => t.desc.clone(),
        backend => format!("{} {backend}", t.desc),
    }
}

fn interval(estimate: &TypeEstimate) -> String {
    let ends = estimate.share.and_then(|share| share.interval);
    ends.map_or_else(|| "–".into(), |i| format!("{:.1}–{:.1} %", i.low * 100.0, i.high * 100.0))
}

/// A rate, or a dash if the time is not the time of the work.
fn rate(per_s: Option<f64>, text: impl Fn(f64) -> String) -> Cell {
    Cell::new(per_s.map_or("–".to_owned(), text))
}

fn cells(t: &OpType) -> Vec<Cell> {
    let mean = t.wall_ns.checked_div(t.executions).unwrap_or(0);
    vec![
        Cell::new(cut(&one_line(&name(t)), NAME)),
        Cell::new(duration(t.wall_ns)),
        Cell::new(count(t.executions)),
        Cell::new(duration(mean)),
        Cell::new(percent(t.share)),
    ]
}
