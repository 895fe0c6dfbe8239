//! Counters per operator type: sums per span, rates per cycle.

use std::io::{self, Write};

use comfy_table::Cell;

use super::style::{Sheet, cut, table, write_table};
use crate::words::{PHASES, count, one_line};
use profinfer_analysis::counter::{Counted, Value};

/// Maximum number of rows; summary.json has all.
const SHOWN: usize = 8;
const NAME: usize = 16;
/// The text of a mean that rounds to zero.
const ZERO: &str = "0.00";
/// Maximum number of counters: more do not fit a line.
const COLUMNS: usize = 5;

pub(super) fn write(counted: &[Counted], out: &mut Sheet<'_>) -> io::Result<()> {
    // The same phase as in the table of operators.
    let phase = PHASES.into_iter().find(|p| counted.iter().any(|c| c.phase == *p));
    let Some(phase) = phase else { return Ok(()) };
    let rows = || counted.iter().filter(|c| c.phase == phase);
    let mut names: Vec<&str> = Vec::new();
    for value in rows().flat_map(|c| &c.values) {
        if !names.contains(&value.name.as_str()) {
            names.push(&value.name);
        }
    }
    // A counter that counted nothing would only displace others.
    let (nothing, mut names): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| {
        rows().flat_map(|c| &c.values).filter(|v| v.name == *name).all(|v| mean(v) == ZERO)
    });
    names.truncate(COLUMNS);
    let pmus = rows().any(|c| rows().any(|d| d.pmu != c.pmu));
    let first = format!("{}, mean per span", phase.name());
    let ipc = ["CPU_CYCLES", "INST_RETIRED"].iter().all(|n| names.contains(n));
    let mut headers = vec![first.as_str()];
    headers.extend(if pmus { &["core"][..] } else { &[] });
    headers.extend(if ipc { &["IPC"][..] } else { &[] });
    headers.extend(&names);
    headers.extend(["switches", "counted"]);
    let mut t = table(&headers);
    for row in rows().take(SHOWN) {
        let mut cells = vec![Cell::new(cut(&one_line(&row.desc), NAME))];
        if pmus {
            cells.push(Cell::new(cut(&one_line(row.pmu.trim_start_matches("armv8_")), NAME)));
        }
        let of = |name: &str| row.values.iter().find(|v| v.name == name);
        if ipc {
            let ratio =
                of("INST_RETIRED").zip(of("CPU_CYCLES")).filter(|(i, c)| i.spans == c.spans && c.sum > 0);
            let text = ratio.map_or("–".to_owned(), |(i, c)| format!("{:.2}", i.sum as f64 / c.sum as f64));
            cells.push(Cell::new(text));
        }
        for name in &names {
            cells.push(Cell::new(of(name).map_or("–".to_owned(), mean)));
        }
        cells.push(Cell::new(count(row.switches)));
        let least = names.iter().chain(&nothing).map(|n| of(n).map_or(0, |v| v.spans)).min().unwrap_or(0);
        cells.push(Cell::new(match row.spans {
            0 => "–".to_owned(),
            all => format!("{:.1} %", least as f64 * 100.0 / all as f64),
        }));
        t.add_row(cells);
    }
    writeln!(out)?;
    write_table(&mut t, out)?;
    if !nothing.is_empty() {
        out.sentence(&format!("{ZERO} in every row: {}", one_line(&nothing.join(", "))))?;
    }
    match rows().count().saturating_sub(SHOWN) {
        0 => Ok(()),
        n => writeln!(out, "and {n} other rows"),
    }
}

fn mean(v: &Value) -> String {
    let mean = v.sum as f64 / v.spans as f64;
    if mean >= 100.0 { count(mean.round() as u64) } else { format!("{mean:.2}") }
}
