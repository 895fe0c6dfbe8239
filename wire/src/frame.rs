//! A frame carries one record: `kind u16 | seq u32 | len u16 | payload | CRC-32C u32`,
//! little-endian, COBS-encoded and ended by one zero byte.
//!
//! Kind and length are outside the payload, so that a reader can skip and count unknown kinds. The
//! sequence number counts every frame that the agent made: a gap shows a loss between the agent's
//! encoder and the reader.

use crc::{CRC_32_ISCSI, Crc, Table};

/// CRC-32C (Castagnoli), the catalogue's CRC-32/ISCSI.
pub(crate) const CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// Bytes before the payload.
pub const HEADER_LEN: usize = 8;
/// Bytes after the payload.
pub const TRAILER_LEN: usize = 4;
/// Largest payload. A frame then takes 37 ms on a 1.5 Mbaud console.
pub const MAX_PAYLOAD: usize = 4096;
/// Largest frame before COBS.
pub const MAX_RAW: usize = HEADER_LEN + MAX_PAYLOAD + TRAILER_LEN;
/// Largest frame on the wire: COBS adds one byte per 254 begun, and the zero byte ends it.
pub const MAX_ENCODED: usize = MAX_RAW + MAX_RAW / 254 + 2;

/// One frame with a valid checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Record kind, see [`crate::record::kind`].
    pub kind: u16,
    /// Sequence number, counted from 0 for the first frame after the hello.
    pub seq: u32,
    /// The record's postcard bytes.
    pub payload: &'a [u8],
}

/// Why bytes between two zero bytes are not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// Not valid COBS.
    Cobs,
    /// Shorter than header and trailer.
    Short,
    /// The length field disagrees with the number of bytes.
    Length,
    /// The checksum disagrees.
    Checksum,
}

/// Encodes a frame into `out` and returns its length in bytes, the ending zero included. `None`
/// when the payload is longer than [`MAX_PAYLOAD`] or `out` is shorter than [`MAX_ENCODED`].
#[must_use]
pub fn encode(frame: &Frame<'_>, out: &mut [u8]) -> Option<usize> {
    let n = frame.payload.len();
    if n > MAX_PAYLOAD || out.len() < MAX_ENCODED {
        return None;
    }
    let mut raw = [0u8; MAX_RAW];
    raw[0..2].copy_from_slice(&frame.kind.to_le_bytes());
    raw[2..6].copy_from_slice(&frame.seq.to_le_bytes());
    raw[6..8].copy_from_slice(&u16::try_from(n).ok()?.to_le_bytes());
    raw[HEADER_LEN..HEADER_LEN + n].copy_from_slice(frame.payload);
    let crc = CRC.checksum(&raw[..HEADER_LEN + n]);
    raw[HEADER_LEN + n..HEADER_LEN + n + TRAILER_LEN].copy_from_slice(&crc.to_le_bytes());
    let len = cobs::encode(&raw[..HEADER_LEN + n + TRAILER_LEN], out);
    *out.get_mut(len)? = 0;
    Some(len + 1)
}

/// Decodes the bytes between two zero bytes in place.
///
/// # Errors
/// See [`FrameError`].
pub fn decode(chunk: &mut [u8]) -> Result<Frame<'_>, FrameError> {
    let len = cobs::decode_in_place(chunk).map_err(|_| FrameError::Cobs)?;
    let raw = chunk.get(..len).ok_or(FrameError::Cobs)?;
    if raw.len() < HEADER_LEN + TRAILER_LEN {
        return Err(FrameError::Short);
    }
    let (body, trailer) = raw.split_at(raw.len() - TRAILER_LEN);
    let crc = u32::from_le_bytes([trailer[0], trailer[1], trailer[2], trailer[3]]);
    if crc != CRC.checksum(body) {
        return Err(FrameError::Checksum);
    }
    let (head, payload) = body.split_at(HEADER_LEN);
    if usize::from(u16::from_le_bytes([head[6], head[7]])) != payload.len() {
        return Err(FrameError::Length);
    }
    Ok(Frame {
        kind: u16::from_le_bytes([head[0], head[1]]),
        seq: u32::from_le_bytes([head[2], head[3], head[4], head[5]]),
        payload,
    })
}
