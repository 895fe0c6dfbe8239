//! Packs what gauges said.
//!
//! ```text
//! sample = head:varint [value:varint]
//! head   = id << 1 | present      a node that could not be read has no value
//! value  zigzag
//! ```

use crate::varint::{put, take, unzigzag, zigzag};

/// What one gauge said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GaugeSample {
    /// Number of the gauge.
    pub id: u16,
    /// Its value in the gauge's unit; `None` when the node could not be read.
    pub value: Option<i64>,
}

/// Longest encoding of one sample in bytes.
pub const MAX_SAMPLE_LEN: usize = 3 + crate::varint::MAX_LEN;

impl GaugeSample {
    /// Appends to `buf` at `at`; returns the next free position, `None` when there is no room.
    #[must_use]
    pub fn encode(&self, buf: &mut [u8], at: usize) -> Option<usize> {
        let at = put(buf, at, u64::from(self.id) << 1 | u64::from(self.value.is_some()))?;
        match self.value {
            Some(value) => put(buf, at, zigzag(value)),
            None => Some(at),
        }
    }

    /// Takes one off the front of `buf`; `None` when the bytes are not such.
    #[must_use]
    pub fn decode(buf: &mut &[u8]) -> Option<Self> {
        let head = take(buf)?;
        let id = u16::try_from(head >> 1).ok()?;
        let value = if head & 1 != 0 { Some(unzigzag(take(buf)?)) } else { None };
        Some(Self { id, value })
    }
}

/// Decodes one after the other; ends early, with `failed` set, where the bytes are not samples.
#[derive(Debug, Clone)]
pub struct Gauges<'a> {
    left: u16,
    bytes: &'a [u8],
    /// The bytes ended, or stopped making sense, before the announced number.
    pub failed: bool,
}

impl<'a> Gauges<'a> {
    /// The samples of one batch.
    #[must_use]
    pub const fn new(count: u16, bytes: &'a [u8]) -> Self {
        Self { left: count, bytes, failed: false }
    }
}

impl Iterator for Gauges<'_> {
    type Item = GaugeSample;

    fn next(&mut self) -> Option<GaugeSample> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let sample = GaugeSample::decode(&mut self.bytes);
        if sample.is_none() {
            self.failed = true;
            self.left = 0;
        }
        sample
    }
}
