//! Ceilings: the best performance of the board.

use std::io::{self, Write};

use super::style::{Colour, Sheet, cut, table, wrapped, write_table};
use crate::words::{self, one_line};
use profinfer_analysis::ceiling::{Ceiling, Ceilings};
use profinfer_trace::model::{CeilingSource, Doubt};

/// Maximum number of rows; summary.json has all.
const SHOWN: usize = 8;
const CORE: usize = 24;
const HOW: usize = 20;

/// Writes one ceiling per kind and core type: the one with the most threads, and of several methods
/// the first, which is the widest.
pub(super) fn write(ceilings: &Ceilings, out: &mut Sheet<'_>) -> io::Result<()> {
    if ceilings.all.is_empty() {
        return Ok(());
    }
    let rows: Vec<&Ceiling> = ceilings
        .all
        .iter()
        .enumerate()
        .filter(|(i, c)| shown(*i, c, &ceilings.all))
        .map(|(_, c)| c)
        .collect();
    // The usual case needs no column: all were measured for this session.
    let other = rows.iter().any(|c| c.source != CeilingSource::Recording);
    let mut titles = vec!["measured peak", "cores", "threads", "memory", "median", "min", "max", "by"];
    titles.extend(other.then_some("from"));
    let mut t = table(&titles);
    for c in rows.iter().take(SHOWN) {
        let figure = |value: Option<u64>| value.map_or("–".to_owned(), |v| words::ceiling(v, c.unit));
        let mut cells = vec![
            c.kind.name().to_owned(),
            cut(&one_line(c.core.as_deref().unwrap_or("–")), CORE),
            c.threads.to_string(),
            c.working_set_bytes.map_or("–".to_owned(), words::size),
            figure(c.median),
            figure(c.min),
            figure(c.max),
            cut(&one_line(&c.how), HOW),
        ];
        cells.extend(other.then(|| words::source(c.source)));
        t.add_row(cells);
    }
    write_table(&mut t, out)?;
    if let n @ 1.. = ceilings.all.len().saturating_sub(rows.len().min(SHOWN)) {
        writeln!(out, "and {n} others")?;
    }
    let mut notes: Vec<String> = ceilings.all.iter().flat_map(notes).collect();
    notes.sort_unstable();
    notes.dedup();
    for note in notes.iter().take(3) {
        for part in wrapped(&format!("measured peaks: {note}"), out.width()) {
            writeln!(out, "{}", Colour::Dim.paint(&part))?;
        }
    }
    Ok(())
}

/// The agent's note, and the meaning of its codes.
fn notes(c: &Ceiling) -> Vec<String> {
    let of_points = c.points.iter().flat_map(|p| &p.doubts);
    let codes = c.doubts.iter().chain(of_points).filter(|d| **d != Doubt::Noted);
    let codes = codes.map(|d| words::doubt(*d).to_owned());
    let beside = c.load.as_ref().filter(|_| c.polluted).map(words::polluted);
    let codes = codes.chain(beside);
    match c.doubts.is_empty() || c.doubts.contains(&Doubt::Noted) {
        true if !c.note.is_empty() => codes.chain([one_line(&c.note)]).collect(),
        _ => codes.collect(),
    }
}

fn shown(index: usize, c: &Ceiling, all: &[Ceiling]) -> bool {
    let same = |o: &&Ceiling| o.kind == c.kind && o.core == c.core;
    c.median.is_some()
        && !all.iter().filter(same).any(|o| o.threads > c.threads && o.median.is_some())
        && !all[..index].iter().filter(same).any(|o| o.threads == c.threads && o.median.is_some())
}
