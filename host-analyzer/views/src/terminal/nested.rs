//! Nested calls: calls of backend functions inside operators.

use std::io::{self, Write};

use comfy_table::Cell;

use super::capture::write_filters;
use super::style::{Sheet, cut, percent, table, write_table};
use crate::words::{count, duration, one_line};
use profinfer_analysis::capture::Capture;
use profinfer_analysis::nested::Nested;

/// Maximum number of rows; summary.json has all.
const SHOWN: usize = 8;
const NAME: usize = 20;
const FUNCTION: usize = 24;

pub(super) fn write(nested: &[Nested], capture: &Capture, out: &mut Sheet<'_>) -> io::Result<()> {
    if nested.is_empty() {
        return Ok(());
    }
    let mut t = table(&["in operators", "phase", "nested call", "backend", "calls", "time", "of operator"]);
    for row in nested.iter().take(SHOWN) {
        t.add_row(vec![
            Cell::new(cut(&one_line(&row.desc), NAME)),
            Cell::new(row.phase.name()),
            Cell::new(cut(&one_line(&row.function), FUNCTION)),
            Cell::new(cut(&one_line(&row.backend), NAME)),
            Cell::new(count(row.calls)),
            Cell::new(duration(row.time_ns)),
            Cell::new(row.share.map_or_else(|| "–".to_owned(), percent)),
        ]);
    }
    write_table(&mut t, out)?;
    write_filters(capture, out)?;
    match nested.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        n => writeln!(out, "and {n} other kinds of nested calls"),
    }
}
