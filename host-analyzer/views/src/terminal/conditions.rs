//! Settings of the system and of the engine's processes.

use std::io::{self, Write};

use super::style::{Colour, Sheet, cut, wrapped};
use crate::words::{conditions, one_line};
use profinfer_analysis::fact::Conditions;

/// Maximum number of processes; summary.json has all.
const SHOWN: usize = 3;
/// Longest part of a line: the value of a variable may be long.
const PART: usize = 90;

/// `others`: CPU use by other programs in words.
pub(super) fn write(others: Option<String>, c: &Conditions, out: &mut Sheet<'_>) -> io::Result<()> {
    let mut lines = vec![others.into_iter().chain(conditions::system(c)).collect()];
    for process in c.processes.iter().take(SHOWN) {
        let mut parts = conditions::process(process);
        if let Some(first) = parts.first_mut().filter(|_| c.processes.len() > 1) {
            *first = format!("process {}: {first}", process.pid);
        }
        lines.push(parts);
    }
    for parts in lines.into_iter().filter(|parts| !parts.is_empty()) {
        let parts: Vec<String> = parts.iter().map(|part| cut(&one_line(part), PART)).collect();
        for line in wrapped(&parts.join(" · "), out.width()) {
            writeln!(out, "{}", Colour::Dim.paint(&line))?;
        }
    }
    Ok(())
}
