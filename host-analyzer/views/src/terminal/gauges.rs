//! Gauges: frequencies, temperatures, loads, memory traffic.

use std::io::{self, Write};

use super::style::{Colour, Sheet, cut, table, wrapped, write_table};
use crate::words::{self, count, one_line, quantity};
use profinfer_analysis::gauge::{Figures, Gauge};

/// Maximum number of rows; summary.json has all.
const SHOWN: usize = 8;
const NAME: usize = 30;

pub(super) fn write(gauges: &[Gauge], out: &mut Sheet<'_>) -> io::Result<()> {
    let read = || gauges.iter().filter(|g| g.whole.is_some());
    if read().next().is_none() {
        return Ok(());
    }
    let traffic = read().any(|g| g.decode_bytes_per_token.is_some());
    let mut headers = vec!["board", "min", "mean", "max", "in decode"];
    headers.extend(if traffic { &["per token"][..] } else { &[] });
    headers.push("samples");
    let mut t = table(&headers);
    for g in read().take(SHOWN) {
        let figure = |value: fn(&Figures) -> f64, f: &Option<Figures>| {
            f.as_ref().map_or("–".to_owned(), |f| quantity(value(f), g.unit))
        };
        let mut row = vec![
            cut(&one_line(&g.name), NAME),
            figure(|f| f.min, &g.whole),
            figure(|f| f.mean, &g.whole),
            figure(|f| f.max, &g.whole),
            figure(|f| f.mean, &g.decode),
        ];
        if traffic {
            row.push(g.decode_bytes_per_token.map_or("–".to_owned(), |b| quantity(b, "bytes")));
        }
        row.push(match g.absent {
            0 => count(g.samples),
            absent => format!("{} of {}", count(g.samples), count(g.samples + absent)),
        });
        t.add_row(row);
    }
    write_table(&mut t, out)?;
    if let n @ 1.. = read().count().saturating_sub(SHOWN) {
        writeln!(out, "and {n} others")?;
    }
    for g in gauges {
        let note = words::gauge_note(&g.note);
        if note.is_empty() {
            continue;
        }
        let line = format!("{}: {}", one_line(&g.name), one_line(note));
        for part in wrapped(&line, out.width()) {
            writeln!(out, "{}", Colour::Dim.paint(&part))?;
        }
    }
    Ok(())
}
