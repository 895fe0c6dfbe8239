//! The one sentence of a session that runs.

use super::duration;
use super::findings as words;
use profinfer_analysis::findings::{Finding, Findings, Gain, Gains};

/// How fast the engine was in the last seconds, how near to the ceiling, and the worst finding.
#[must_use]
pub fn sentence(findings: &Findings) -> String {
    let speed = words::headline(&findings.headline);
    if findings.headline.tokens_per_s.is_none() {
        return speed;
    }
    let worst = match findings.found.first() {
        Some(finding) => worst(finding),
        None if findings.ruled_out.is_empty() => "Too few tokens or data to judge what slows it.".to_owned(),
        None => "Nothing was found that slows it.".to_owned(),
    };
    format!("{speed} {worst}")
}

/// The finding in short: its name, and what a remedy would bring.
#[must_use]
pub fn worst(finding: &Finding) -> String {
    let gain = finding.found.gain.as_ref().map(|g| format!(" ({})", gain(g))).unwrap_or_default();
    format!("Worst finding: {}{gain}.", finding.rule.title)
}

fn gain(g: &Gain) -> String {
    let of = match g.of {
        Gains::Token => "a token",
        Gains::Request => "of a request's first token",
    };
    format!("{} to {} {of}", duration(g.low_ns), duration(g.high_ns))
}
