//! What the keys do.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

const LINES: [&str; 12] = [
    "q Ctrl-C   end: recording and report are written; twice: without the last records",
    "p space    the display stands still, the capture goes on; once more: goes on",
    "1 to 5     threads, operators, experts, gauges, findings and health",
    "Tab ← →    the next pane, the one before",
    "↑ ↓ PgUp PgDn Home   scroll",
    "",
    "All figures are of the last seconds, by the same analyses as the report's.",
    "work   time in which a thread computed operators",
    "wait   time at the barrier behind them, until the slowest thread has arrived",
    "share  part of the time of the operators in this phase",
    "",
    "any key closes this",
];

/// Draws it.
pub(super) fn draw(area: Rect, frame: &mut Frame<'_>) {
    frame.render_widget(Paragraph::new(LINES.map(Line::raw).to_vec()), area);
}
