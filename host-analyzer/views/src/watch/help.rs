//! What the keys do.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

const LINES: [&str; 12] = [
    "q Ctrl-C   stop and write recording and report; twice: without the last records",
    "p space    pause or resume the display; the capture continues",
    "1 to 6     ladder, threads, operators, experts, gauges, findings and health",
    "Tab ← →    the next pane, the previous pane",
    "↑ ↓ PgUp PgDn Home   scroll",
    "",
    "All figures cover the last seconds and come from the same analyses as the report.",
    "work   time a thread spent computing operators",
    "wait   time at the barrier after them, until the slowest thread arrives",
    "share  share of the operators' time in this phase",
    "",
    "any key closes this",
];

/// Draws the help.
pub(super) fn draw(area: Rect, frame: &mut Frame<'_>) {
    frame.render_widget(Paragraph::new(LINES.map(Line::raw).to_vec()), area);
}
