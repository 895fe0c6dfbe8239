//! A running session, in a terminal of at least 80 columns and 24 lines.
//!
//! Stage: view. From: analyses and findings of the last seconds, and the progress of the session.
//! To: a frame of ratatui. Promises: figures are those of the analyses of the same seconds; losses
//! come first; foreign text cannot control the terminal; no terminal size causes a panic.

mod experts;
mod findings;
mod foot;
mod gauges;
mod head;
mod help;
mod ladder;
mod operators;
mod pane;
mod screen;
mod speed;
mod table;
mod threads;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Style};
use ratatui::widgets::{Paragraph, Wrap};

pub use screen::{Engine, Pane, Progress, Screen, Seen};

/// Smallest size, columns and lines; below it only a message is drawn.
pub const LEAST: (u16, u16) = (80, 24);

const GOOD: Style = Style::new().fg(Color::Green);
const WARN: Style = Style::new().fg(Color::Yellow);
const BAD: Style = Style::new().fg(Color::White).bg(Color::Red);
const DIM: Style = Style::new().fg(Color::DarkGray);

/// Draws the screen.
pub fn draw(screen: &mut Screen, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let text = format!(
            "analyze watch needs {} columns and {} lines; this terminal has {} and {}. Make it larger, or press q to stop. The \
             recording continues meanwhile.",
            LEAST.0, LEAST.1, area.width, area.height
        );
        frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
        return;
    }
    let losses = head::losses(screen, area.width);
    let sentence = head::sentence(screen, area.width);
    let rows = [
        Constraint::Length(losses.len() as u16),
        Constraint::Length(1),
        Constraint::Length(sentence.len() as u16),
        Constraint::Length(speed::LINES),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ];
    let [lost, state, sentences, speed, tabs, pane, keys] = Layout::vertical(rows).areas(area);
    frame.render_widget(Paragraph::new(losses), lost);
    frame.render_widget(head::state(screen, area.width), state);
    frame.render_widget(Paragraph::new(sentence), sentences);
    speed::draw(screen, speed, frame);
    frame.render_widget(foot::tabs(screen), tabs);
    if screen.help {
        help::draw(pane, frame);
    } else {
        pane::draw(screen, pane, frame);
    }
    frame.render_widget(foot::keys(screen), keys);
}
