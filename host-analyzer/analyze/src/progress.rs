//! Progress: one line that is updated on a terminal, a line every two seconds elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::capture::observer::CaptureObserver;
use profinfer_trace::ingest::Live;

pub(crate) struct Progress {
    bar: ProgressBar,
    terminal: bool,
    logged: Instant,
}

impl Progress {
    pub(crate) fn new(doing: &str) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {msg} [{elapsed}]") {
            bar.set_style(style);
        }
        bar.set_prefix(doing.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar, terminal, logged: Instant::now() }
    }

    pub(crate) fn done(self) {
        self.bar.finish_and_clear();
    }
}

impl CaptureObserver for Progress {
    fn begin(&mut self, doing: &str) {
        self.bar.set_prefix(doing.to_owned());
        self.bar.set_message("");
    }

    fn say(&mut self, text: &str) {
        self.bar.set_message(text.to_owned());
        if !self.terminal && self.logged.elapsed() > Duration::from_secs(2) {
            self.logged = Instant::now();
            let _ = writeln!(std::io::stderr(), "{}: {text}", self.bar.prefix());
        }
    }

    fn live(&mut self, live: &Live<'_>) {
        let mb = live.bytes as f64 / 1e6;
        self.say(&format!(
            "{} llama_decode calls, {} operator spans, {mb:.1} MB",
            live.llama_calls, live.spans
        ));
    }
}
