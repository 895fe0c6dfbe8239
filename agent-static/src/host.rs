//! Records from the host: plan, start, stop, resume.
//!
//! These are foreign bytes. Everything that is not a frame of a known kind is skipped. A host can only make the agent
//! capture, within what the agent's command line allows.
//!
//! ```text
//! listener ─▶ knocking (peeked only)    ─┬─ resume of this session ─▶ link
//!                                        └─ anything else: the next session's host
//! ```

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::record::Record;

use crate::emit::Emitter;
use crate::error::{Diagnostic, Result};
use crate::link::output::Kind;
use crate::plan::{MAX_REQUESTS, Plan};
use crate::signals::Signals;

/// How long a host that connected may take to send its plan.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a session waits for a host whose connection broke.
pub const ABSENCE: Duration = Duration::from_secs(60);

/// The host at the other end of the link, if there is one.
#[derive(Debug, Default)]
pub struct Host<'l> {
    link: Option<File>,
    accumulator: Accumulator,
    stop: bool,
    listener: Option<&'l TcpListener>,
    knocking: Option<(TcpStream, Instant)>,
    gone: Option<Instant>,
}

impl<'l> Host<'l> {
    /// The host at the other end of a link. After a break, it comes back through the listener.
    #[must_use]
    pub fn new(link: impl Into<OwnedFd>, listener: Option<&'l TcpListener>) -> Self {
        Self { link: Some(File::from(link.into())), listener, ..Self::default() }
    }

    /// No host: a recording.
    #[must_use]
    pub fn nobody() -> Self {
        Self::default()
    }

    /// A host that connected while the session ran. It gets a session of its own.
    pub fn take_next(&mut self) -> Option<TcpStream> {
        Some(self.knocking.take()?.0)
    }

    /// It sent `Stop`, or its connection is gone.
    #[must_use]
    pub fn said_stop(&self) -> bool {
        self.stop
    }

    /// Reads the host's records and does what they ask. True if the session must end: the host sent `Stop`, or its
    /// connection broke and it did not come back in time.
    pub fn step(&mut self, emit: &mut Emitter) -> bool {
        if !self.stop && self.link.is_some() && !self.listen(emit) {
            self.link = None;
            emit.output_mut().suspend();
        }
        if emit.output().suspended() {
            self.link = None;
            let gone = *self.gone.get_or_insert_with(Instant::now);
            let hopeless = self.listener.is_none() || gone.elapsed() > ABSENCE;
            if hopeless || self.stop {
                emit.output_mut()
                    .give_up("the host's connection broke and did not come back within a minute");
                self.stop = true;
            }
        }
        self.answer_the_door(emit);
        self.stop
    }

