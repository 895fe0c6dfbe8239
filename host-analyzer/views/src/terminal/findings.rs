//! The answer in a few lines: speed, remedies and their gains, what was ruled out.

use std::io::{self, Write};

use super::style::{Colour, Sheet, wrapped};
use crate::words::findings as words;
use profinfer_analysis::findings::Findings;

/// Maximum number of findings; summary.json has all.
const SHOWN: usize = 5;

pub(super) fn write(findings: &Findings, out: &mut Sheet<'_>) -> io::Result<()> {
    if findings.headline.token_ns.is_none() {
        return Ok(());
    }
    out.sentence(&words::headline(&findings.headline))?;
    for (n, finding) in (1..).zip(findings.found.iter().take(SHOWN)) {
        lines(&format!("{n}. "), &words::sentence(finding), Colour::Warn, out)?;
    }
    let short = |of: Vec<String>| of.join(", ");
    if !findings.ruled_out.is_empty() {
        let all = findings.ruled_out.iter().map(|(rule, evidence)| words::ruled_out(rule, evidence));
        lines("Ruled out: ", &short(all.collect()), Colour::Dim, out)?;
    }
    if !findings.noisy.is_empty() {
        let all = findings.noisy.iter().map(|(rule, evidence)| words::noisy(rule, evidence));
        lines("Inconclusive: ", &short(all.collect()), Colour::Dim, out)?;
    }
    if !findings.not_known.is_empty() {
        let title = format!("Not enough data for {} checks: ", findings.not_known.len());
        lines(&title, &words::not_enough_data(findings).join(" · "), Colour::Dim, out)?;
    }
    writeln!(out)
}

fn lines(first: &str, text: &str, colour: Colour, out: &mut Sheet<'_>) -> io::Result<()> {
    for line in wrapped(&format!("{first}{text}"), out.width()) {
        writeln!(out, "{}", colour.paint(&line))?;
    }
    Ok(())
}
