//! Cuts a byte stream at its zero bytes. The stream may arrive in pieces of any size.
//!
//! Every outcome is a value: a frame, or damage with its reason and size in bytes. After damage,
//! the next zero byte resynchronises the reader. Noise on a serial console costs at most the frames
//! that it hits.

use crate::frame::{Frame, FrameError, MAX_ENCODED, decode};

/// Bytes that were not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// Why.
    pub kind: DamageKind,
    /// Bytes lost, the ending zero included.
    pub bytes: u64,
}

/// Reasons for [`Damage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DamageKind {
    /// More bytes without a zero than the longest frame has.
    Overlong,
    /// The bytes between two zeros are not a frame.
    Frame(FrameError),
}

/// What one call of [`Accumulator::feed`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'a> {
    /// A complete frame with a valid checksum.
    Frame(Frame<'a>),
    /// Bytes that are not a frame.
    Damage(Damage),
}

/// Collects bytes until a zero ends a frame. Holds one frame's worth of memory.
#[derive(Debug, Clone)]
pub struct Accumulator {
    buf: [u8; MAX_ENCODED],
    len: usize,
    overlong: u64,
}

impl Default for Accumulator {
    fn default() -> Self {
        Self::new()
    }
}

impl Accumulator {
    /// An empty accumulator, in sync: the next byte begins a frame.
    #[must_use]
    pub const fn new() -> Self {
        Self { buf: [0; MAX_ENCODED], len: 0, overlong: 0 }
    }

    /// Bytes after the last zero. If not 0 at the end of a stream, the stream was cut inside a
    /// frame.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.len as u64 + self.overlong
    }

    /// Takes bytes from the front of `input`, up to the end of one frame or to the end of the
    /// input, and advances it. Call it until `input` is empty. Consecutive zero bytes are neither
    /// frames nor damage.
    pub fn feed(&mut self, input: &mut &[u8]) -> Option<Found<'_>> {
        loop {
            if input.is_empty() {
                return None;
            }
            let end = input.iter().position(|b| *b == 0);
            let part = &input[..end.unwrap_or(input.len())];
            if self.overlong == 0 && self.len + part.len() <= MAX_ENCODED {
                self.buf[self.len..self.len + part.len()].copy_from_slice(part);
                self.len += part.len();
            } else {
                self.overlong += (self.len + part.len()) as u64;
                self.len = 0;
            }
            let Some(end) = end else {
                *input = &[];
                return None;
            };
            *input = &input[end + 1..];
            let (len, overlong) = (self.len, self.overlong);
            self.len = 0;
            self.overlong = 0;
            if overlong > 0 {
                return Some(Found::Damage(Damage { kind: DamageKind::Overlong, bytes: overlong + 1 }));
            }
            if len > 0 {
                let bytes = len as u64 + 1;
                return Some(match decode(&mut self.buf[..len]) {
                    Ok(frame) => Found::Frame(frame),
                    Err(e) => Found::Damage(Damage { kind: DamageKind::Frame(e), bytes }),
                });
            }
        }
    }
}
