//! The answer in a few lines: speed and what it could be, remedies and their gains, what was ruled
//! out.

use std::io::{self, Write};

use super::style::{Colour, Sheet, bar, wrapped};
use crate::words::evidence::piece;
use crate::words::findings as words;
use profinfer_analysis::findings::{Finding, Findings, Headline};
use profinfer_analysis::ladder::{Ladder, Ladders, Question};
use profinfer_trace::model::CeilingSource;

/// Maximum number of findings; summary.json has all.
const SHOWN: usize = 5;

pub(super) fn write(findings: &Findings, ladders: &Ladders, out: &mut Sheet<'_>) -> io::Result<()> {
    if findings.headline.token_ns.is_none() && findings.headline.prefill_tokens_per_s.is_none() {
        return Ok(());
    }
    out.sentence(&words::headline(&findings.headline))?;
    if let Some(sentence) = words::distribution(&findings.headline) {
        out.sentence(&sentence)?;
    }
    if let Some(ladder) = ladders.of(Question::Decode).filter(|_| !findings.headline.drafted) {
        speeds(&findings.headline, ladder, out)?;
    }
    for (n, found) in (1..).zip(findings.found.iter().take(SHOWN)) {
        finding(n, found, out)?;
    }
    let short = |of: Vec<String>| of.join(", ");
    if !findings.ruled_out.is_empty() {
        let all = findings.ruled_out.iter().map(|(rule, evidence)| words::ruled_out(rule, evidence));
        lines("Checked and fine: ", &short(all.collect()), Colour::Dim, out)?;
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

/// Title, remedy and gain, and the evidence as names with values.
fn finding(n: usize, f: &Finding, out: &mut Sheet<'_>) -> io::Result<()> {
    lines(&format!("{n}. "), f.rule.title, Colour::Warn, out)?;
    let mut action = words::action(f);
    action.extend(f.gain().map(|gain| format!(" {}", words::gain(&gain))));
    action.extend(f.effects.iter().skip(1).map(|effect| format!(" {}", words::also(effect))));
    indented(&action, None, out)?;
    let evidence: Vec<String> = f.found.evidence.iter().map(piece).collect();
    indented(&evidence.join(" · "), Some(Colour::Dim), out)
}

fn indented(text: &str, colour: Option<Colour>, out: &mut Sheet<'_>) -> io::Result<()> {
    for line in wrapped(text, out.width() - 3) {
        let line = format!("   {line}");
        writeln!(out, "{}", colour.map_or_else(|| line.clone(), |c| c.paint(&line)))?;
    }
    Ok(())
}

/// Columns of the bars.
const BAR: usize = 30;

/// The measured speed beside the attainable ones.
fn speeds(headline: &Headline, ladder: &Ladder, out: &mut Sheet<'_>) -> io::Result<()> {
    let Some(measured) = headline.tokens_per_s else { return Ok(()) };
    let per_s = |ns: u64| ladder.tokens as f64 * 1e9 / ns.max(1) as f64;
    let without = |saved: u64| per_s(ladder.measured_ns.saturating_sub(saved));
    let mut rows = vec![("measured", measured, String::new())];
    if let Some(gain) = ladder.all.filter(|g| g.likely_ns as f64 >= ladder.measured_ns as f64 * 0.02) {
        let (low, high) = (without(gain.low_ns), without(gain.high_ns));
        let whole =
            |speed: f64| if speed < 10.0 { crate::words::per_s(speed) } else { format!("{speed:.0}") };
        rows.push(("without delays", without(gain.likely_ns), format!("{} to {}", whole(low), whole(high))));
    }
    let floor = ladder.floor.as_ref().filter(|f| f.bytes > 0);
    if let Some((floor, bytes_per_s)) = floor.and_then(|f| Some((f, f.bytes_per_s?))) {
        let note = format!("{:.1} GB/s, {}", bytes_per_s as f64 / 1e9, words::rate_from(floor.source));
        let name = match floor.source {
            Some(CeilingSource::BestSeen) => "at the best rate seen",
            _ => "at the memory limit",
        };
        rows.push((name, per_s((floor.bytes as f64 * 1e9 / bytes_per_s as f64) as u64), note));
    }
    let most = rows.iter().map(|(_, speed, _)| *speed).fold(0.0, f64::max);
    writeln!(out)?;
    for (name, speed, note) in rows {
        let bar = bar(speed / most.max(f64::MIN_POSITIVE), BAR);
        let speed = crate::words::per_s(speed);
        writeln!(out, "{}", format!("{name:>21} {speed:>8} t/s  {bar:<BAR$}  {note}").trim_end())?;
    }
    writeln!(out)
}

fn lines(first: &str, text: &str, colour: Colour, out: &mut Sheet<'_>) -> io::Result<()> {
    for line in wrapped(&format!("{first}{text}"), out.width()) {
        writeln!(out, "{}", colour.paint(&line))?;
    }
    Ok(())
}
