//! Records from the host: plan, start, stop, resume.
//!
//! The bytes are untrusted. Everything that is not a frame of a known kind is skipped. A host can
//! only make the agent capture, within the limits of its command line.
//!
//! ```text
//! acceptor ─▶ client (only peeked at) ─┬─ resume of this session ─▶ link
//!                                      └─ anything else: the host of the next session
//! ```

use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use profinfer_secure::Refusal;
use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::record::Record;

use crate::error::{Diagnostic, Result};
use crate::link::emit::Emitter;
use crate::link::output::Kind;
use crate::link::{Acceptor, Client, Reader};
use crate::request::plan::Plan;
use crate::request::plan_builder::PlanBuilder;
use crate::signals::Signals;

/// How long a connected host may take to send its plan.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a session waits for a host after the connection broke.
pub const ABSENCE: Duration = Duration::from_secs(60);

/// The host at the other end of the link, if any.
#[derive(Debug, Default)]
pub struct Host<'l> {
    link: Option<Reader>,
    accumulator: Accumulator,
    stop: bool,
    acceptor: Option<&'l mut Acceptor>,
    gone: Option<Instant>,
}

impl<'l> Host<'l> {
    /// A host that comes back through `acceptor` after its connection broke.
    #[must_use]
    pub fn new(link: Reader, acceptor: Option<&'l mut Acceptor>) -> Self {
        Self { link: Some(link), acceptor, ..Self::default() }
    }

    /// No host, for a recording.
    #[must_use]
    pub fn nobody() -> Self {
        Self::default()
    }

    /// True if the host sent `Stop` or its connection is gone.
    #[must_use]
    pub fn said_stop(&self) -> bool {
        self.stop
    }

    /// True if a host can reconnect after its connection broke.
    #[must_use]
    pub fn can_come_back(&self) -> bool {
        self.acceptor.is_some()
    }

    /// Reads and executes the records of the host. True if the session must end: the host sent
    /// `Stop`, or its connection broke and it did not come back in time.
    pub fn step(&mut self, emit: &mut Emitter) -> bool {
        if !self.stop && self.link.is_some() && !self.listen(emit) {
            self.link = None;
            emit.output_mut().suspend();
        }
        if emit.output().suspended() {
            self.link = None;
            let gone = *self.gone.get_or_insert_with(Instant::now);
            let hopeless = self.acceptor.is_none() || gone.elapsed() > ABSENCE;
            if hopeless || self.stop {
                // A host that has everything and leaves breaks nothing.
                if !emit.output().empty() {
                    emit.output_mut()
                        .give_up("the connection broke, and the host did not reconnect within a minute");
                }
                self.stop = true;
            }
        }
        self.check_new_host(emit);
        self.stop
    }

    /// False if the connection is closed.
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
                            // On a serial line, a host that missed the hello sends `Start` again.
                            // If the agent no longer has all frames from the start, this is another
                            // host, which gets a new session.
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

    /// Peeks at the first frame of a new host without consuming it.
    fn check_new_host(&mut self, emit: &mut Emitter) {
        let Some(acceptor) = &mut self.acceptor else { return };
        acceptor.look();
        let Some(client) = acceptor.client() else { return };
        let patient = client.since.elapsed() < PATIENCE;
        let mut bytes = [0u8; 512];
        let said = match client.reader.peek(&mut bytes) {
            Ok(0) => None,
            Ok(_) if client.reader.came_with_key() => {
                client.reader.refuse(Refusal::NoKeyHere);
                // Consume the peeked bytes: closing a connection with unread bytes discards the
                // answer.
                let _ = client.reader.read(&mut bytes);
                None
            }
            Ok(n) => first_record(&bytes[..n]).or(patient.then_some(Said::Nothing)),
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                (patient || !emit.output().suspended()).then_some(Said::Nothing)
            }
            Err(_) => None,
        };
        match said {
            Some(Said::Nothing) => {}
            None => *acceptor.client() = None,
            Some(Said::Resume { nonce, seq, bytes: said }) if nonce == emit.nonce() => {
                let Some(Client { mut reader, sealer, .. }) = acceptor.client().take() else { return };
                let Ok(link) = reader.writer() else { return };
                // The record was only peeked at. Consume it now.
                if reader.read_exact(&mut bytes[..said]).is_ok()
                    && emit.output_mut().reconnect(link, sealer).is_ok()
                {
                    emit.output_mut().resend(seq, true);
                    self.accumulator = Accumulator::new();
                    self.link = Some(reader);
                    self.gone = None;
                }
            }
            // Another host gets a session after this one. A session whose host is gone ends now.
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

/// Waits for a plan and `Start`. On a connection it waits ten seconds. On a serial line it waits
/// until a signal arrives, because other bytes may precede the plan (boot messages, a shell
/// prompt). `None` if a signal arrived.
///
/// # Errors
/// If the host closes the connection, sends nothing for ten seconds, or requests the rest of a
/// session that has ended.
pub fn read_plan(link: &mut Reader, kind: Kind, signals: &Signals) -> Result<Option<Plan>> {
    let failed = |answer: &dyn std::fmt::Display| {
        Diagnostic::new(
            "reading the capture plan from the host",
            answer,
            "connect with `analyze` of the same release; other programs receive no stream",
        )
    };
    let begun = Instant::now();
    let mut accumulator = Accumulator::new();
    let mut plan_builder = PlanBuilder::default();
    let mut bytes = [0u8; 512];
    loop {
        if signals.asked_to_end() {
            return Ok(None);
        }
        if kind == Kind::Connection && begun.elapsed() > PATIENCE {
            return Err(failed(&"the host sent no plan within ten seconds"));
        }
        let n = match link.read(&mut bytes) {
            Ok(0) => return Err(failed(&"the host closed the connection")),
            Ok(n) => n,
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                signals.wait(link.as_fd(), Some(Duration::from_millis(500)));
                continue;
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(failed(&e)),
        };
        if kind == Kind::Connection && link.came_with_key() {
            return Err(failed(&"the host uses a key, and this agent was started without one"));
        }
        let mut input = &bytes[..n];
        while !input.is_empty() {
            let Some(Found::Frame(frame)) = accumulator.feed(&mut input) else { continue };
            match Record::decode(&frame) {
                Ok(Record::Resume(_)) if kind == Kind::Connection => {
                    return Err(failed(&"the host requests the rest of a session that has ended"));
                }
                Ok(record) => {
                    if let Some(plan) = plan_builder.take(&record) {
                        return Ok(Some(plan));
                    }
                }
                Err(_) => {}
            }
        }
    }
}
