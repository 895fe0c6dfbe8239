//! The part of a graph that could run in parallel.

use std::io::{self, Write};

use super::style::{Sheet, percent, wrapped};
use crate::words::{duration, one_line};
use profinfer_analysis::critical_path::{Branch, CriticalPath};

/// Maximum number of branches named.
const SHOWN: usize = 3;

pub(super) fn write(all: &[&CriticalPath], out: &mut Sheet<'_>) -> io::Result<()> {
    let Some(path) = all.iter().max_by_key(|p| p.sum_ns).filter(|p| p.sum_ns > 0) else { return Ok(()) };
    let part = path.path_ns as f64 / path.sum_ns as f64;
    let mut line = format!(
        "longest chain {} of the operators' time; parallel execution saves at most {}",
        percent(part),
        duration(path.saving_ns)
    );
    let named = |b: &Branch| match &b.parallel_to {
        Some(parallel_to) => format!("{} in parallel with {}", one_line(&b.name), one_line(parallel_to)),
        None => one_line(&b.name),
    };
    let branches: Vec<String> = path.branches.iter().take(SHOWN).map(named).collect();
    if !branches.is_empty() {
        line.push_str(&format!(": {}", branches.join(", ")));
    }
    writeln!(out)?;
    for (i, part) in wrapped(&line, out.width() - 10).iter().enumerate() {
        writeln!(out, "{:9} {part}", if i == 0 { "graph" } else { "" })?;
    }
    Ok(())
}
