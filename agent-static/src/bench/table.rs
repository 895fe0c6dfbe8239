//! The ceilings as a table for people.

use std::io::{self, Write};

use super::ceiling::{Ceiling, name};
use crate::counter::pmu;

const HEADERS: [&str; COLUMNS] = ["ceiling", "threads", "CPUs", "median", "min", "max", "repeats", "how"];
const COLUMNS: usize = 8;
/// Columns of figures, which are set to the right.
const FIGURES: std::ops::RangeInclusive<usize> = 3..=6;

/// Writes the table, a section for each core type, and the notes under it.
///
/// # Errors
/// Those of `out`.
pub fn write(ceilings: &[Ceiling], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; COLUMNS]> = ceilings.iter().map(row).collect();
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|r| r[column].as_str()).chain([HEADERS[column]]);
        cells.map(|c| c.chars().count()).max().unwrap_or(0)
    });
    let mut core = None;
    for (ceiling, row) in ceilings.iter().zip(&rows) {
        if core != Some(&ceiling.core) {
            let between = if core.is_some() { "\n" } else { "" };
            let name = if ceiling.core.is_empty() { "cores of an unknown type" } else { &ceiling.core };
            writeln!(out, "{between}{name}")?;
            line(&HEADERS.map(str::to_owned), widths, out)?;
            core = Some(&ceiling.core);
        }
        line(row, widths, out)?;
    }
    let mut notes: Vec<&str> = Vec::new();
    for c in ceilings.iter().filter(|c| !c.note.is_empty()) {
        if !notes.contains(&c.note.as_str()) {
            notes.push(&c.note);
            writeln!(out, "\n{}: {}", name(c.kind), c.note)?;
        }
    }
    Ok(())
}

fn row(c: &Ceiling) -> [String; COLUMNS] {
    let say = |value: Option<u64>| value.map_or_else(|| "–".to_owned(), |v| c.say(v));
    [
        name(c.kind).to_owned(),
        c.cpus.len().to_string(),
        pmu::list_of(&c.cpus),
        say(c.spread.map(|s| s.median)),
        say(c.spread.map(|s| s.min)),
        say(c.spread.map(|s| s.max)),
        c.spread.map_or(0, |s| s.repeats).to_string(),
        c.how.clone(),
    ]
}

fn line(cells: &[String; COLUMNS], widths: [usize; COLUMNS], out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        text +=
            &if FIGURES.contains(&column) { format!("  {cell:>width$}") } else { format!("  {cell:width$}") };
    }
    writeln!(out, "{}", text.trim_end())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;
    use crate::bench::ceiling::CeilingKind;

    #[test]
    fn a_section_for_each_core_type() {
        let of = |core: &str, values: Vec<u64>, note: &str| {
            Ceiling::new(CeilingKind::Read, core, &[4, 5], "ldp q", values, note)
        };
        let mut text = Vec::new();
        let ceilings =
            [of("Cortex-A76", vec![18_400_000_000, 18_500_000_000], ""), of("", vec![], "interrupted")];
        write(&ceilings, &mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "\
Cortex-A76
  ceiling  threads  CPUs     median        min        max  repeats  how
  read     2        4-5   18.4 GB/s  18.4 GB/s  18.5 GB/s        2  ldp q

cores of an unknown type
  ceiling  threads  CPUs     median        min        max  repeats  how
  read     2        4-5           –          –          –        0  ldp q

read: interrupted
"
        );
    }
}
