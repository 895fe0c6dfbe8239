//! The names of the panes, and the keys.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::DIM;
use super::screen::{Pane, Screen};

/// The panes, each with its key.
pub(super) fn tabs(screen: &Screen) -> Line<'static> {
    let mut spans = Vec::new();
    for (key, pane) in (1..).zip(Pane::ALL) {
        let style = if pane == screen.pane { Style::new().add_modifier(Modifier::REVERSED) } else { DIM };
        spans.push(Span::styled(format!(" {key} {} ", pane.name()), style));
        spans.push(Span::raw(" "));
    }
    Line::from(spans)
}

/// The keys.
pub(super) fn keys(screen: &Screen) -> Line<'static> {
    let pause = if screen.is_paused() { "p resume" } else { "p pause" };
    let text = format!("q stop and write the report   {pause}   1-6 Tab ←→ pane   ↑↓ scroll   ? help");
    Line::styled(text, Style::new().add_modifier(Modifier::REVERSED))
}
