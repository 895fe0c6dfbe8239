//! Encodes records as frames into the queue of the link, in sequence, and counts what is dropped.

use std::time::{Duration, Instant};

use profinfer_wire::WIRE_VERSION;
use profinfer_wire::frame::MAX_ENCODED;
use profinfer_wire::hello::Hello;
use profinfer_wire::record::Record;

use crate::link::Output;
use crate::link::output::Weight;

/// How long an essential record waits for space.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Emitter {
    output: Output,
    nonce: [u8; 16],
    seq: u32,
    encoded: Box<[u8; MAX_ENCODED]>,
    /// Frames dropped because the queue was full.
    pub frames_dropped: u64,
    pub bytes_dropped: u64,
}

impl Emitter {
    /// Begins a session: sends the hello.
    #[must_use]
    pub fn begin(mut output: Output, nonce: [u8; 16]) -> Self {
        let number = |s: &str| s.parse().unwrap_or(0);
        let hello = Hello {
            wire_version: WIRE_VERSION,
            agent_version: [
                number(env!("CARGO_PKG_VERSION_MAJOR")),
                number(env!("CARGO_PKG_VERSION_MINOR")),
                number(env!("CARGO_PKG_VERSION_PATCH")),
            ],
            build: [0; 8],
            nonce,
        };
        output.greet(hello.to_bytes());
        Self {
            output,
            nonce,
            seq: 0,
            encoded: Box::new([0; MAX_ENCODED]),
            frames_dropped: 0,
            bytes_dropped: 0,
        }
    }

    /// Queues a record. False if it was dropped; the drop is counted. A record that is too long for
    /// a frame is dropped too. Callers prevent that by truncating their strings.
    pub fn emit(&mut self, record: &Record<'_>, weight: Weight) -> bool {
        let seq = self.seq;
        self.seq = seq.wrapping_add(1);
        let len = record.encode_frame(seq, &mut self.encoded).map_or(0, <[u8]>::len);
        let sent = len > 0 && self.push(seq, len, weight);
        if !sent {
            self.frames_dropped += 1;
            self.bytes_dropped += len as u64;
        }
        sent
    }

    fn push(&mut self, seq: u32, len: usize, weight: Weight) -> bool {
        let frame = &self.encoded[..len];
        if self.output.push(seq, frame, weight) {
            return true;
        }
        let begun = Instant::now();
        loop {
            self.output.flush();
            if self.output.push(seq, frame, weight) {
                return true;
            }
            let waits = weight == Weight::Essential && !self.output.broken() && !self.output.suspended();
            if !waits || begun.elapsed() > PATIENCE {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Number of frames so far, dropped ones included. It is the next sequence number.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.seq
    }

    /// Identifies the session.
    #[must_use]
    pub fn nonce(&self) -> [u8; 16] {
        self.nonce
    }

    /// Writes what the link accepts now.
    pub fn flush(&mut self) {
        self.output.flush();
    }

    #[must_use]
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// The link, to suspend and to reconnect.
    pub fn output_mut(&mut self) -> &mut Output {
        &mut self.output
    }
}
