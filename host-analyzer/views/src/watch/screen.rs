//! What is on the screen.

use std::time::{Duration, Instant};

use crate::words::one_line;
use profinfer_analysis::Analysis;
use profinfer_analysis::findings::Findings;

/// The engine that is shown, where there are several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Process.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// How many there are.
    pub of: usize,
}

/// The last seconds, analysed.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// From the first call in them to the end of the last, ns.
    pub window_ns: u64,
    /// Operator spans in them.
    pub spans: u64,
    /// Whose they are, where several engines computed in them.
    pub engine: Option<Engine>,
    /// Their results. Of health, what is so of the whole session.
    pub analysis: Analysis,
    /// Their findings.
    pub findings: Findings,
    /// Tokens per second, of every second of the last minutes; `None` where none was decoded.
    pub speeds: Vec<Option<f64>>,
}

/// How far the session is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the stream.
    pub bytes: u64,
    /// Operator spans.
    pub spans: u64,
    /// Token calls.
    pub llama_calls: u64,
    /// Graph calls.
    pub graph_calls: u64,
}

/// What is shown below the speed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pane {
    /// Threads, with work and wait.
    #[default]
    Threads,
    /// Types of operators.
    Operators,
    /// Experts.
    Experts,
    /// The board's sensors.
    Gauges,
    /// Findings and health.
    Findings,
}

impl Pane {
    /// All, in the order of their keys 1 to 5.
    pub const ALL: [Self; 5] = [Self::Threads, Self::Operators, Self::Experts, Self::Gauges, Self::Findings];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Operators => "operators",
            Self::Experts => "experts",
            Self::Gauges => "gauges",
            Self::Findings => "findings, health",
        }
    }

    /// The one to the right.
    #[must_use]
    pub const fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    /// The one to the left.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self::ALL[(self as usize + Self::ALL.len() - 1) % Self::ALL.len()]
    }
}

/// What is on the screen.
#[derive(Debug)]
pub struct Screen {
    /// Where the agent is.
    pub(super) source: String,
    /// Folder of the recording.
    pub(super) out: String,
    /// Seconds that are asked for.
    pub(super) window: Duration,
    /// What is being done, and what is said of it; nothing is said of a capture that goes on.
    pub(super) doing: String,
    pub(super) said: Option<String>,
    pub(super) progress: Progress,
    /// When a token call ended last.
    pub(super) called: Option<Instant>,
    /// When operators came last.
    pub(super) computed: Option<Instant>,
    begun: Instant,
    pub(super) seen: Option<Seen>,
    /// What came since the display was stopped.
    later: Option<Seen>,
    paused: bool,
    /// What is shown.
    pub pane: Pane,
    /// The keys are explained.
    pub help: bool,
    /// Lines of the pane that are above it.
    pub(super) above: usize,
}

impl Screen {
    /// Of a capture from `source` into the folder `out`.
    #[must_use]
    pub fn new(source: &str, out: &str, window: Duration) -> Self {
        Self {
            source: one_line(source),
            out: one_line(out),
            window,
            doing: String::new(),
            said: None,
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

    /// Something begins.
    pub fn begin(&mut self, doing: &str) {
        (self.doing, self.said) = (one_line(doing), None);
    }

    /// Something is to be said of it.
    pub fn say(&mut self, text: &str) {
        self.said = Some(one_line(text));
    }

    /// The session goes on.
    pub fn live(&mut self, progress: Progress) {
        let now = Instant::now();
        if progress.llama_calls > self.progress.llama_calls {
            self.called = Some(now);
        }
        if progress.spans > self.progress.spans || progress.graph_calls > self.progress.graph_calls {
            self.computed = Some(now);
        }
        (self.progress, self.said) = (progress, None);
    }

    /// The last seconds were analysed.
    pub fn see(&mut self, seen: Seen) {
        *(if self.paused { &mut self.later } else { &mut self.seen }) = Some(seen);
    }

    /// Stops the display, or lets it go on; the capture goes on.
    pub fn pause(&mut self) {
        self.paused = !self.paused;
        if let Some(later) = self.later.take() {
            self.seen = Some(later);
        }
    }

    /// Whether it stands still.
    #[must_use]
    pub const fn is_paused(&self) -> bool {
        self.paused
    }

    /// Shows a pane from its first line.
    pub const fn show(&mut self, pane: Pane) {
        (self.pane, self.above) = (pane, 0);
    }

    /// Scrolls it by so many lines; how far that can go is known when it is drawn.
    pub fn scroll(&mut self, lines: isize) {
        self.above = self.above.saturating_add_signed(lines);
    }

    /// The last seconds.
    #[must_use]
    pub const fn seen(&self) -> Option<&Seen> {
        self.seen.as_ref()
    }

    /// Since the program began.
    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}
