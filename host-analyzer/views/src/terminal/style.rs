//! Colours, bars, and text that fits.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ColumnConstraint, Table, presets};

/// Smallest usable width in columns.
const NARROWEST: usize = 40;

/// Output with the width of the terminal.
pub(super) struct Sheet<'a> {
    out: &'a mut dyn Write,
    width: usize,
    /// Number of tables that lost columns.
    cut_tables: usize,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(out: &'a mut dyn Write, width: usize) -> Self {
        Self { out, width: width.max(NARROWEST), cut_tables: 0 }
    }

    pub(super) const fn width(&self) -> usize {
        self.width
    }

    /// Writes a sentence, wrapped into lines.
    pub(super) fn sentence(&mut self, sentence: &str) -> io::Result<()> {
        for line in wrapped(sentence, self.width) {
            writeln!(self, "{line}")?;
        }
        Ok(())
    }

    /// Writes how many tables lost columns.
    pub(super) fn left_out(&mut self) -> io::Result<()> {
        let (n, width) = (self.cut_tables, self.width);
        if n == 0 {
            return Ok(());
        }
        let line = format!("{} shortened to {width} columns", crate::words::counted(n as u64, "table"));
        writeln!(self, "{}", Colour::Dim.paint(&line))
    }
}

impl Write for Sheet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Colour {
    Good,
    Warn,
    Bad,
    Dim,
    Strong,
    Bar,
}

impl Colour {
    /// `text` in this colour.
    pub(super) fn paint(self, text: &str) -> String {
        let code = match self {
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "1;31",
            Self::Dim => "2",
            Self::Strong => "1",
            Self::Bar => "36",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// A table without lines: the first column is left-aligned, the others right-aligned.
pub(super) fn table(headers: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(headers);
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if i + 1 == headers.len() { 0 } else { 2 }));
        if i > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Writes an empty line and a table, without the last columns if these do not fit.
pub(super) fn write_table(table: &mut Table, out: &mut Sheet<'_>) -> io::Result<()> {
    let mut widths: Vec<usize> = table.column_max_content_widths().into_iter().map(usize::from).collect();
    let columns = widths.len();
    widths.iter_mut().take(columns.saturating_sub(1)).for_each(|width| *width += 2);
    let mut kept = columns;
    while kept > 1 && widths[..kept].iter().sum::<usize>() > out.width {
        kept -= 1;
    }
    for column in table.column_iter_mut().skip(kept) {
        column.set_constraint(ColumnConstraint::Hidden);
    }
    out.cut_tables += usize::from(kept < columns);
    writeln!(out)?;
    for (i, line) in table.lines().enumerate() {
        // Not by the table: it asks Windows for the colours of a console, and leaves the text out where there is none.
        let line = line.trim_end();
        writeln!(out, "{}", if i == 0 { Colour::Dim.paint(line) } else { with_bars(line) })?;
    }
    Ok(())
}

/// A line with its bars in their colour.
fn with_bars(line: &str) -> String {
    let is_bar = |c: char| ('\u{2588}'..='\u{258f}').contains(&c);
    let Some(start) = line.find(is_bar) else { return line.to_owned() };
    let (before, rest) = line.split_at(start);
    let (bar, after) = rest.split_at(rest.find(|c| !is_bar(c)).unwrap_or(rest.len()));
    format!("{before}{}{}", Colour::Bar.paint(bar), with_bars(after))
}

/// A bar for a share, in eighths of a column.
pub(crate) fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * 8.0 * width as f64).round() as usize;
    let bar = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    let used = bar.chars().count();
    bar + &" ".repeat(width.saturating_sub(used))
}

/// `12.3 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Text of at most `width` characters.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}

/// Text in lines of at most `width` characters, broken at spaces.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let word = cut(word, width);
        let long = word.chars().count();
        match lines.last_mut() {
            Some(line) if used == 0 || used + 1 + long <= width => {
                if used > 0 {
                    line.push(' ');
                    used += 1;
                }
                line.push_str(&word);
                used += long;
            }
            _ => {
                lines.push(word);
                used = long;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_one_width_and_grow() {
        assert_eq!(bar(0.0, 4), "    ");
        assert_eq!(bar(0.5, 4), "██  ");
        assert_eq!(bar(0.53125, 4), "██▏ ");
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(7.0, 4), "████");
    }

    #[test]
    fn bars_of_a_line_have_a_colour() {
        assert_eq!(with_bars("a 1 b"), "a 1 b");
        assert_eq!(with_bars("a █▏  1"), "a \u{1b}[36m█▏\u{1b}[0m  1");
        assert_eq!(with_bars("▌ x █"), "\u{1b}[36m▌\u{1b}[0m x \u{1b}[36m█\u{1b}[0m");
    }

    #[test]
    fn lines_break_at_spaces_and_nothing_is_lost() {
        assert_eq!(wrapped("a bb ccc dddd", 5), ["a bb", "ccc", "dddd"]);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("abcdefgh i", 5), ["abcd…", "i"]);
    }
}
