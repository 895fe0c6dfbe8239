//! From records to frames in the link's queue, in sequence, counting what is dropped.

use std::time::{Duration, Instant};

use profinfer_wire::WIRE_VERSION;
use profinfer_wire::frame::MAX_ENCODED;
use profinfer_wire::hello::Hello;
use profinfer_wire::record::Record;

use crate::link::Output;
use crate::link::output::Weight;

/// How long a record that must not be lost waits for room.
const PATIENCE: Duration = Duration::from_secs(5);

/// The encoder of one session.
#[derive(Debug)]
pub struct Emitter {
    output: Output,
    nonce: [u8; 16],
    seq: u32,
    encoded: Box<[u8; MAX_ENCODED]>,
    /// Frames dropped at the queue.
    pub frames_dropped: u64,
    /// Their bytes.
    pub bytes_dropped: u64,
}

impl Emitter {
    /// Begins a session on `output` with the hello.
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

    /// Queues a record; false when it was dropped (the drop is counted). A record too long for a frame,
    /// which the callers exclude by cutting their strings, is a drop too.
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

    /// Frames made so far, dropped ones included: the sequence number of the next one.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.seq
    }

    /// The session's name among sessions.
    #[must_use]
    pub fn nonce(&self) -> [u8; 16] {
        self.nonce
    }

    /// Hands the link what it takes now.
    pub fn flush(&mut self) {
        self.output.flush();
    }

    /// The link.
    #[must_use]
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// The link, to suspend and to connect again.
    pub fn output_mut(&mut self) -> &mut Output {
        &mut self.output
    }
}
