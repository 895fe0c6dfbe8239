//! A write buffer.

use std::io::{self, Write};

/// Large enough that the cost of `dyn Write` per slice is negligible, small enough for the cache.
const FULL: usize = 128 * 1024;

/// Collects small pieces and writes large ones.
pub(super) struct Buffer<'a> {
    /// Bytes since the last write; append here.
    pub(super) bytes: Vec<u8>,
    out: &'a mut dyn Write,
}

impl<'a> Buffer<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { bytes: Vec::with_capacity(FULL + 4096), out }
    }

    /// Writes the bytes if there are enough. Call it between pieces.
    #[inline]
    pub(super) fn flush_if_full(&mut self) -> io::Result<()> {
        if self.bytes.len() >= FULL { self.flush() } else { Ok(()) }
    }

    /// Writes the rest.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}
