//! Restores the agent's stream from the bytes of a link.
//!
//! A connection delivers the bytes of the stream. After a break, the agent sends the hello again
//! and continues with the requested frame. A serial line also delivers other bytes: boot messages,
//! kernel messages, bit errors. The receiver requests destroyed frames again while the agent has
//! them. The agent then resends all frames from the gap on, and the receiver drops those that it
//! has already.

use std::time::{Duration, Instant};

use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::frame::{MAX_ENCODED, encode};
use profinfer_wire::hello::{HELLO_LEN, Hello, MAGIC};

/// Time limit for a requested frame. Also the silence after noise before the missing frame is
/// requested.
const PATIENCE: Duration = Duration::from_secs(2);

/// Number of requests per frame.
const TRIES: u32 = 8;

/// The next action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Continue to read.
    Listen,
    /// Request all frames from this one on.
    Ask(u32),
    /// The agent answers with another session.
    OtherSession,
}

/// State between the bytes of a link and the stream.
#[derive(Debug)]
pub(crate) struct Receiver {
    serial: bool,
    /// Nonce of the session, once it is known.
    nonce: Option<[u8; 16]>,
    /// Bytes that may be a hello. `None` after the hello.
    greeting: Option<Vec<u8>>,
    /// No hello was received yet. On a connection, the first hello is part of the stream.
    first: bool,
    accumulator: Accumulator,
    next: u32,
    last: u32,
    /// Noise arrived after the last frame of the stream.
    noisy: bool,
    /// Noise arrived after the missing frame was requested.
    noisy_since: bool,
    asked: Option<Instant>,
    tries: u32,
    heard: Instant,
    /// Time of the last byte, noise included.
    stirred: Instant,
    /// Bytes on a serial line that belong to no frame.
    pub(crate) noise: u64,
    /// Number of resend requests.
    pub(crate) repairs: u64,
    /// The last line of text in the noise.
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

    /// The nonce of the session, after its hello.
    pub(crate) fn nonce(&self) -> Option<[u8; 16]> {
        self.nonce
    }

    /// What arrived so far instead of a hello.
    pub(crate) fn greeting(&self) -> &[u8] {
        self.greeting.as_deref().unwrap_or_default()
    }

    /// Time when the stream was last received. On a serial line, that is the last frame: kernel
    /// messages arrive there without an agent too.
    pub(crate) fn heard(&self) -> Instant {
        self.heard
    }

    /// A new connection replaces a broken one: expect a hello again.
    pub(crate) fn reconnected(&mut self) {
        self.greeting = Some(Vec::with_capacity(HELLO_LEN));
        self.first = false;
    }

    /// Takes bytes of the link and passes bytes of the stream to `sink`.
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

    /// On a connection, the first 64 bytes are the hello.
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
            // A duplicate.
            self.last = frame.seq;
            return;
        }
        // A gap without noise: the agent dropped these frames.
        if ahead > 0 && self.noisy && self.tries < TRIES {
            let Some(_) = self.asked else {
                self.last = frame.seq;
                return;
            };
            // While the numbers increase, the agent had sent these frames before it received the
            // request.
            let restarted = frame.seq <= self.last;
            self.last = frame.seq;
            if !restarted {
                return;
            }
            // The agent resends from a later frame: noise destroyed the requested one again, or the
            // agent no longer has it.
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

    /// Returns the frame to request again. The caller also calls this when nothing arrives.
    pub(crate) fn ask(&mut self, now: Instant) -> Next {
        if !self.serial || self.greeting.is_some() {
            return Next::Listen;
        }
        // An incomplete frame that does not continue: its end was destroyed, and no later frame
        // reveals the gap.
        self.noisy |= self.accumulator.pending() > 0 && now - self.stirred > PATIENCE;
        if !self.noisy {
            return Next::Listen;
        }
        let due = match self.asked {
            // After noise, a gap means a lost frame. If nothing follows, the last frame may be
            // lost.
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

/// Keeps the last line of text, for the error that shows what arrived instead of a stream.
fn overhear(kept: &mut String, bytes: &[u8]) {
    kept.extend(bytes.iter().filter(|b| (0x20..0x7f).contains(*b) || **b == b'\n').map(|b| char::from(*b)));
    let from = kept.len().saturating_sub(200);
    kept.drain(..from);
}
