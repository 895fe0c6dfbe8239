//! The thread that owns the terminal, and its messages.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event};

use super::analyst::Analyst;
use super::keys;
use super::news::News;
use super::terminal::{self, Taken};
use crate::capture::observer::CaptureObserver;
use crate::capture::rotate::Last;
use crate::ceilings::Measured;
use crate::{Diagnostic, Result, capture::interrupts};
use profinfer_trace::ingest::Live;
use profinfer_views::watch::{self, Progress, Screen};

/// Longest delay of a key, and the shortest time between two draws.
const TICK: Duration = Duration::from_millis(100);
/// Time between two draws if nothing happens, for the clock.
const CLOCK: Duration = Duration::from_millis(500);
/// Time limit for the end of the display.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) struct Display {
    news: Sender<News>,
    analyst: Analyst,
    thread: Option<JoinHandle<io::Result<()>>>,
    told: Instant,
}

impl Display {
    pub(super) fn begin(
        source: &str,
        out: &Path,
        window: Duration,
        measured: Option<Measured>,
    ) -> Result<Self> {
        let taken = Taken::take().map_err(failed)?;
        let (news, heard) = channel();
        let analyst = Analyst::start(news.clone(), measured);
        let screen = Screen::new(source, &out.display().to_string(), window);
        let thread = thread::spawn(move || {
            let shown = show(taken, screen, &heard);
            // Without a display, no key can stop the capture.
            if !matches!(shown, Ok(true)) {
                interrupts::one_more();
            }
            shown.map(drop)
        });
        Ok(Self { news, analyst, thread: Some(thread), told: Instant::now() })
    }

    /// Restores the terminal.
    pub(super) fn end(mut self) -> Result<()> {
        self.stop().map_err(failed)
    }

    fn stop(&mut self) -> io::Result<()> {
        let _ = self.news.send(News::Over);
        let Some(thread) = self.thread.take() else { return Ok(()) };
        let begun = Instant::now();
        while !thread.is_finished() {
            // If the terminal hung up, reading keys blocks for ever. The thread then ends with the
            // program.
            if begun.elapsed() > PATIENCE {
                terminal::give_back();
                return Err(io::Error::other("the terminal is gone or does not respond"));
            }
            thread::sleep(TICK / 10);
        }
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the display failed; see its message above")))
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

impl CaptureObserver for Display {
    fn begin(&mut self, doing: &str) {
        let _ = self.news.send(News::Begun(doing.to_owned()));
    }

    fn say(&mut self, text: &str) {
        let _ = self.news.send(News::Said(text.to_owned()));
    }

    fn live(&mut self, live: &Live<'_>) {
        // The link may deliver bytes thousands of times per second.
        if self.told.elapsed() >= TICK {
            self.told = Instant::now();
            let &Live { bytes, spans, llama_calls, graph_calls, .. } = live;
            let _ = self.news.send(News::Live(Progress { bytes, spans, llama_calls, graph_calls }));
        }
    }

    fn wants_last(&self) -> bool {
        self.analyst.is_free()
    }

    fn last(&mut self, last: Last) {
        self.analyst.analyse(last);
    }
}

/// Draws and reads keys until the capture has ended. False if the display ended before.
fn show(mut taken: Taken, mut screen: Screen, heard: &Receiver<News>) -> io::Result<bool> {
    let mut drawn: Option<Instant> = None;
    loop {
        let mut changed = drawn.is_none_or(|at| at.elapsed() >= CLOCK);
        loop {
            match heard.try_recv() {
                Ok(News::Over) => return Ok(true),
                Ok(news) => hear(news, &mut screen),
                Err(std::sync::mpsc::TryRecvError::Empty) => break,
                Err(std::sync::mpsc::TryRecvError::Disconnected) => return Ok(false),
            }
            changed = true;
        }
        // A panic in any thread has restored the terminal.
        if !Taken::is_taken() {
            return Ok(false);
        }
        if changed {
            taken.terminal.draw(|frame| watch::draw(&mut screen, frame))?;
            drawn = Some(Instant::now());
        }
        if event::poll(TICK)? {
            match event::read()? {
                Event::Key(key) => keys::press(key, &mut screen),
                Event::Resize(..) => taken.terminal.autoresize()?,
                _ => {}
            }
            drawn = None;
        }
    }
}

fn hear(news: News, screen: &mut Screen) {
    match news {
        News::Begun(doing) => screen.begin(&doing),
        News::Said(text) => screen.say(&text),
        News::Live(progress) => screen.live(progress),
        News::Seen(seen) => screen.see(*seen),
        News::Over => {}
    }
}

fn failed(e: io::Error) -> Diagnostic {
    let help = "run it in an ordinary terminal; `analyze` captures without a live view";
    Diagnostic::new("showing the live view", e, help)
}
