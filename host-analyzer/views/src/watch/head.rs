//! The first lines: losses, the state of the capture, and the summary sentence.

use std::time::Duration;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::screen::{Screen, Seen};
use super::{BAD, DIM, WARN};
use crate::terminal::style::{cut, wrapped};
use crate::words::{self, count, counted, duration, size};
use profinfer_analysis::health::{Remark, Severity};

/// Maximum number of losses shown here; the pane of findings and health has all.
const LOSSES: usize = 2;
/// Maximum number of lines of the sentence.
const SENTENCE: usize = 4;
/// A session without a decode call for this long is reported as idle.
const IDLE: Duration = Duration::from_secs(3);

/// Losses, worst first.
pub(super) fn losses(screen: &Screen, width: u16) -> Vec<Line<'static>> {
    let lost: Vec<&Remark> = remarks(screen.seen(), Severity::Loss).collect();
    let more = lost.len().saturating_sub(LOSSES);
    let width = usize::from(width);
    let line = |(i, remark): (usize, &&Remark)| {
        let rest = if more > 0 && i + 1 == LOSSES { format!(" (and {more} more: 6)") } else { String::new() };
        let room = width.saturating_sub(rest.chars().count() + 1);
        let text = format!(" {}{rest}", cut(&words::health::line(remark), room));
        Line::styled(format!("{text:width$}"), BAD)
    };
    lost.iter().take(LOSSES).enumerate().map(line).collect()
}

/// Remarks of one severity.
pub(super) fn remarks(seen: Option<&Seen>, severity: Severity) -> impl Iterator<Item = &Remark> {
    seen.into_iter().flat_map(|s| &s.analysis.health.remarks).filter(move |r| r.severity() == severity)
}

/// Source, duration and amount of the capture; or what it waits for.
pub(super) fn state(screen: &Screen, width: u16) -> Paragraph<'static> {
    let width = usize::from(width);
    let seconds = screen.elapsed().as_secs();
    let clock = format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if let Some(message) = &screen.message {
        let text = cut(&format!("{clock} {}: {message}", screen.doing), width);
        return Paragraph::new(Line::styled(text, WARN.add_modifier(Modifier::BOLD)));
    }
    let p = &screen.progress;
    let mut text =
        format!("{clock} {} · {} decode calls · {}", screen.source, count(p.llama_calls), size(p.bytes));
    let since = screen.called.map(|at| at.elapsed()).filter(|since| *since >= IDLE);
    let computing = screen.computed.is_some_and(|at| at.elapsed() < IDLE);
    match since {
        Some(since) if computing => {
            text += &format!(" · in a call for {} s, {} operators", since.as_secs(), count(p.spans));
        }
        Some(since) => text += &format!(" · no call for {} s", since.as_secs()),
        None if computing && p.llama_calls == 0 => text += &format!(" · {} operators", count(p.spans)),
        None => {}
    }
    Paragraph::new(Line::styled(cut(&text, width), DIM))
}

/// Speed, share of the ceiling, worst finding.
pub(super) fn sentence(screen: &Screen, width: u16) -> Vec<Line<'static>> {
    let Some(seen) = screen.seen() else {
        return vec![Line::raw("No call is complete yet.")];
    };
    // The engine has not begun, or waits for its next prompt.
    if seen.window_ns == 0 {
        let text = match screen.progress.graph_calls {
            0 => "The engine has made no call yet.".to_owned(),
            _ => "The engine completed no call in the last seconds.".to_owned(),
        };
        return vec![Line::raw(text)];
    }
    let text = words::watch::sentence(&seen.findings);
    let found = !seen.findings.found.is_empty();
    let style = if found { WARN } else { Style::new() }.add_modifier(Modifier::BOLD);
    let mut lines = wrapped(&text, usize::from(width));
    lines.truncate(SENTENCE);
    let mut lines: Vec<_> = lines.into_iter().map(|line| Line::styled(line, style)).collect();
    let warnings = remarks(Some(seen), Severity::Warning).count();
    let mut of = format!("over the last {}", duration(seen.window_ns));
    if let Some(engine) = &seen.engine {
        of += &format!(
            ", process {} ({}), which made the last call of {} engines",
            engine.pid,
            words::one_line(&engine.name),
            engine.of
        );
    }
    if screen.is_paused() {
        of += ", paused";
    }
    let mut last = vec![Span::styled(of, DIM)];
    if warnings > 0 {
        last.push(Span::styled(format!(" · {}: 6", counted(warnings as u64, "warning")), WARN));
    }
    lines.push(Line::from(last));
    lines
}
