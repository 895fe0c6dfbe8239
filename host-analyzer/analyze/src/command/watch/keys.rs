//! Keys of the live view.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::capture::interrupts;
use profinfer_views::watch::{Pane, Screen};

pub(super) fn press(key: KeyEvent, screen: &mut Screen) {
    if key.kind == KeyEventKind::Release {
        return;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        // In raw mode, Ctrl-C is a key, not a signal.
        KeyCode::Char('c') if control => interrupts::one_more(),
        KeyCode::Char(_) if control => {}
        _ if screen.help => screen.help = false,
        KeyCode::Char('q') => interrupts::one_more(),
        KeyCode::Char('p' | ' ') => screen.pause(),
        KeyCode::Char('?' | 'h') => screen.help = true,
        KeyCode::Char(c @ '1'..='6') => {
            screen.show(Pane::ALL[usize::try_from(u32::from(c) - u32::from('1')).unwrap_or(0)]);
        }
        KeyCode::Tab | KeyCode::Right => screen.show(screen.pane.next()),
        KeyCode::BackTab | KeyCode::Left => screen.show(screen.pane.previous()),
        KeyCode::Up => screen.scroll(-1),
        KeyCode::Down => screen.scroll(1),
        KeyCode::PageUp => screen.scroll(-10),
        KeyCode::PageDown => screen.scroll(10),
        KeyCode::Home => screen.scroll(isize::MIN),
        _ => {}
    }
}
