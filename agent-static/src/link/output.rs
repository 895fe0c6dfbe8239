//! A bounded queue in front of a link. It also keeps the bytes that were sent last, so that a host
//! that reconnects can request them again.
//!
//! ```text
//! bytes:  [ sent, kept for a host that reconnects | waits for the link ]
//!         0                                       sent
//! ```

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use profinfer_secure::Sealer;
use profinfer_wire::hello::HELLO_LEN;

use super::sealing::Sealing;
use crate::error::Diagnostic;

/// Maximum number of bytes that wait for a slow link.
const QUEUE_BYTES: usize = 1 << 20;
/// Spans leave this part of the queue to the records that they refer to.
const RESERVED_BYTES: usize = 256 << 10;
/// Bytes kept after sending, if a host can request them again: more than a socket and a forwarded
/// port buffer.
const KEPT_BYTES: usize = 512 << 10;
/// Maximum number of frames whose lengths are kept. A queue full of frames of a small model has as
/// many, so that a host whose line stalled finds the first one again. Allocated once.
const FRAMES: usize = 32 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// One of many similar records. It is dropped and counted if the queue is nearly full.
    Droppable,
    /// Other records refer to it. The agent waits for space before it drops it.
    Essential,
}

/// The type of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file, a pipe or standard output: no host reconnects.
    File,
    /// A connection: after it breaks, the host may reconnect.
    Connection,
    /// A serial line: kernel messages appear between frames.
    Serial,
}

/// Receives the bytes.
struct Sink(Box<dyn Write + Send>);

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sink")
    }
}

#[derive(Debug)]
pub struct Output {
    sink: Option<Sink>,
    /// Encrypts for a host with a key.
    sealing: Option<Sealing>,
    kind: Kind,
    name: String,
    hello: [u8; HELLO_LEN],
    /// Number of hello bytes sent.
    greeted: usize,
    bytes: VecDeque<u8>,
    /// Number of `bytes` sent.
    sent: usize,
    /// Sequence number and length of each frame in `bytes`; none for a file, whose reader cannot
    /// request them again.
    frames: VecDeque<(u32, u16)>,
    broken: Option<String>,
}

impl Output {
    /// Writes to a file, a pipe, a connection or a serial line. Connections and serial lines become
    /// non-blocking.
    ///
    /// # Errors
    /// If the descriptor cannot be made non-blocking.
    pub fn new(sink: impl Into<OwnedFd>, kind: Kind, name: impl Into<String>) -> io::Result<Self> {
        let sink = File::from(sink.into());
        if kind != Kind::File {
            unblock(&sink)?;
        }
        Ok(Self::to(sink, kind, name))
    }

    /// Writes to any sink, for example memory. It must not block but return
    /// [`io::ErrorKind::WouldBlock`].
    #[must_use]
    pub fn to(sink: impl Write + Send + 'static, kind: Kind, name: impl Into<String>) -> Self {
        let kept = if kind == Kind::File { 0 } else { KEPT_BYTES };
        Self {
            sink: Some(Sink(Box::new(sink))),
            sealing: None,
            kind,
            name: name.into(),
            hello: [0; HELLO_LEN],
            greeted: HELLO_LEN,
            bytes: VecDeque::with_capacity(QUEUE_BYTES + kept),
            sent: 0,
            frames: if kind == Kind::File { VecDeque::new() } else { lengths() },
            broken: None,
        }
    }

    /// Encrypts the stream, if there is a sealer.
    #[must_use]
    pub fn sealed(mut self, sealer: Option<Sealer>) -> Self {
        self.sealing = sealer.map(Sealing::new);
        self
    }

    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Begins the stream with the hello.
    pub fn greet(&mut self, hello: [u8; HELLO_LEN]) {
        self.hello = hello;
        self.greeted = 0;
    }

    /// The receiver is gone for good, or the disk is full.
    #[must_use]
    pub fn broken(&self) -> bool {
        self.broken.is_some()
    }

    /// The host is gone and may reconnect.
    #[must_use]
    pub fn suspended(&self) -> bool {
        self.sink.is_none() && !self.broken()
    }

