//! The values of the board's sensors.

use ratatui::text::Line;

use super::DIM;
use super::screen::Seen;
use super::table::Table;
use crate::terminal::style::{cut, wrapped};
use crate::words::{self, count, one_line, quantity};
use profinfer_analysis::gauge::Figures;

const NAME: usize = 30;

/// A line per sensor, then notes on sensors without figures.
pub(super) fn lines(seen: &Seen, width: usize) -> Vec<Line<'static>> {
    let gauges = &seen.analysis.gauge;
    let mut t = Table::new(&["gauge", "min", "mean", "max", "in decode", "samples"]);
    let mut read = 0;
    for g in gauges.iter().filter(|g| g.whole.is_some()) {
        let figure = |value: fn(&Figures) -> f64, f: &Option<Figures>| {
            f.as_ref().map_or_else(|| "–".to_owned(), |f| quantity(value(f), g.unit))
        };
        t.row(vec![
            cut(&one_line(&g.name), NAME),
            figure(|f| f.min, &g.whole),
            figure(|f| f.mean, &g.whole),
            figure(|f| f.max, &g.whole),
            figure(|f| f.mean, &g.decode),
            match g.absent {
                0 => count(g.samples),
                absent => format!("{} of {}", count(g.samples), count(g.samples + absent)),
            },
        ]);
        read += 1;
    }
    let mut lines = match read {
        0 => vec![Line::raw("No sensor was read in this window.")],
        _ => t.lines(width),
    };
    for g in gauges {
        let note = words::gauge_note(&g.note);
        if !note.is_empty() {
            let text = format!("{}: {}", one_line(&g.name), one_line(note));
            lines.extend(wrapped(&text, width).into_iter().map(|line| Line::styled(line, DIM)));
        }
    }
    lines
}
