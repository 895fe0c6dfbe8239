//! Threads: the balance of their work.

use ratatui::text::Line;

use super::screen::Seen;
use super::table::Table;
use crate::terminal::style::{bar, cut, percent};
use crate::words::{count, duration, one_line};
use profinfer_analysis::thread::Thread;

const NAME: usize = 20;
const BAR: usize = 12;

/// A line for each thread that computed.
pub(super) fn lines(seen: &Seen, width: usize) -> Vec<Line<'static>> {
    let mut t = Table::new(&["thread", "operators", "work", "wait", "working", "", "moved"]);
    let workers: Vec<&Thread> = seen.analysis.thread.iter().filter(|t| t.spans > 0).collect();
    if workers.is_empty() {
        return vec![Line::raw("No thread computed operators in this window.")];
    }
    for thread in workers {
        // Without the ends of operators, the work includes the waits.
        let working =
            thread.wait_ns.and_then(|wait| share(thread.work_ns, thread.work_ns.saturating_add(wait)));
        t.row(vec![
            cut(&one_line(&format!("{} {}", thread.tid, thread.name)), NAME),
            count(thread.spans),
            duration(thread.work_ns),
            thread.wait_ns.map_or_else(|| "–".into(), duration),
            working.map_or_else(|| "–".into(), percent),
            working.map_or_else(String::new, |w| bar(w, BAR)),
            thread.migrated.map_or_else(|| "–".into(), count),
        ]);
    }
    t.lines(width)
}

fn share(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}