    /// Number of bytes that wait for the link.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let held = self.sealing.as_ref().map_or(0, Sealing::held);
        self.bytes.len() - self.sent + HELLO_LEN - self.greeted + held
    }

    #[must_use]
    pub fn empty(&self) -> bool {
        self.waiting() == 0
    }

    /// The error of a broken link.
    #[must_use]
    pub fn error(&self) -> Option<Diagnostic> {
        let answer = self.broken.as_ref()?;
        Some(Diagnostic::new(
            format!("sending the stream to {}", self.name),
            answer,
            "the part that was sent is readable; free disk space or restart the receiver, then capture again",
        ))
    }

    /// Queues a frame if its weight leaves space for it. False otherwise.
    pub fn push(&mut self, seq: u32, frame: &[u8], weight: Weight) -> bool {
        let limit = match weight {
            Weight::Droppable => QUEUE_BYTES - RESERVED_BYTES,
            Weight::Essential => QUEUE_BYTES,
        };
        // On a serial line, a kernel message before a frame must not become part of it.
        let begin: &[u8] = if self.kind == Kind::Serial { &[0] } else { &[] };
        let len = begin.len() + frame.len();
        if self.broken() || self.bytes.len() - self.sent + len > limit {
            return false;
        }
        let Ok(recorded) = u16::try_from(len) else { return false };
        self.forget();
        self.bytes.extend(begin);
        self.bytes.extend(frame);
        if self.kind != Kind::File {
            self.frames.push_back((seq, recorded));
        }
        true
    }

    /// Writes as much as the link accepts now.
    pub fn flush(&mut self) {
        while !self.empty() && !self.broken() {
            let Some(Sink(sink)) = &mut self.sink else { return };
            let next = if self.greeted < HELLO_LEN {
                &self.hello[self.greeted..]
            } else {
                let (front, back) = self.bytes.as_slices();
                let waiting = front.get(self.sent..).filter(|f| !f.is_empty());
                waiting.unwrap_or_else(|| &back[self.sent - front.len()..])
            };
            let held = self.sealing.as_ref().is_some_and(|s| s.held() > 0);
            let taken = match &mut self.sealing {
                None => sink.write(next),
                Some(sealing) if held => sealing.write(sink),
                Some(sealing) => sealing.take(next),
            };
            match taken {
                Ok(1..) if held => {}
                Ok(0) => self.lose("it accepts no more bytes".to_owned()),
                Ok(n) if self.greeted < HELLO_LEN => self.greeted += n,
                Ok(n) => {
                    self.sent += n;
                    self.forget();
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => self.lose(e.to_string()),
            }
        }
    }

    /// Removes frames that no host can request again.
    fn forget(&mut self) {
        if self.kind == Kind::File {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        while let Some((_, len)) = self.frames.front() {
            let len = usize::from(*len);
            let gone = len <= self.sent && (self.sent - len >= KEPT_BYTES || self.frames.len() >= FRAMES);
            if !gone {
                return;
            }
            self.bytes.drain(..len);
            self.sent -= len;
            self.frames.pop_front();
        }
    }

    fn lose(&mut self, answer: String) {
        (self.sink, self.sealing) = (None, None);
        if self.kind != Kind::Connection {
            self.broken = Some(answer);
        }
    }

    /// The connection broke: the stream waits for the host to reconnect.
    pub fn suspend(&mut self) {
        self.lose("the connection was closed".to_owned());
    }

    /// The host reconnected, with a new sealer if it has a key.
    ///
    /// # Errors
    /// If the descriptor cannot be made non-blocking.
    pub fn reconnect(&mut self, sink: impl Into<OwnedFd>, sealer: Option<Sealer>) -> io::Result<()> {
        let sink = File::from(sink.into());
        unblock(&sink)?;
        self.sink = Some(Sink(Box::new(sink)));
        self.sealing = sealer.map(Sealing::new);
        Ok(())
    }

    /// Stops waiting for the host.
    pub fn give_up(&mut self, why: &str) {
        self.sink = None;
        self.broken = Some(why.to_owned());
    }

    /// Sends the frames from `seq` on again, if they are still kept. With `greet`, the hello comes
    /// first. False if frame `seq` is no longer kept: then the host sees a gap.
    pub fn resend(&mut self, seq: u32, greet: bool) -> bool {
        if greet {
            self.greeted = 0;
        }
        let before = |frame: &&(u32, u16)| frame.0.wrapping_sub(seq) > u32::MAX / 2;
        self.sent = self.frames.iter().take_while(before).map(|f| usize::from(f.1)).sum();
        self.frames.iter().find(|f| !before(f)).is_none_or(|f| f.0 == seq)
    }
}

fn unblock(file: &File) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(file, FcntlArg::F_GETFL)?);
    fcntl(file, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

/// The list of lengths, with its memory touched now: otherwise the memory of the agent would grow
/// over the first hour.
fn lengths() -> VecDeque<(u32, u16)> {
    let mut lengths = VecDeque::with_capacity(FRAMES);
    lengths.resize(FRAMES, (0, 0));
    lengths.clear();
    lengths
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn pair(kind: Kind) -> (Output, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        let mut output = Output::new(ours, kind, "the test").unwrap();
        output.greet([7; HELLO_LEN]);
        (output, theirs)
    }

    fn all(from: &mut UnixStream) -> Vec<u8> {
        let (mut bytes, mut some) = (Vec::new(), [0; 4096]);
        while let Ok(n @ 1..) = from.read(&mut some) {
            bytes.extend(&some[..n]);
        }
        bytes
    }

    #[test]
    fn a_host_that_comes_back_gets_what_it_asks_for() {
        let (mut output, mut host) = pair(Kind::Connection);
        for seq in 0..100u32 {
            assert!(output.push(seq, &[seq as u8 + 1; 10], Weight::Droppable));
            output.flush();
        }
        assert_eq!(all(&mut host).len(), HELLO_LEN + 1000);
        drop(host);
        assert!(output.push(100, &[101; 10], Weight::Droppable));
        output.flush();
        assert!(output.suspended() && !output.broken() && output.error().is_none());
        let (ours, mut host) = UnixStream::pair().unwrap();
        host.set_nonblocking(true).unwrap();
        output.reconnect(ours, None).unwrap();
        assert!(output.resend(98, true));
        output.flush();
        let bytes = all(&mut host);
        assert_eq!(bytes[..HELLO_LEN], [7; HELLO_LEN]);
        let expected: Vec<u8> = [99u8, 100, 101].iter().flat_map(|b| [*b; 10]).collect();
        assert_eq!(bytes[HELLO_LEN..], expected);
    }

    /// A serial line that stalls while a small model is captured: a host that sends `Start` again
    /// must find the first frame.
    #[test]
    fn the_first_of_a_queue_full_of_small_frames_is_kept() {
        let (mut output, _host) = pair(Kind::Serial);
        let mut seq = 0;
        while output.push(seq, &[1; 32], Weight::Droppable) {
            seq += 1;
            output.flush();
        }
        assert!(output.sent > 0 && output.resend(0, true), "after {seq} frames");
    }

    #[test]
    fn what_is_too_old_is_a_gap() {
        let (mut output, mut host) = pair(Kind::Connection);
        for seq in 0..2000u32 {
            assert!(output.push(seq, &[1; 1000], Weight::Droppable));
            output.flush();
            all(&mut host);
        }
        assert!(
            output.bytes.len() <= KEPT_BYTES + 1000 && output.bytes.capacity() == QUEUE_BYTES + KEPT_BYTES
        );
        assert!(!output.resend(10, false));
        output.flush();
        assert_eq!(output.frames.front().unwrap().0, 2000 - u32::try_from(output.frames.len()).unwrap());
        assert!(
            output.resend(1999, false) && output.resend(2000, false),
            "the last one, and the one that is to come"
        );
    }

    #[test]
    fn a_slow_link_leaves_room_for_what_is_essential() {
        let (mut output, _host) = pair(Kind::Connection);
        let frame = [1; 4000];
        let mut seq = 0;
        while output.push(seq, &frame, Weight::Droppable) {
            seq += 1;
            output.flush();
        }
        assert!(output.push(seq, &frame, Weight::Essential), "there is room for it");
        assert!(!output.push(seq, &frame, Weight::Droppable));
    }

    #[test]
    fn files_keep_nothing_and_end_with_the_answer() {
        let (mut output, host) = pair(Kind::File);
        assert!(output.push(0, &[1; 10], Weight::Droppable));
        output.flush();
        assert!(output.bytes.is_empty() && output.frames.is_empty());
        drop(host);
        assert!(output.push(1, &[1; 10], Weight::Droppable));
        output.flush();
        assert!(output.broken() && output.error().unwrap().tried.contains("the test"));
        assert!(!output.push(2, &[1; 10], Weight::Essential));
    }

    #[test]
    fn on_a_serial_line_frames_begin_with_a_zero() {
        let (mut output, mut host) = pair(Kind::Serial);
        assert!(output.push(0, &[5, 5, 0], Weight::Droppable));
        output.flush();
        assert_eq!(all(&mut host)[HELLO_LEN..], [0, 5, 5, 0]);
    }
}
