//! The ceilings as a text table.

use std::io::{self, Write};

use super::ceiling::{Ceiling, name, size};
use super::curve::Point;
use crate::observe::counter::pmu;

const HEADERS: [&str; COLUMNS] =
    ["ceiling", "threads", "CPUs", "memory", "median", "min", "max", "repeats", "how"];
const COLUMNS: usize = 9;
/// Columns of numbers, which are aligned right.
const FIGURES: std::ops::RangeInclusive<usize> = 3..=7;

/// Writes the table: a section per core type, a row per working set, and the notes below.
///
/// # Errors Those of `out`.
pub fn write(ceilings: &[Ceiling], out: &mut dyn Write) -> io::Result<()> {
    let of = |c| rows(c).into_iter().map(move |row| (c, row));
    let rows: Vec<(&Ceiling, [String; COLUMNS])> = ceilings.iter().flat_map(of).collect();
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|(_, r)| r[column].as_str()).chain([HEADERS[column]]);
        cells.map(|c| c.chars().count()).max().unwrap_or(0)
    });
    let mut core = None;
    for (ceiling, row) in &rows {
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

fn rows(c: &Ceiling) -> Vec<[String; COLUMNS]> {
    let row = |point: Option<&Point>| {
        let say = |of: fn(&Point) -> u64| point.map_or_else(|| "–".to_owned(), |p| c.say(of(p)));
        [
            name(c.kind).to_owned(),
            c.cpus.len().to_string(),
            pmu::list_of(&c.cpus),
            point.filter(|p| p.bytes > 0).map_or_else(|| "–".to_owned(), |p| size(p.bytes)),
            say(|p| p.spread.median),
            say(|p| p.spread.min),
            say(|p| p.spread.max),
            point.map_or(0, |p| p.spread.repeats).to_string(),
            c.how.clone(),
        ]
    };
    if c.points.is_empty() { vec![row(None)] } else { c.points.iter().map(|p| row(Some(p))).collect() }
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
    use crate::observe::bench::ceiling::CeilingKind;

    #[test]
    fn a_section_for_each_core_type() {
        let of = |core: &str, values: Vec<u64>, note: &str| {
            Ceiling::new(CeilingKind::Read, core, &[4, 5], "ldp q", 32 << 20, values, note)
        };
        let mut text = Vec::new();
        let ceilings =
            [of("Cortex-A76", vec![18_400_000_000, 18_500_000_000], ""), of("", vec![], "interrupted")];
        write(&ceilings, &mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "\
Cortex-A76
  ceiling  threads  CPUs  memory     median        min        max  repeats  how
  read     2        4-5   32 MiB  18.4 GB/s  18.4 GB/s  18.5 GB/s        2  ldp q

cores of an unknown type
  ceiling  threads  CPUs  memory     median        min        max  repeats  how
  read     2        4-5        –          –          –          –        0  ldp q

read: interrupted
"
        );
    }
}
