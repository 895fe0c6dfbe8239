//! The host's words: plan, start, stop.
//!
//! Foreign bytes: anything that is not a frame of a known kind is skipped, and nothing here can make the
//! agent do more than capture, with what its own command line allows.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::record::Record;

use crate::error::{Diagnostic, Result};
use crate::link::Output;
use crate::plan::{MAX_WISHES, Plan};

/// How long a host that connected may take to send its plan.
const PATIENCE: Duration = Duration::from_secs(10);

/// The host at the other end of the link, where there is one.
#[derive(Debug)]
pub struct Host {
    socket: Option<TcpStream>,
    accumulator: Accumulator,
    stop: bool,
}

impl Host {
    /// The host behind an output; a file has none.
    #[must_use]
    pub fn of(output: &Output) -> Self {
        let socket = output.socket().and_then(|s| s.try_clone().ok());
        Self { socket, accumulator: Accumulator::new(), stop: false }
    }

    /// The socket, to sleep on.
    #[must_use]
    pub fn socket(&self) -> Option<BorrowedFd<'_>> {
        self.socket.as_ref().map(AsFd::as_fd)
    }

    /// Whether the host sent `Stop` or closed the connection.
    pub fn asked_to_stop(&mut self) -> bool {
        let Some(socket) = &mut self.socket else { return false };
        let mut bytes = [0u8; 512];
        while !self.stop {
            match socket.read(&mut bytes) {
                Ok(0) => self.stop = true,
                Ok(n) => {
                    let mut input = &bytes[..n];
                    while !input.is_empty() {
                        if let Some(Found::Frame(frame)) = self.accumulator.feed(&mut input) {
                            self.stop |= matches!(Record::decode(&frame), Ok(Record::Stop(_)));
                        }
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.stop = true,
            }
        }
        self.stop
    }
}

/// Waits for a plan and a start on a connection just made.
///
/// # Errors
/// When the host closes, stays silent for ten seconds, or speaks another version.
pub fn read_plan(socket: &mut TcpStream) -> Result<Plan> {
    let failed = |answer: &dyn std::fmt::Display| {
        Diagnostic::new(
            "reading the capture plan from the host",
            answer,
            "connect with `analyze` of the same release; anything else gets no stream",
        )
    };
    socket.set_read_timeout(Some(Duration::from_millis(200))).map_err(|e| failed(&e))?;
    let begun = Instant::now();
    let mut accumulator = Accumulator::new();
    let mut plan: Option<Plan> = None;
    let mut bytes = [0u8; 512];
    loop {
        if begun.elapsed() > PATIENCE {
            return Err(failed(&"it sent no plan within ten seconds"));
        }
        let n = match socket.read(&mut bytes) {
            Ok(0) => return Err(failed(&"it closed the connection")),
            Ok(n) => n,
            Err(e)
                if matches!(
                    e.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) =>
            {
                continue;
            }
            Err(e) => return Err(failed(&e)),
        };
        let mut input = &bytes[..n];
        while !input.is_empty() {
            let Some(Found::Frame(frame)) = accumulator.feed(&mut input) else { continue };
            match Record::decode(&frame) {
                Ok(Record::Plan(p)) => plan = Some(Plan::from(p)),
                Ok(Record::CounterWish(w)) => {
                    if let Some(plan) = plan.as_mut().filter(|p| p.counters.len() < MAX_WISHES) {
                        plan.counters.push(w.into());
                    }
                }
                Ok(Record::Start(_)) => {
                    if let Some(plan) = plan.take() {
                        return Ok(plan);
                    }
                }
                _ => {}
            }
        }
    }
}
