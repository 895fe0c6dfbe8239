//! From the bytes of a link to the stream as the agent made it.
//!
//! A connection delivers the stream's bytes. After a break the agent sends the hello again and continues with the requested
//! frame. A serial line delivers other bytes too: boot messages, messages of the kernel, bit errors. Frames that noise
//! destroyed are requested again, as long as the agent has them. The agent then sends all frames from the gap on once more,
//! and frames that came already are left out.

use std::time::{Duration, Instant};

use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::frame::{MAX_ENCODED, encode};
use profinfer_wire::hello::{HELLO_LEN, Hello, MAGIC};

/// How long a requested frame may take, and how long a line may be silent after noise before the missing frame is
/// requested.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often one frame is requested.
const TRIES: u32 = 8;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Go on.
    Listen,
    /// Request all frames from this one on.
    Ask(u32),
    /// The agent answers with another session.
    OtherSession,
}

/// The state between a link's bytes and the stream.
#[derive(Debug)]
pub(crate) struct Receiver {
    serial: bool,
    /// Nonce of the session, once it is known.
    nonce: Option<[u8; 16]>,
    /// Bytes that may be a hello; `None` after it.
    greeting: Option<Vec<u8>>,
    /// No hello came yet. On a connection, the first hello belongs to the stream as it is.
    first: bool,
    accumulator: Accumulator,
    next: u32,
    last: u32,
    /// There was noise since the last frame of the stream.
    noisy: bool,
    /// There was noise since the missing frame was requested.
    noisy_since: bool,
    asked: Option<Instant>,
    tries: u32,
    heard: Instant,
    /// When anything came, noise too.
    stirred: Instant,
    /// Bytes on a serial line that did not belong to frames.
    pub(crate) noise: u64,
    /// How often frames were requested again.
    pub(crate) repairs: u64,
    /// The last text among the noise.
    pub(crate) overheard: String,
}

impl Receiver {
    pub(crate) fn new(serial: bool, now: Instant) -> Self {
        Self {
            serial,
            nonce: None,
            greeting: Some(Vec::with_capacity(HELLO_LEN)),
            first: true,
            accumulator: Accumulator::new(),
            next: 0,
            last: 0,
            noisy: false,
            noisy_since: false,
            asked: None,
            tries: 0,
            heard: now,
            stirred: now,
            noise: 0,
            repairs: 0,
            overheard: String::new(),
        }
    }

    /// The session's nonce, once its hello came.
    pub(crate) fn nonce(&self) -> Option<[u8; 16]> {
        self.nonce
    }

    /// When the stream was last heard: on a serial line its last frame, because the kernel's messages come there also without an
    /// agent.
    pub(crate) fn heard(&self) -> Instant {
        self.heard
    }

    /// The connection broke and there is a new one: a hello comes again.
    pub(crate) fn reconnected(&mut self) {
        self.greeting = Some(Vec::with_capacity(HELLO_LEN));
        self.first = false;
    }

    /// Takes bytes of the link and gives bytes of the stream to `sink`.
    pub(crate) fn take(&mut self, mut bytes: &[u8], now: Instant, sink: &mut dyn FnMut(&[u8])) -> Next {
        if let Some(greeting) = &mut self.greeting {
            greeting.extend_from_slice(bytes);
            let hello = if self.serial { self.search() } else { self.expect() };
            let Some(hello) = hello else { return Next::Listen };
            let mut behind = self.greeting.take().unwrap_or_default();
            let nonce = Hello::parse(&hello).ok().map(|h| h.nonce);
            if !self.first && nonce != self.nonce {
                return Next::OtherSession;
            }
            self.heard = now;
            if std::mem::take(&mut self.first) {
                self.nonce = nonce;
                sink(&hello);
            }
            behind.drain(..HELLO_LEN);
            return if behind.is_empty() { Next::Listen } else { self.take(&behind, now, sink) };
        }
        if !self.serial {
            self.heard = now;
            sink(bytes);
            return Next::Listen;
        }
        if !bytes.is_empty() {
            self.stirred = now;
        }
        while !bytes.is_empty() {
            self.frame(&mut bytes, now, sink);
        }
        self.ask(now)
    }

