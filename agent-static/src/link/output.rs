//! A bounded queue in front of a file or a socket.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::error::Diagnostic;

/// Bytes that may wait for a slow link.
const QUEUE_BYTES: usize = 1 << 20;
/// Spans leave this much of the queue to the records that they refer to.
const RESERVED_BYTES: usize = 256 << 10;
/// How long a record that must not be lost waits for room.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether a record may be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// One of many: dropped, and counted, when the queue is nearly full.
    Droppable,
    /// Others refer to it: the agent waits for room before it gives up.
    Essential,
}

/// The end of the link.
#[derive(Debug)]
enum Sink {
    File(File),
    Tcp(TcpStream),
}

/// A link with its queue.
#[derive(Debug)]
pub struct Output {
    sink: Sink,
    name: String,
    queue: VecDeque<u8>,
    broken: Option<String>,
}

impl Output {
    /// Writes to a file (or to standard output).
    #[must_use]
    pub fn file(file: File, name: impl Into<String>) -> Self {
        Self {
            sink: Sink::File(file),
            name: name.into(),
            queue: VecDeque::with_capacity(1 << 16),
            broken: None,
        }
    }

    /// Writes to a socket, without blocking.
    ///
    /// # Errors
    /// When the socket cannot be made non-blocking.
    pub fn tcp(stream: TcpStream, name: impl Into<String>) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let queue = VecDeque::with_capacity(1 << 16);
        Ok(Self { sink: Sink::Tcp(stream), name: name.into(), queue, broken: None })
    }

    /// The other side is gone, or the disk is full.
    #[must_use]
    pub fn broken(&self) -> bool {
        self.broken.is_some()
    }

    /// What to tell the user about a broken link.
    #[must_use]
    pub fn error(&self) -> Option<Diagnostic> {
        let answer = self.broken.as_ref()?;
        Some(Diagnostic::new(
            format!("sending the stream to {}", self.name),
            answer,
            "what was sent before is readable; free space or start the receiver again, then capture anew",
        ))
    }

    /// Queues one frame. False when it had to be dropped.
    pub fn push(&mut self, frame: &[u8], weight: Weight) -> bool {
        if self.broken() {
            return false;
        }
        let limit = match weight {
            Weight::Droppable => QUEUE_BYTES - RESERVED_BYTES,
            Weight::Essential => QUEUE_BYTES,
        };
        if self.queue.len() + frame.len() > limit {
            self.flush();
            if weight == Weight::Essential {
                self.wait_for_room(frame.len());
            }
            if self.broken() || self.queue.len() + frame.len() > limit {
                return false;
            }
        }
        self.queue.extend(frame);
        true
    }

    fn wait_for_room(&mut self, bytes: usize) {
        let begun = Instant::now();
        while !self.broken() && self.queue.len() + bytes > QUEUE_BYTES && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(2));
            self.flush();
        }
    }

    /// Hands as much as the link takes now.
    pub fn flush(&mut self) {
        while !self.queue.is_empty() && !self.broken() {
            let (front, _) = self.queue.as_slices();
            let taken = match &mut self.sink {
                Sink::File(f) => f.write(front),
                Sink::Tcp(s) => s.write(front),
            };
            match taken {
                Ok(0) => self.broken = Some("it takes no more bytes".to_owned()),
                Ok(n) => drop(self.queue.drain(..n)),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => self.broken = Some(e.to_string()),
            }
        }
    }

    /// Waits until everything is handed over, `limit` at most; true when nothing is left.
    pub fn drain(&mut self, limit: Duration) -> bool {
        let begun = Instant::now();
        loop {
            self.flush();
            if self.queue.is_empty() || self.broken() || begun.elapsed() > limit {
                return self.queue.is_empty() && !self.broken();
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The socket, to read the host's words from.
    #[must_use]
    pub fn socket(&self) -> Option<&TcpStream> {
        match &self.sink {
            Sink::Tcp(s) => Some(s),
            Sink::File(_) => None,
        }
    }
}
