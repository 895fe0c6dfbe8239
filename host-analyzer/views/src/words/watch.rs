//! The sentence about a running session.

use super::duration;
use super::findings as words;
use profinfer_analysis::findings::{Finding, Findings, Gain};

/// The engine's speed in the last seconds, its share of the ceiling, and the worst finding.
#[must_use]
pub fn sentence(findings: &Findings) -> String {
    let speed = words::headline(&findings.headline);
    if findings.headline.tokens_per_s.or(findings.headline.prefill_tokens_per_s).is_none() {
        return speed;
    }
    let worst = match findings.found.first() {
        Some(finding) => worst(finding),
        None if findings.ruled_out.is_empty() => {
            "Too few tokens or too little data to find what slows it down.".to_owned()
        }
        None => "Nothing was found that slows it down.".to_owned(),
    };
    format!("{speed} {worst}")
}

/// The title of the finding, and the gain of its remedy.
#[must_use]
pub fn worst(finding: &Finding) -> String {
    let gain = finding.gain().map(|g| format!(" ({})", gain(&g))).unwrap_or_default();
    format!("Worst finding: {}{gain}.", finding.rule.title)
}

fn gain(g: &Gain) -> String {
    let of = words::becomes_shorter(g.question);
    format!("{} to {} {of}", duration(g.low_ns), duration(g.high_ns))
}
