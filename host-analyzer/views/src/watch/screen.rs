//! The state of the screen.

use std::time::{Duration, Instant};

use crate::words::one_line;
use profinfer_analysis::Analysis;
use profinfer_analysis::findings::Findings;
use profinfer_analysis::ladder::{LadderSum, Question};

/// The engine shown, if there are several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Process id.
    pub pid: u32,
    pub name: String,
    /// Number of engines.
    pub of: usize,
}

/// The last seconds, analysed.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// From the start of the first call to the end of the last, ns.
    pub window_ns: u64,
    pub spans: u64,
    /// The engine of the results, if several engines computed.
    pub engine: Option<Engine>,
    /// Results; the health is that of the complete session.
    pub analysis: Analysis,
    pub findings: Findings,
    /// The ladders of all windows so far, of this engine.
    pub totals: Vec<(Question, LadderSum)>,
    /// Tokens per second, one value per second of the last minutes; `None` without decoded tokens.
    pub speeds: Vec<Option<f64>>,
}

/// Progress of the session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the stream.
    pub bytes: u64,
    pub spans: u64,
    pub llama_calls: u64,
    pub graph_calls: u64,
}

/// The part of the screen below the speed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pane {
    /// Where the time of a token goes.
    #[default]
    Ladder,
    /// Threads, with work and wait.
    Threads,
    /// Types of operators.
    Operators,
    Experts,
    /// The board's sensors.
    Gauges,
    /// Findings and health.
    Findings,
}

impl Pane {
    /// All, in the order of their keys 1 to 6.
    pub const ALL: [Self; 6] =
        [Self::Ladder, Self::Threads, Self::Operators, Self::Experts, Self::Gauges, Self::Findings];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ladder => "ladder",
            Self::Threads => "threads",
            Self::Operators => "operators",
            Self::Experts => "experts",
            Self::Gauges => "gauges",
            Self::Findings => "findings, health",
        }
    }

    /// The pane to the right.
    #[must_use]
    pub const fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    /// The pane to the left.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self::ALL[(self as usize + Self::ALL.len() - 1) % Self::ALL.len()]
    }
}

#[derive(Debug)]
pub struct Screen {
    /// Address of the agent.
    pub(super) source: String,
    /// Folder of the recording.
    pub(super) out: String,
    /// Requested length of the window.
    pub(super) window: Duration,
    /// The current step, and a message about it; a running capture has none.
    pub(super) doing: String,
    pub(super) message: Option<String>,
    pub(super) progress: Progress,
    /// When the last decode call ended.
    pub(super) called: Option<Instant>,
    /// When operators arrived last.
    pub(super) computed: Option<Instant>,
    begun: Instant,
    pub(super) seen: Option<Seen>,
    /// The latest results while the display is paused.
    later: Option<Seen>,
    paused: bool,
    pub pane: Pane,
    /// The help is shown.
    pub help: bool,
    /// Number of lines scrolled out at the top.
    pub(super) above: usize,
}

impl Screen {
    /// The screen of a capture from `source` into the folder `out`.
    #[must_use]
    pub fn new(source: &str, out: &str, window: Duration) -> Self {
        Self {
            source: one_line(source),
            out: one_line(out),
            window,
            doing: String::new(),
            message: None,
            progress: Progress::default(),
            called: None,
            computed: None,
            begun: Instant::now(),
            seen: None,
            later: None,
            paused: false,
            pane: Pane::default(),
            help: false,
            above: 0,
        }
    }

    /// Sets the current step.
    pub fn begin(&mut self, doing: &str) {
        (self.doing, self.message) = (one_line(doing), None);
    }

    /// Shows a message about the current step.
    pub fn say(&mut self, text: &str) {
        self.message = Some(one_line(text));
    }

    /// Updates the progress; the capture is running.
    pub fn live(&mut self, progress: Progress) {
        let now = Instant::now();
        if progress.llama_calls > self.progress.llama_calls {
            self.called = Some(now);
        }
        if progress.spans > self.progress.spans || progress.graph_calls > self.progress.graph_calls {
            self.computed = Some(now);
        }
        (self.progress, self.message) = (progress, None);
    }

    /// Shows new results.
    pub fn see(&mut self, seen: Seen) {
        *(if self.paused { &mut self.later } else { &mut self.seen }) = Some(seen);
    }

    /// Pauses or resumes the display; the capture continues.
    pub fn pause(&mut self) {
        self.paused = !self.paused;
        if let Some(later) = self.later.take() {
            self.seen = Some(later);
        }
    }

    #[must_use]
    pub const fn is_paused(&self) -> bool {
        self.paused
    }

    /// Shows a pane from its first line.
    pub const fn show(&mut self, pane: Pane) {
        (self.pane, self.above) = (pane, 0);
    }

    /// Scrolls by `lines`; drawing limits the position.
    pub fn scroll(&mut self, lines: isize) {
        self.above = self.above.saturating_add_signed(lines);
    }

    #[must_use]
    pub const fn seen(&self) -> Option<&Seen> {
        self.seen.as_ref()
    }

    /// Time since the program began.
    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}
