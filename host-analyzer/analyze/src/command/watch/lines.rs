//! The last seconds as JSON, one object per line.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::analyst::Analyst;
use super::news::News;
use crate::Result;
use crate::capture::interrupts;
use crate::capture::observer::CaptureObserver;
use crate::capture::rotate::Last;
use crate::ceilings::Measured;
use crate::command::record::Recorded;
use crate::json::{self, Object};
use profinfer_schema::{Findings, Ladder, LadderSum};
use profinfer_trace::ingest::Live;
use profinfer_views::summary;
use profinfer_views::watch::{Progress, Seen};

/// Shortest time between two lines.
const INTERVAL: Duration = Duration::from_secs(1);

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    Update(Box<Update>),
    /// The last line.
    Result(Box<Recorded>),
}

/// The session so far, and the last seconds.
#[derive(Debug, Serialize)]
struct Update {
    stream_bytes: u64,
    llama_calls: u64,
    graph_calls: u64,
    operator_spans: u64,
    /// The ladders of all windows so far, of the engine of the window; a call counts once.
    ladders: Vec<LadderSum>,
    window: WindowSeen,
}

/// The last seconds.
#[derive(Debug, Serialize)]
struct WindowSeen {
    duration_ns: u64,
    operator_spans: u64,
    /// Of several engines the one that called last; the window covers it alone.
    engine: Option<EngineSeen>,
    ladders: Vec<Ladder>,
    findings: Findings,
}

#[derive(Debug, Serialize)]
struct EngineSeen {
    pid: u32,
    name: String,
    engines: usize,
}

/// Prints the lines.
pub(super) struct Lines {
    news: Sender<News>,
    analyst: Analyst,
    asked: Option<Instant>,
    thread: JoinHandle<()>,
}

impl Lines {
    pub(super) fn begin(measured: Option<Measured>) -> Self {
        let (news, heard) = channel();
        let analyst = Analyst::start(news.clone(), measured);
        Self { news, analyst, asked: None, thread: thread::spawn(move || print(&heard)) }
    }

    pub(super) fn end(self) {
        let _ = self.news.send(News::Over);
        let _ = self.thread.join();
    }
}

impl CaptureObserver for Lines {
    fn begin(&mut self, _doing: &str) {}

    fn say(&mut self, _text: &str) {}

    fn live(&mut self, live: &Live<'_>) {
        let &Live { bytes, spans, llama_calls, graph_calls, .. } = live;
        let _ = self.news.send(News::Live(Progress { bytes, spans, llama_calls, graph_calls }));
    }

    fn wants_last(&self) -> bool {
        self.analyst.is_free() && self.asked.is_none_or(|at| at.elapsed() >= INTERVAL)
    }

    fn last(&mut self, last: Last) {
        self.asked = Some(Instant::now());
        self.analyst.analyse(last);
    }
}

/// Prints a line per analysis until the capture is over. A reader that closes the pipe stops it.
fn print(heard: &Receiver<News>) {
    let mut progress = Progress::default();
    for news in heard {
        match news {
            News::Live(now) => progress = now,
            News::Seen(seen) => {
                let update = Line::Update(Box::new(Update::new(progress, *seen)));
                if json::write(&Object::new(update)).is_err() {
                    interrupts::one_more();
                    return;
                }
            }
            News::Over => return,
            News::Begun(_) | News::Said(_) => {}
        }
    }
}

/// Prints the last line: the object of a capture without `watch`.
pub(super) fn print_result(recorded: Recorded) -> Result<()> {
    json::print(&Object::new(Line::Result(Box::new(recorded))))
}

impl Update {
    fn new(progress: Progress, seen: Seen) -> Self {
        let engine = seen.engine.map(|e| EngineSeen { pid: e.pid, name: e.name, engines: e.of });
        Self {
            stream_bytes: progress.bytes,
            llama_calls: progress.llama_calls,
            graph_calls: progress.graph_calls,
            operator_spans: progress.spans,
            ladders: summary::ladder_sums(&seen.totals),
            window: WindowSeen {
                duration_ns: seen.window_ns,
                operator_spans: seen.spans,
                engine,
                ladders: summary::ladders(&seen.analysis),
                findings: summary::findings(&seen.findings),
            },
        }
    }
}
