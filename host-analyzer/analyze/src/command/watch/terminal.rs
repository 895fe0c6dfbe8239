//! The terminal: taken at the beginning, given back at every end.

use std::io::{self, Stdout, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// It is taken, and nobody has given it back.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal, as long as it is ours.
pub(super) struct Taken {
    pub(super) terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Taken {
    /// Takes it. A panic gives it back before it says what happened, whichever thread it is in.
    pub(super) fn take() -> io::Result<Self> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        execute!(stdout(), EnterAlternateScreen).inspect_err(|_| give_back())?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout())).inspect_err(|_| give_back())?;
        Ok(Self { terminal })
    }

    /// Nobody has given it back.
    pub(super) fn is_taken() -> bool {
        TAKEN.load(Ordering::SeqCst)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives it back, once.
pub(super) fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}
