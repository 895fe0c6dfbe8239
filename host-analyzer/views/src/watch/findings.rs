//! Findings and health, in complete sentences.

use ratatui::style::Style;
use ratatui::text::Line;

use super::screen::Seen;
use super::{BAD, DIM, GOOD, WARN};
use crate::terminal::style::wrapped;
use crate::words::{findings as words, health};
use profinfer_analysis::health::Severity;

/// Health, findings, ruled-out rules, rules without enough data.
pub(super) fn lines(seen: &Seen, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut push = |text: &str, style: Style| {
        lines.extend(wrapped(text, width).into_iter().map(|line| Line::styled(line, style)));
    };
    let remarks = &seen.analysis.health.remarks;
    if remarks.iter().all(|r| r.severity() != Severity::Loss) {
        push("● nothing lost so far", GOOD);
    }
    for remark in remarks {
        let style = match remark.severity() {
            Severity::Good => GOOD,
            Severity::Note => DIM,
            Severity::Warning => WARN,
            Severity::Loss => BAD,
        };
        push(&format!("● {}", health::line(remark)), style);
    }
    let f = &seen.findings;
    for (n, finding) in (1..).zip(&f.found) {
        push(&format!("{n}. {}", words::sentence(finding)), WARN);
    }
    if f.found.is_empty() && !f.ruled_out.is_empty() {
        push("Nothing was found that slows the engine down.", GOOD);
    }
    let mut list = |name: &str, of: Vec<String>| {
        if !of.is_empty() {
            push(&format!("{name}: {}", of.join(", ")), DIM);
        }
    };
    list("Ruled out", f.ruled_out.iter().map(|(rule, evidence)| words::ruled_out(rule, evidence)).collect());
    list("Inconclusive", f.noisy.iter().map(|(rule, evidence)| words::noisy(rule, evidence)).collect());
    list("Not enough data", words::not_enough_data(f));
    lines
}