    /// On a connection the first 64 bytes are the hello, whatever they are.
    fn expect(&self) -> Option<Vec<u8>> {
        Some(self.greeting.as_ref()?.get(..HELLO_LEN)?.to_vec())
    }

    /// On a serial line the hello may be anywhere. The bytes before it are noise.
    fn search(&mut self) -> Option<Vec<u8>> {
        let seen = self.greeting.as_mut()?;
        loop {
            let begin = seen.windows(MAGIC.len()).position(|w| w == MAGIC);
            let before = begin.unwrap_or_else(|| seen.len().saturating_sub(MAGIC.len() - 1));
            overhear(&mut self.overheard, &seen[..before]);
            self.noise += before as u64;
            seen.drain(..before);
            let hello = seen.get(..HELLO_LEN)?.to_vec();
            if Hello::parse(&hello).is_ok() {
                return Some(hello);
            }
            self.noise += 1;
            seen.remove(0);
        }
    }

    fn frame(&mut self, bytes: &mut &[u8], now: Instant, sink: &mut dyn FnMut(&[u8])) {
        let frame = match self.accumulator.feed(bytes) {
            None => return,
            Some(Found::Damage(damage)) => {
                self.noise += damage.bytes;
                self.noisy = true;
                self.noisy_since = true;
                return;
            }
            Some(Found::Frame(frame)) => frame,
        };
        self.heard = now;
        let ahead = frame.seq.wrapping_sub(self.next);
        if ahead > u32::MAX / 2 {
            // It came already.
            self.last = frame.seq;
            return;
        }
        // A gap without noise is frames that the agent dropped.
        if ahead > 0 && self.noisy && self.tries < TRIES {
            let Some(_) = self.asked else {
                self.last = frame.seq;
                return;
            };
            // As long as the numbers rise, the frame was sent before the agent received the request.
            let restarted = frame.seq <= self.last;
            self.last = frame.seq;
            if !restarted {
                return;
            }
            // The agent restarted after the requested frame: there was noise again, or it no longer has the frame.
            if std::mem::take(&mut self.noisy_since) {
                self.asked = None;
                return;
            }
        }
        let mut encoded = [0; MAX_ENCODED];
        if let Some(len) = encode(&frame, &mut encoded) {
            sink(&encoded[..len]);
        }
        self.next = frame.seq.wrapping_add(1);
        self.last = frame.seq;
        (self.noisy, self.noisy_since, self.asked, self.tries) = (false, false, None, 0);
    }

    /// Whether a frame has to be requested again. The caller also calls this when nothing comes.
    pub(crate) fn ask(&mut self, now: Instant) -> Next {
        if !self.serial || self.greeting.is_some() {
            return Next::Listen;
        }
        // A frame that has begun and does not go on: its end was destroyed, and no other frame follows that would show it.
        self.noisy |= self.accumulator.pending() > 0 && now - self.stirred > PATIENCE;
        if !self.noisy {
            return Next::Listen;
        }
        let due = match self.asked {
            // After noise, a gap shows that a frame was lost. If nothing follows, the lost frame may have been the last one.
            None => self.last > self.next || now - self.heard > PATIENCE,
            Some(asked) => now - asked > PATIENCE,
        };
        if !due || self.tries >= TRIES {
            return Next::Listen;
        }
        (self.asked, self.noisy_since) = (Some(now), false);
        self.tries += 1;
        self.repairs += 1;
        Next::Ask(self.next)
    }
}

/// Keeps the last line of text, for the error that shows what came instead of a stream.
fn overhear(kept: &mut String, bytes: &[u8]) {
    kept.extend(bytes.iter().filter(|b| (0x20..0x7f).contains(*b) || **b == b'\n').map(|b| char::from(*b)));
    let from = kept.len().saturating_sub(200);
    kept.drain(..from);
}
