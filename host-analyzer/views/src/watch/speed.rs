//! The speed over time.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Sparkline, SparklineBar};

use super::DIM;
use super::screen::Screen;

/// Height in lines.
pub(super) const LINES: u16 = 3;
/// Columns for the scale.
const SCALE: u16 = 16;

/// Draws the speed of every second that fits.
pub(super) fn draw(screen: &Screen, area: Rect, frame: &mut Frame<'_>) {
    let [scale, bars] = Layout::horizontal([Constraint::Length(SCALE), Constraint::Fill(1)]).areas(area);
    let all = screen.seen().map_or(&[][..], |s| &s.speeds);
    let shown = &all[all.len().saturating_sub(bars.width.into())..];
    let fastest = shown.iter().flatten().copied().fold(0.0, f64::max);
    let last = shown.iter().rev().flatten().next();
    let text = match last {
        Some(last) => vec![
            Line::raw(format!("{fastest:>8.2} max")),
            Line::raw(format!("{last:>8.2} t/s")),
            Line::styled(format!("{:>8} s", shown.len()), DIM),
        ],
        None => vec![Line::raw(""), Line::styled("t/s: none yet", DIM)],
    };
    frame.render_widget(Paragraph::new(text), scale);
    // In thousandths of the maximum: the bars have eighths of a line.
    let height = |v: &f64| (v / fastest.max(f64::MIN_POSITIVE) * 1000.0).round() as u64;
    let bar = |v: &Option<f64>| SparklineBar::from(v.as_ref().map(height));
    let line = Sparkline::default().data(shown.iter().map(bar)).max(1000);
    frame.render_widget(line.style(Style::new().fg(Color::Cyan)), bars);
}
