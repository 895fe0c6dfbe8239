//! The rows of a timeline, by process.

use super::row::{Content, Process, Row};
use super::{probes, state};
use profinfer_analysis::Analysis;
use profinfer_analysis::track::Track;
use profinfer_trace::model::{self, Model};

/// All rows: per process its tracks, then the states of its threads, then its probes.
/// A process without tracks has no rows.
pub(super) fn all<'a>(model: &'a Model, analysis: &'a Analysis, origin_ns: u64) -> Vec<Process<'a>> {
    let mut processes = tracks(model, analysis);
    let below = state::rows(model).into_iter().chain(probes::rows(model, analysis, origin_ns));
    for row in below {
        let process = processes.iter_mut().find(|p| p.pid == row.process);
        if let Some(Process { rows, .. }) = process {
            let rank = rank(rows.len() + 1);
            rows.push(Row { rank, ..row });
        }
    }
    processes
}

/// The tracks of calls and threads only.
pub(super) fn tracks<'a>(model: &'a Model, analysis: &'a Analysis) -> Vec<Process<'a>> {
    let by_process = analysis.track.chunk_by(|a, b| a.process == b.process);
    let process = |tracks: &'a [Track]| {
        let row = |(n, track): (usize, &'a Track)| Row {
            process: track.process,
            name: track.track.clone(),
            rank: rank(n),
            content: Content::Slices(track, 0..track.order.len()),
        };
        process(model, tracks[0].process, tracks.iter().enumerate().map(row).collect())
    };
    by_process.map(process).collect()
}

/// A process with these rows.
pub(super) fn process<'a>(model: &'a Model, pid: u32, rows: Vec<Row<'a>>) -> Process<'a> {
    let known = model.session.processes.iter().find(|p| p.pid == pid);
    Process { pid, name: name(known, pid), command: known.map_or("", |p| &p.command), rows }
}

fn rank(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

fn name(known: Option<&model::Process>, pid: u32) -> String {
    match known {
        Some(p) if !p.name.is_empty() => p.name.clone(),
        _ if pid == 0 => "process unknown".to_owned(),
        _ => format!("process {pid}"),
    }
}
