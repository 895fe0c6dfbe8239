//! From what a link delivers to the stream as the agent made it.
//!
//! A connection delivers the stream's bytes; after a break the agent says hello again, and begins with the frame that was
//! asked for. A serial line delivers them among others: boot messages, what the kernel prints, bits that fell over. Frames
//! that noise cost are asked for again, as long as the agent has them. What is behind a gap waits for nothing: the
//! agent sends everything from the gap on once more, and what came already is left out.

use std::time::{Duration, Instant};

use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::frame::{MAX_ENCODED, encode};
use profinfer_wire::hello::{HELLO_LEN, Hello, MAGIC};

/// How long a frame that was asked for again may take, and how long a line that was noisy may be silent before the frame
/// that is missing is asked for.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often one frame is asked for.
const TRIES: u32 = 8;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Go on.
    Listen,
    /// Ask for all frames from this one on.
    Ask(u32),
    /// It is not the session that was connected to.
    OtherSession,
}

/// What a link delivers, put in order.
#[derive(Debug)]
pub(super) struct Receiver {
    serial: bool,
    /// Of the session, once it is known.
    nonce: Option<[u8; 16]>,
    /// Bytes that may be a hello; `None` behind it.
    greeting: Option<Vec<u8>>,
    /// On a connection, the first hello belongs to the stream as it is.
    first: bool,
    accumulator: Accumulator,
    next: u32,
    last: u32,
    /// There was noise since the last frame of the stream.
    noisy: bool,
    /// There was noise since the missing frame was asked for.
    noisy_since: bool,
    asked: Option<Instant>,
    tries: u32,
    heard: Instant,
    /// Bytes on a serial line that were no frames.
    pub(super) noise: u64,
    /// How often frames were asked for again.
    pub(super) repairs: u64,
    /// The last text among the noise.
    pub(super) overheard: String,
}

impl Receiver {
    pub(super) fn new(serial: bool, now: Instant) -> Self {
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
            noise: 0,
            repairs: 0,
            overheard: String::new(),
        }
    }

    /// The session's nonce, once its hello was there.
    pub(super) fn nonce(&self) -> Option<[u8; 16]> {
        self.nonce
    }

    /// The connection broke and there is a new one: a hello comes again.
    pub(super) fn reconnected(&mut self) {
        self.greeting = Some(Vec::with_capacity(HELLO_LEN));
        self.first = false;
    }

    /// Takes bytes of the link, gives bytes of the stream to `sink`.
    pub(super) fn take(&mut self, mut bytes: &[u8], now: Instant, sink: &mut dyn FnMut(&[u8])) -> Next {
        if let Some(greeting) = &mut self.greeting {
            greeting.extend_from_slice(bytes);
            let hello = if self.serial { self.search() } else { self.expect() };
            let Some(hello) = hello else { return Next::Listen };
            let mut behind = self.greeting.take().unwrap_or_default();
            let nonce = Hello::parse(&hello).ok().map(|h| h.nonce);
            if !self.first && nonce != self.nonce {
                return Next::OtherSession;
            }
            if std::mem::take(&mut self.first) {
                self.nonce = nonce;
                sink(&hello);
            }
            behind.drain(..HELLO_LEN);
            return if behind.is_empty() { Next::Listen } else { self.take(&behind, now, sink) };
        }
        if !self.serial {
            sink(bytes);
            return Next::Listen;
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

    /// On a serial line it is somewhere; what comes before is noise.
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
            // Came already.
            self.last = frame.seq;
            return;
        }
        // A gap without noise is what the agent dropped.
        if ahead > 0 && self.noisy && self.tries < TRIES {
            let Some(_) = self.asked else {
                self.last = frame.seq;
                return;
            };
            // Sent before the request was heard, as long as the numbers rise.
            let restarted = frame.seq <= self.last;
            self.last = frame.seq;
            if !restarted {
                return;
            }
            // It begins behind what was asked for: noise again, or the agent has it no more.
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

    /// Whether something has to be asked for again. Call it also when nothing comes.
    pub(super) fn ask(&mut self, now: Instant) -> Next {
        if !self.serial || !self.noisy || self.greeting.is_some() {
            return Next::Listen;
        }
        let due = match self.asked {
            // Behind noise a gap shows that it cost a frame; when nothing follows it may have been the last one.
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

/// Keeps the last line of text, for the message that says what was heard instead of an agent.
fn overhear(kept: &mut String, bytes: &[u8]) {
    kept.extend(bytes.iter().filter(|b| (0x20..0x7f).contains(*b) || **b == b'\n').map(|b| char::from(*b)));
    let from = kept.len().saturating_sub(200);
    kept.drain(..from);
}
