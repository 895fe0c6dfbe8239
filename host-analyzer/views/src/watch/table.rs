//! Tables: the first column is left-aligned, the others right-aligned, as many as fit.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::DIM;

/// Characters between two columns.
const GAP: usize = 2;

pub(super) struct Table {
    rows: Vec<Vec<String>>,
    styles: Vec<Style>,
}

impl Table {
    pub(super) fn new(headers: &[&str]) -> Self {
        Self { rows: vec![headers.iter().map(|h| (*h).to_owned()).collect()], styles: vec![DIM] }
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
        self.styles.push(Style::new());
    }

    /// The lines, without the last columns if these do not fit.
    pub(super) fn lines(&self, width: usize) -> Vec<Line<'static>> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let widest = |i: usize| self.rows.iter().filter_map(|r| r.get(i)).map(|c| wide(c)).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(widest).collect();
        let mut kept = columns;
        while kept > 1 && widths[..kept].iter().sum::<usize>() + GAP * (kept - 1) > width {
            kept -= 1;
        }
        let line = |(row, style): (&Vec<String>, &Style)| {
            let cells = row.iter().zip(&widths).take(kept).enumerate();
            let text: String = cells
                .map(|(i, (cell, width))| {
                    let room = " ".repeat(width.saturating_sub(wide(cell)));
                    match i {
                        0 => format!("{cell}{room}"),
                        _ => format!("{}{room}{cell}", " ".repeat(GAP)),
                    }
                })
                .collect();
            Line::from(Span::styled(text, *style))
        };
        self.rows.iter().zip(&self.styles).map(line).collect()
    }
}

/// Width of a text in characters of the terminal.
fn wide(text: &str) -> usize {
    Span::raw(text).width()
}
