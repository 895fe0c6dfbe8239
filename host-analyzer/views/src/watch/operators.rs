//! Operator types of the phase in which the engine was most.

use ratatui::text::Line;

use super::screen::Seen;
use super::table::Table;
use crate::terminal::style::{bar, cut, percent};
use crate::words::{PHASES, count, duration, one_line, phase_name};
use profinfer_analysis::op::OpType;
use profinfer_analysis::phase::Phase;

const NAME: usize = 20;
const BAR: usize = 10;

/// Lines of all phases that had operators, decode first.
pub(super) fn lines(seen: &Seen, width: usize) -> Vec<Line<'static>> {
    let op = &seen.analysis.op;
    let mut lines = Vec::new();
    for phase in PHASES.into_iter().filter(|p| op.wall_ns[p.index()] > 0) {
        if !lines.is_empty() {
            lines.push(Line::raw(""));
        }
        lines.extend(of_phase(seen, phase, width));
    }
    if lines.is_empty() {
        lines.push(Line::raw("No operator was computed in this window."));
    }
    lines
}

fn of_phase(seen: &Seen, phase: Phase, width: usize) -> Vec<Line<'static>> {
    let analysis = &seen.analysis;
    let read = analysis.roof.phase(phase).read;
    // A program without decode calls has no phases.
    let time = if phase == Phase::Unknown { "time" } else { phase_name(phase) };
    let mean = if analysis.capture.ends == "none" { "mean + wait" } else { "mean" };
    let mut headers = vec!["operator", time, "runs", mean, "share", "", "GB/s"];
    headers.extend(read.map(|_| "of peak"));
    let mut t = Table::new(&headers);
    for (kind, done) in
        analysis.op.types.iter().zip(&analysis.achieved.types).filter(|(t, _)| t.phase == phase)
    {
        let rate = |text: &dyn Fn(f64) -> String| done.bytes_per_s.map_or_else(|| "–".to_owned(), text);
        let mut row = vec![
            cut(&one_line(&name(kind)), NAME),
            duration(kind.wall_ns),
            count(kind.executions),
            kind.wall_ns.checked_div(kind.executions).map_or_else(|| "–".to_owned(), duration),
            percent(kind.share),
            bar(kind.share, BAR),
            rate(&|per_s| format!("{:.1}", per_s / 1e9)),
        ];
        if let Some(read) = read {
            row.push(rate(&|per_s| percent(per_s / read.per_s as f64)));
        }
        t.row(row);
    }
    t.lines(width)
}

/// The type, and its backend if that is not the CPU: shares refer to the time on the same backend.
fn name(t: &OpType) -> String {
    match t.backend.as_str() {
        "CPU" | "" => t.desc.clone(),
        backend => format!("{} {backend}", t.desc),
    }
}
