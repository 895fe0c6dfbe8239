//! Codes the values of gauges.
//!
//! ```text
//! sample = head:varint [value:varint]
//! head   = id << 1 | present      a sensor that could not be read has no value
//! value  zigzag
//! ```

use crate::batch::{Batch, Each, Packed};
use crate::varint::{put, take, unzigzag, zigzag};

/// One value of one gauge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GaugeSample {
    /// Number of the gauge.
    pub id: u16,
    /// Its value in the gauge's unit; `None` when the sensor could not be read.
    pub value: Option<i64>,
}

/// Longest encoding of one sample in bytes.
pub const MAX_SAMPLE_LEN: usize = 3 + crate::varint::MAX_LEN;

impl GaugeSample {
    /// Appends to `buf` at `at`; returns the next free position, `None` when there is no space.
    #[must_use]
    pub fn encode(&self, buf: &mut [u8], at: usize) -> Option<usize> {
        let at = put(buf, at, u64::from(self.id) << 1 | u64::from(self.value.is_some()))?;
        match self.value {
            Some(value) => put(buf, at, zigzag(value)),
            None => Some(at),
        }
    }

    /// Reads one from the front of `buf`; `None` when the bytes are not a valid sample.
    #[must_use]
    pub fn decode(buf: &mut &[u8]) -> Option<Self> {
        let head = take(buf)?;
        let id = u16::try_from(head >> 1).ok()?;
        let value = if head & 1 != 0 { Some(unzigzag(take(buf)?)) } else { None };
        Some(Self { id, value })
    }
}

impl Packed for GaugeSample {
    fn unpack(buf: &mut &[u8]) -> Option<Self> {
        Self::decode(buf)
    }
}

/// The samples of a batch.
pub type Gauges<'a> = Batch<'a, Each<GaugeSample>>;