    /// False when the connection is closed.
    fn listen(&mut self, emit: &mut Emitter) -> bool {
        let Some(link) = &mut self.link else { return false };
        let mut bytes = [0u8; 512];
        loop {
            match link.read(&mut bytes) {
                Ok(0) => return false,
                Ok(n) => {
                    let mut input = &bytes[..n];
                    while !input.is_empty() {
                        let Some(Found::Frame(frame)) = self.accumulator.feed(&mut input) else { continue };
                        match Record::decode(&frame) {
                            Ok(Record::Stop(_)) => self.stop = true,
                            Ok(Record::Resume(r)) if r.nonce == emit.nonce() => {
                                emit.output_mut().resend(r.seq, false);
                            }
                            // On a serial line, a host that has not seen the hello asks again. If the agent no longer has all frames
                            // from the start, this is another host, which gets a session of its own.
                            Ok(Record::Start(_)) => self.stop |= !emit.output_mut().resend(0, true),
                            _ => {}
                        }
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return true,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    /// Peeks at a new connection's first frame without consuming it.
    fn answer_the_door(&mut self, emit: &mut Emitter) {
        let Some(listener) = self.listener else { return };
        if self.knocking.is_none()
            && let Ok((socket, _)) = listener.accept()
            && socket.set_nonblocking(true).is_ok()
        {
            self.knocking = Some((socket, Instant::now()));
        }
        let Some((socket, since)) = &self.knocking else { return };
        let mut bytes = [0u8; 512];
        let said = match socket.peek(&mut bytes) {
            Ok(0) => None,
            Ok(n) => first_record(&bytes[..n]).or((since.elapsed() < PATIENCE).then_some(Said::Nothing)),
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                (since.elapsed() < PATIENCE || !emit.output().suspended()).then_some(Said::Nothing)
            }
            Err(_) => None,
        };
        match said {
            Some(Said::Nothing) => {}
            None => self.knocking = None,
            Some(Said::Resume { nonce, seq, bytes: said }) if nonce == emit.nonce() => {
                let Some((mut socket, _)) = self.knocking.take() else { return };
                let Ok(link) = socket.try_clone() else { return };
                // It was only peeked at. Now it is consumed.
                if socket.read_exact(&mut bytes[..said]).is_ok()
                    && emit.output_mut().reconnect(socket).is_ok()
                {
                    emit.output_mut().resend(seq, true);
                    self.accumulator = Accumulator::new();
                    self.link = Some(File::from(OwnedFd::from(link)));
                    self.gone = None;
                }
            }
            // Another host gets its session when this one ends. A session whose host is gone ends now.
            Some(_) => self.stop |= emit.output().suspended(),
        }
    }
}

enum Said {
    Nothing,
    Resume { nonce: [u8; 16], seq: u32, bytes: usize },
    Other,
}

fn first_record(bytes: &[u8]) -> Option<Said> {
    let (mut accumulator, mut input) = (Accumulator::new(), bytes);
    let found = accumulator.feed(&mut input)?;
    let resume = match found {
        Found::Frame(frame) => match Record::decode(&frame) {
            Ok(Record::Resume(r)) => Some(r),
            _ => None,
        },
        Found::Damage(_) => None,
    };
    let bytes = bytes.len() - input.len();
    Some(resume.map_or(Said::Other, |r| Said::Resume { nonce: r.nonce, seq: r.seq, bytes }))
}

/// Waits for a plan and a start: on a connection for ten seconds, on a serial line until a signal comes, because other
/// bytes may come first there (boot messages, a shell's prompt). `None` if a signal came.
///
/// # Errors
/// When the host closes the connection, sends nothing for ten seconds, or asks for the rest of a session that has ended.
pub fn read_plan(link: &mut File, kind: Kind, signals: &Signals) -> Result<Option<Plan>> {
    let failed = |answer: &dyn std::fmt::Display| {
        Diagnostic::new(
            "reading the capture plan from the host",
            answer,
            "connect with `analyze` of the same release; other programs get no stream",
        )
    };
    let begun = Instant::now();
    let mut accumulator = Accumulator::new();
    let mut plan: Option<Plan> = None;
    let mut bytes = [0u8; 512];
    loop {
        if signals.asked_to_end() {
            return Ok(None);
        }
        if kind == Kind::Connection && begun.elapsed() > PATIENCE {
            return Err(failed(&"it sent no plan within ten seconds"));
        }
        let n = match link.read(&mut bytes) {
            Ok(0) => return Err(failed(&"it closed the connection")),
            Ok(n) => n,
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                signals.wait(link.as_fd(), Some(Duration::from_millis(500)));
                continue;
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(failed(&e)),
        };
        let mut input = &bytes[..n];
        while !input.is_empty() {
            let Some(Found::Frame(frame)) = accumulator.feed(&mut input) else { continue };
            match Record::decode(&frame) {
                Ok(Record::Plan(p)) => plan = Some(Plan::from(p)),
                Ok(Record::CounterRequest(w)) => {
                    if let Some(plan) = plan.as_mut().filter(|p| p.counters.len() < MAX_REQUESTS) {
                        plan.counters.push(w.into());
                    }
                }
                Ok(Record::GaugeRequest(w)) => {
                    if let Some(plan) = plan.as_mut().filter(|p| p.gauges.len() < MAX_REQUESTS) {
                        plan.gauges.push(w.into());
                    }
                }
                Ok(Record::BenchRequest(w)) => {
                    if let Some(plan) = plan.as_mut() {
                        plan.bench = Some(w.into());
                    }
                }
                Ok(Record::ProbesRequest(w)) => {
                    if let Some(plan) = plan.as_mut() {
                        plan.probes = w.probes;
                    }
                }
                Ok(Record::CaptureRequest(w)) => {
                    if let Some(plan) = plan.as_mut() {
                        plan.capture.request(&w);
                    }
                }
                Ok(Record::FilterRequest(w)) => {
                    if let Some(plan) = plan.as_mut() {
                        plan.capture.filter(w.on, w.text);
                    }
                }
                Ok(Record::Start(_)) => {
                    if let Some(plan) = plan.take() {
                        return Ok(Some(plan));
                    }
                }
                Ok(Record::Resume(_)) if kind == Kind::Connection => {
                    return Err(failed(&"it asks for the rest of a session that has ended"));
                }
                _ => {}
            }
        }
    }
}
