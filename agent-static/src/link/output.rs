//! A bounded queue before a link. It also keeps the bytes that were sent last, so that a host that comes back can get
//! them again.
//!
//! ```text
//! bytes:  [ sent, kept for a host that comes back | waits for the link ]
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

/// Bytes that may wait for a slow link.
const QUEUE_BYTES: usize = 1 << 20;
/// Spans leave this much of the queue to the records that they refer to.
const RESERVED_BYTES: usize = 256 << 10;
/// Bytes kept after they were sent, if a host can ask for them again: more than a socket and a forwarded port buffer.
const KEPT_BYTES: usize = 512 << 10;
/// Number of frames whose lengths are kept: as many as the queue holds of a small model's, so that a host whose line stood still and who
/// asks again finds the first one. The memory is allocated once.
const FRAMES: usize = 32 << 10;

/// Whether a record may be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// One of many records. It is dropped, and counted, when the queue is nearly full.
    Droppable,
    /// Other records refer to it. The agent waits for room before it gives up.
    Essential,
}

/// What the link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file, a pipe or standard output: no host comes back.
    File,
    /// A connection: when it breaks, the other side may come again.
    Connection,
    /// A serial line: messages of the kernel come between frames.
    Serial,
}

/// Whatever takes the bytes.
struct Sink(Box<dyn Write + Send>);

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sink")
    }
}

/// A link with its queue.
#[derive(Debug)]
pub struct Output {
    sink: Option<Sink>,
    /// The channel of a host with a key.
    sealing: Option<Sealing>,
    kind: Kind,
    name: String,
    hello: [u8; HELLO_LEN],
    /// Bytes of the hello that are sent.
    greeted: usize,
    bytes: VecDeque<u8>,
    /// Number of `bytes` that are sent.
    sent: usize,
    /// Frames in `bytes`: sequence number and length.
    frames: VecDeque<(u32, u16)>,
    broken: Option<String>,
}

impl Output {
    /// Writes to a file, a pipe, a connection or a serial line. The last two do not block.
    ///
    /// # Errors
    /// When the descriptor cannot be made non-blocking.
    pub fn new(sink: impl Into<OwnedFd>, kind: Kind, name: impl Into<String>) -> io::Result<Self> {
        let sink = File::from(sink.into());
        if kind != Kind::File {
            unblock(&sink)?;
        }
        Ok(Self::to(sink, kind, name))
    }

    /// Writes to anything, memory for instance. It must not block but answer [`io::ErrorKind::WouldBlock`].
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
            frames: lengths(),
            broken: None,
        }
    }

    /// Everything goes through a channel, if there is one.
    #[must_use]
    pub fn sealed(mut self, sealer: Option<Sealer>) -> Self {
        self.sealing = sealer.map(Sealing::new);
        self
    }

    /// What the link is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Begins the stream.
    pub fn greet(&mut self, hello: [u8; HELLO_LEN]) {
        self.hello = hello;
        self.greeted = 0;
    }

    /// The other side is gone for good, or the disk is full.
    #[must_use]
    pub fn broken(&self) -> bool {
        self.broken.is_some()
    }

    /// The other side is gone and may come back.
    #[must_use]
    pub fn suspended(&self) -> bool {
        self.sink.is_none() && !self.broken()
    }

    /// Bytes that wait for the link.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let held = self.sealing.as_ref().map_or(0, Sealing::held);
        self.bytes.len() - self.sent + HELLO_LEN - self.greeted + held
    }

    /// Nothing waits.
    #[must_use]
    pub fn empty(&self) -> bool {
        self.waiting() == 0
    }

    /// The error about a broken link.
    #[must_use]
    pub fn error(&self) -> Option<Diagnostic> {
        let answer = self.broken.as_ref()?;
        Some(Diagnostic::new(
            format!("sending the stream to {}", self.name),
            answer,
            "the part that was sent is readable; free space or start the receiver again, then capture again",
        ))
    }

    /// Queues one frame if there is room for its weight. False if there is none.
    pub fn push(&mut self, seq: u32, frame: &[u8], weight: Weight) -> bool {
        let limit = match weight {
            Weight::Droppable => QUEUE_BYTES - RESERVED_BYTES,
            Weight::Essential => QUEUE_BYTES,
        };
        // On a serial line, a message of the kernel before a frame must not become a part of it.
        let begin: &[u8] = if self.kind == Kind::Serial { &[0] } else { &[] };
        let len = begin.len() + frame.len();
        if self.broken() || self.bytes.len() - self.sent + len > limit {
            return false;
        }
        let Ok(recorded) = u16::try_from(len) else { return false };
        self.forget();
        self.bytes.extend(begin);
        self.bytes.extend(frame);
        self.frames.push_back((seq, recorded));
        true
    }

    /// Writes as much as the link takes now.
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
                Ok(0) => self.lose("it takes no more bytes".to_owned()),
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

    /// Forgets frames that no host can ask for again.
    fn forget(&mut self) {
        let kept = if self.kind == Kind::File { 0 } else { KEPT_BYTES };
        while let Some((_, len)) = self.frames.front() {
            let len = usize::from(*len);
            let gone = len <= self.sent && (self.sent - len >= kept || self.frames.len() >= FRAMES);
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

    /// The connection broke; the stream waits for the host to come back.
    pub fn suspend(&mut self) {
        self.lose("the connection was closed".to_owned());
    }

    /// The host came back, with a channel of its own if it has a key.
    ///
    /// # Errors
    /// When the descriptor cannot be made non-blocking.
    pub fn reconnect(&mut self, sink: impl Into<OwnedFd>, sealer: Option<Sealer>) -> io::Result<()> {
        let sink = File::from(sink.into());
        unblock(&sink)?;
        self.sink = Some(Sink(Box::new(sink)));
        self.sealing = sealer.map(Sealing::new);
        Ok(())
    }

    /// Gives up waiting for the host.
    pub fn give_up(&mut self, why: &str) {
        self.sink = None;
        self.broken = Some(why.to_owned());
    }

    /// Sends all frames from `seq` on again, as far as they are still kept; with `greet` the hello comes first. False if
    /// frame `seq` is no longer kept: the host will see a gap.
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

/// Room for the lengths, all of whose memory is there already: it would come page by page over the first hour.
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

    /// A line that stands still while a small model is captured: a host that asks again is the one that waits for it.
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
