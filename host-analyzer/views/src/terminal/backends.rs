//! Operators by shape on several backends, on host and device, from one or several recordings.

use std::io::{self, Write};

use comfy_table::Cell;

use super::style::{Colour, Sheet, cut, table, wrapped, write_table};
use super::work::gb_per_s;
use crate::words::{accelerator as words, ceiling, count, duration, one_line};
use profinfer_analysis::accelerator::{Accelerators, OnBackend, SeveralRow, Shape};
use profinfer_analysis::work::Done;

/// Maximum number of lines; summary.json has all.
const SHOWN: usize = 12;
/// Width of an operator with its shape, and of a backend.
const SHAPE: usize = 32;
const NAME: usize = 10;

/// A line: the shapes (first line of a row only), the recording (if there are several), the figures.
type Line<'a> = (Option<&'a [Shape]>, Option<usize>, &'a OnBackend);

pub(super) fn write(backends: &Accelerators, out: &mut Sheet<'_>) -> io::Result<()> {
    // A row without times has nothing to compare.
    let lines: Vec<Line<'_>> = backends
        .rows
        .iter()
        .flat_map(|r| {
            let timed = r.backends.iter().filter(|b| b.timed());
            firsts(&r.shapes).zip(timed).map(|(shapes, on)| (shapes, None, on))
        })
        .collect();
    lines_of(&lines, out)
}

/// Writes the rows of several recordings with these names in at most `width` columns.
///
/// # Errors
/// Those of `out`.
pub fn several(
    names: &[String],
    recordings: &[Accelerators],
    rows: &[SeveralRow],
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let out = &mut Sheet::new(out, width);
    for profile in recordings.iter().flat_map(|r| &r.profiles) {
        let colour = if profile.whole() { Colour::Dim } else { Colour::Warn };
        for line in wrapped(&words::line(profile), out.width()) {
            writeln!(out, "{}", colour.paint(&line))?;
        }
    }
    for (i, name) in names.iter().enumerate() {
        writeln!(out, "{}", cut(&format!("{} {}", i + 1, one_line(name)), out.width()))?;
    }
    let lines: Vec<Line<'_>> = rows
        .iter()
        .flat_map(|r| firsts(&r.shapes).zip(&r.backends).map(|(s, b)| (s, Some(b.recording), &b.on)))
        .collect();
    lines_of(&lines, out)?;
    out.left_out()
}

fn firsts(shapes: &[Shape]) -> impl Iterator<Item = Option<&[Shape]>> {
    std::iter::once(Some(shapes)).chain(std::iter::repeat(None))
}

fn lines_of(lines: &[Line<'_>], out: &mut Sheet<'_>) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let mut t = table(&["operator by shape", "backend", "runs", "host", "device", "each", "GB/s", "OP/s"]);
    for line in lines.iter().take(SHOWN) {
        t.add_row(cells(line));
    }
    write_table(&mut t, out)?;
    if lines.iter().any(|(_, _, on)| on.device.is_some()) {
        out.sentence("device: times by the accelerator's clock; no host time includes them")?;
    }
    if lines.iter().any(|(_, _, on)| on.host.as_ref().is_some_and(|h| h.host_side)) {
        out.sentence("in brackets: host time for handing operators over, not for computing them")?;
    }
    match lines.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        n => writeln!(out, "and {n} other lines"),
    }
}

fn cells((shapes, recording, on): &Line<'_>) -> Vec<Cell> {
    let dash = || "–".to_owned();
    let named = |shapes: &[Shape]| {
        let first = shapes.first().map_or_else(String::new, |s| one_line(&s.desc));
        cut(&format!("{first} {}", words::shape(shapes)), SHAPE)
    };
    let backend = match recording {
        Some(i) => format!("{} {}", i + 1, one_line(&on.backend)),
        None => one_line(&on.backend),
    };
    let (host, device) = (on.host.as_ref(), on.device.as_ref());
    // The device's time is the time of the work. The host's time is it only without a hand-over.
    let own = host.filter(|h| !h.host_side);
    let done: Option<&Done> = device.map_or_else(|| own.map(|h| &h.work), |d| d.work.as_ref());
    let mean = match (device, own) {
        (Some(d), _) => d.device_ns.checked_div(d.kernels),
        (None, Some(h)) => h.wall_ns.checked_div(h.executions),
        (None, None) => None,
    };
    // The time of a hand-over is in brackets.
    let taken = |ns: u64| if own.is_some() { duration(ns) } else { format!("({})", duration(ns)) };
    vec![
        Cell::new(shapes.map_or_else(String::new, named)),
        Cell::new(cut(&backend, NAME)),
        Cell::new(count(on.executions)),
        Cell::new(host.map_or_else(dash, |h| taken(h.wall_ns))),
        Cell::new(device.map_or_else(dash, |d| duration(d.device_ns))),
        Cell::new(mean.map_or_else(dash, duration)),
        Cell::new(done.and_then(|d| d.bytes_per_s).map_or_else(dash, gb_per_s)),
        Cell::new(
            done.and_then(|d| d.operations_per_s)
                .filter(|n| *n > 0.0)
                .map_or_else(dash, |n| ceiling(n as u64, "ops_per_s")),
        ),
    ]
}
