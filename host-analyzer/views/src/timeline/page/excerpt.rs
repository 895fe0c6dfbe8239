//! The rows of the excerpt.

use crate::timeline::probes as all_probes;
use crate::timeline::row::{Content, Process, Row};
use crate::timeline::rows;
use profinfer_analysis::Analysis;
use profinfer_analysis::excerpt::Excerpt;
use profinfer_analysis::sched::shown::Shown;
use profinfer_trace::model::{Model, ThreadId};

/// The tracks that have slices in the excerpt.
pub(super) fn tracks<'a>(model: &'a Model, analysis: &'a Analysis, excerpt: &Excerpt) -> Vec<Process<'a>> {
    let mut processes = rows::tracks(model, analysis);
    let mut ranges = excerpt.slices.iter();
    for process in &mut processes {
        process.rows.retain_mut(|row| match (&mut row.content, ranges.next()) {
            (Content::Slices(_, shown), Some(range)) if !range.is_empty() => {
                *shown = range.clone();
                true
            }
            _ => false,
        });
    }
    processes
}

/// Adds the states of each thread below its last track, at most `most`. Returns what is shown of all
/// states.
pub(super) fn add_states(
    model: &Model,
    excerpt: &Excerpt,
    most: usize,
    processes: &mut [Process<'_>],
) -> Shown {
    let mut threads = Vec::new();
    if model.sched.recorded {
        for thread in processes.iter().flat_map(|p| &p.rows).filter_map(thread) {
            if !threads.contains(&thread) {
                threads.push(thread);
            }
        }
    }
    let shown = Shown::compute(model, &threads, excerpt.start_ns, excerpt.end_ns, most);
    for (id, pieces) in threads.iter().zip(&shown.threads) {
        let tracks = processes.iter_mut().filter_map(|process| {
            let last = process.rows.iter().rposition(|row| thread(row) == Some(*id))?;
            Some((process, last))
        });
        if let Some((process, last)) = tracks.last() {
            let name = format!("{} state", model.threads.get(*id).tid);
            let content = Content::States(pieces.clone());
            process.rows.insert(last + 1, Row { process: process.pid, name, rank: 0, content });
        }
    }
    shown
}

/// The probes and steps that touch the window. They are below the rows of all processes.
pub(super) fn probes<'a>(model: &'a Model, analysis: &Analysis, excerpt: &Excerpt) -> Vec<Process<'a>> {
    let touching = |mut row: Row<'static>| {
        if let Content::Probes(stretches) = &mut row.content {
            stretches.retain(|s| s.end_ns > excerpt.start_ns && s.start_ns < excerpt.end_ns);
            if stretches.is_empty() {
                return None;
            }
        }
        Some(rows::process(model, row.process, vec![row]))
    };
    all_probes::rows(model, analysis, 0).into_iter().filter_map(touching).collect()
}

fn thread(row: &Row<'_>) -> Option<ThreadId> {
    match &row.content {
        Content::Slices(track, _) => Some(track.thread),
        Content::States(_) | Content::Probes(_) => None,
    }
}
