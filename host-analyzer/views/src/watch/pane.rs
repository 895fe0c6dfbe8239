//! The selected pane, at its scroll position.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::DIM;
use super::screen::{Pane, Screen, Seen};
use super::{experts, findings, gauges, ladder, operators, threads};

/// Draws the pane.
pub(super) fn draw(screen: &mut Screen, area: Rect, frame: &mut Frame<'_>) {
    let Some(seen) = screen.seen() else {
        return frame.render_widget(Paragraph::new(waiting(screen)), area);
    };
    let lines = lines(screen.pane, seen, area.width.into());
    // The heading of a table does not scroll.
    let heading = usize::from(screen.pane != Pane::Findings && lines.len() > 1);
    let room = usize::from(area.height).saturating_sub(heading);
    let most = (lines.len() - heading).saturating_sub(room);
    screen.above = screen.above.min(most);
    let mut shown: Vec<_> = lines[..heading].to_vec();
    shown.extend(lines[heading..].iter().skip(screen.above).take(room).cloned());
    let below = most - screen.above;
    if below > 0
        && let Some(last) = shown.last_mut()
    {
        *last = Line::styled(format!("↓ {} more lines", below + 1), DIM);
    }
    frame.render_widget(Paragraph::new(shown), area);
}

fn lines(pane: Pane, seen: &Seen, width: usize) -> Vec<Line<'static>> {
    match pane {
        Pane::Ladder => ladder::lines(seen, width),
        Pane::Threads => threads::lines(seen, width),
        Pane::Operators => operators::lines(seen, width),
        Pane::Experts => experts::lines(seen, width),
        Pane::Gauges => gauges::lines(seen, width),
        Pane::Findings => findings::lines(seen, width),
    }
}

/// The text before the first result.
fn waiting(screen: &Screen) -> Vec<Line<'static>> {
    let p = &screen.progress;
    let mut lines = vec![
        Line::raw(format!("agent      {}", screen.source)),
        Line::raw(format!("recording  in {}", screen.out)),
        Line::raw(format!("window     the last {} s", screen.window.as_secs())),
    ];
    if p.spans > 0 {
        lines.push(Line::raw("Receiving operators; a call is shown when it is complete."));
    }
    lines
}
