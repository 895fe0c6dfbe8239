//! Unsigned LEB128 integers of at most ten bytes, as postcard writes them, for the packed parts of
//! a record that postcard does not see.

/// Longest encoding of a `u64`, in bytes.
pub const MAX_LEN: usize = 10;

/// Appends `value` at `at` and returns the next free position, or `None` when `buf` is full.
#[must_use]
pub fn put(buf: &mut [u8], mut at: usize, mut value: u64) -> Option<usize> {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        *buf.get_mut(at)? = if value == 0 { low } else { low | 0x80 };
        at += 1;
        if value == 0 {
            return Some(at);
        }
    }
}

/// Reads one integer from the front of `buf`; `None` when it is cut, longer than ten bytes or does
/// not fit 64 bits.
#[must_use]
pub fn take(buf: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for (i, byte) in buf.iter().copied().enumerate().take(MAX_LEN) {
        if i == MAX_LEN - 1 && byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            *buf = &buf[i + 1..];
            return Some(value);
        }
    }
    None
}

/// Maps a signed integer to an unsigned one. Small absolute values stay small.
#[must_use]
pub const fn zigzag(v: i64) -> u64 {
    ((v << 1) ^ (v >> 63)).cast_unsigned()
}

/// The inverse of [`zigzag`].
#[must_use]
pub const fn unzigzag(v: u64) -> i64 {
    (v >> 1).cast_signed() ^ -((v & 1).cast_signed())
}
