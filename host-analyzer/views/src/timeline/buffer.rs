//! Bytes on their way to a writer.

use std::io::{self, Write};

/// Large enough that a `dyn Write` costs nothing per slice, small enough for the cache.
const FULL: usize = 128 * 1024;

/// Collects small pieces and writes large ones.
pub(crate) struct Buffer<'a> {
    /// The bytes since the last write; append here.
    pub(crate) bytes: Vec<u8>,
    out: &'a mut dyn Write,
}

impl<'a> Buffer<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self { bytes: Vec::with_capacity(FULL + 4096), out }
    }

    /// To be called between pieces: writes when enough has come together.
    #[inline]
    pub(crate) fn flush_if_full(&mut self) -> io::Result<()> {
        if self.bytes.len() >= FULL { self.flush() } else { Ok(()) }
    }

    /// Writes the rest.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}
