//! Operators by shape on several backends, on the host and on the device.

use std::io::{self, Write};

use comfy_table::Cell;

use super::style::{Sheet, cut, table, write_table};
use super::work::gb_per_s;
use crate::analyses::accelerator::{Accelerators, OnBackend, Row};
use crate::analyses::work::Done;
use crate::views::words::accelerator::shape;
use crate::views::words::{ceiling, count, duration, one_line};

/// Lines shown; the others are in summary.json.
const SHOWN: usize = 12;
/// Columns of an operator with its shape, and of a backend.
const SHAPE: usize = 32;
const NAME: usize = 8;

pub(super) fn write(backends: &Accelerators, out: &mut Sheet<'_>) -> io::Result<()> {
    // Without any time there is nothing to compare.
    let timed = |row: &&Row| row.backends.iter().any(|b| b.host.is_some() || b.device.is_some());
    let lines = || backends.rows.iter().filter(timed).flat_map(lines);
    if lines().next().is_none() {
        return Ok(());
    }
    let mut t = table(&["operator by shape", "backend", "runs", "host", "device", "each", "GB/s", "OP/s"]);
    for (row, on) in lines().take(SHOWN) {
        t.add_row(cells(row, on));
    }
    write_table(&mut t, out)?;
    if backends.rows.iter().flat_map(|r| &r.backends).any(|b| b.device.is_some()) {
        out.say("device: times by the accelerator's own clock, in no time of the host; in brackets: only handing over")?;
    }
    match lines().count().saturating_sub(SHOWN) {
        0 => Ok(()),
        n => writeln!(out, "and {n} other lines"),
    }
}

fn lines(row: &Row) -> impl Iterator<Item = (Option<&Row>, &OnBackend)> {
    let first = std::iter::once(Some(row)).chain(std::iter::repeat(None));
    first.zip(&row.backends)
}

fn cells(row: Option<&Row>, on: &OnBackend) -> Vec<Cell> {
    let dash = || "–".to_owned();
    let named = |r: &Row| {
        let first = r.shapes.first().map_or_else(String::new, |s| one_line(&s.desc));
        cut(&format!("{first} {}", shape(&r.shapes)), SHAPE)
    };
    let (host, device) = (on.host.as_ref(), on.device.as_ref());
    // The device's time is that of the work; on the host only where it is not of handing it over.
    let own = host.filter(|h| !h.host_side);
    let done: Option<&Done> = device.map_or_else(|| own.map(|h| &h.work), |d| d.work.as_ref());
    let mean = match (device, own) {
        (Some(d), _) => d.device_ns.checked_div(d.kernels),
        (None, Some(h)) => h.wall_ns.checked_div(h.executions),
        (None, None) => None,
    };
    // The time of handing over is in brackets.
    let taken = |ns: u64| if own.is_some() { duration(ns) } else { format!("({})", duration(ns)) };
    vec![
        Cell::new(row.map_or_else(String::new, named)),
        Cell::new(cut(&one_line(&on.backend), NAME)),
        Cell::new(count(on.executions)),
        Cell::new(host.map_or_else(dash, |h| taken(h.wall_ns))),
        Cell::new(device.map_or_else(dash, |d| duration(d.device_ns))),
        Cell::new(mean.map_or_else(dash, duration)),
        Cell::new(done.and_then(|d| d.bytes_per_s).map_or_else(dash, gb_per_s)),
        Cell::new(
            done.and_then(|d| d.operations_per_s).map_or_else(dash, |n| ceiling(n as u64, "ops_per_s")),
        ),
    ]
}
