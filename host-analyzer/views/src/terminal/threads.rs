//! Threads: the balance of their work.

use std::io::{self, Write};

use comfy_table::Cell;

use super::capture::write_filters;
use super::style::{Sheet, bar, cut, percent, table, write_table};
use crate::words::{count, duration, one_line};
use profinfer_analysis::capture::Capture;
use profinfer_analysis::thread::Thread;

/// Maximum number of threads; summary.json has all.
const SHOWN: usize = 6;
const NAME: usize = 20;
const BAR: usize = 14;

pub(super) fn write(threads: &[Thread], capture: &Capture, out: &mut Sheet<'_>) -> io::Result<()> {
    // Threads that only called ran no operator.
    let workers = || threads.iter().filter(|t| t.spans > 0);
    if workers().next().is_none() {
        return Ok(());
    }
    let mut t = table(&["thread", "spans", "work", "at barriers", "busy", ""]);
    for thread in workers().take(SHOWN) {
        // Without the ends of operators, the work includes the waits.
        let busy = thread.wait_ns.map(|wait_ns| match thread.work_ns.saturating_add(wait_ns) {
            0 => 0.0,
            all => thread.work_ns as f64 / all as f64,
        });
        t.add_row(vec![
            Cell::new(cut(&one_line(&format!("{} {}", thread.tid, thread.name)), NAME)),
            Cell::new(count(thread.spans)),
            Cell::new(duration(thread.work_ns)),
            Cell::new(thread.wait_ns.map_or_else(|| "–".into(), duration)),
            Cell::new(busy.map_or_else(|| "–".into(), percent)),
            Cell::new(busy.map_or_else(String::new, |busy| bar(busy, BAR))),
        ]);
    }
    write_table(&mut t, out)?;
    write_filters(capture, out)?;
    match workers().count().saturating_sub(SHOWN) {
        0 => Ok(()),
        n => writeln!(out, "and {n} other threads"),
    }
}
