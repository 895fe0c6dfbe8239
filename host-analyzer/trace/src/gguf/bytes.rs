//! The bytes of a header, with limits: no more than there are, each read once.

use std::io::{self, Read};

use super::{Error, MOST_HEADER, MOST_KEPT};

/// The rest of a header.
pub(super) struct Bytes<'a> {
    source: &'a mut dyn Read,
    /// Bytes read.
    at: u64,
    /// Bytes that may be read: of the file, or of a header.
    end: u64,
    /// Bytes that may still be kept.
    room: u64,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(source: &'a mut dyn Read, file_bytes: u64) -> Self {
        Self { source, at: 0, end: file_bytes.min(MOST_HEADER), room: MOST_KEPT }
    }

    /// Bytes read so far.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// Checks that this many bytes are left, before they are read or space is reserved for them.
    fn has(&self, n: u64) -> Result<(), Error> {
        if n > self.end - self.at { Err(Error::Ends(self.end)) } else { Ok(()) }
    }

    fn fill(&mut self, into: &mut [u8]) -> Result<(), Error> {
        self.has(into.len() as u64)?;
        self.source.read_exact(into).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => Error::Ends(self.at),
            _ => Error::Read(e),
        })?;
        self.at += into.len() as u64;
        Ok(())
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Skips this many bytes.
    pub(super) fn skip(&mut self, n: u64) -> Result<(), Error> {
        self.has(n)?;
        let mut left = n;
        let mut buffer = [0; 4096];
        while left > 0 {
            let now = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            self.fill(&mut buffer[..now])?;
            left -= now as u64;
        }
        Ok(())
    }

    /// Reserves space for this many bytes that are kept.
    pub(super) fn keep(&mut self, n: u64) -> Result<(), Error> {
        self.room = self.room.checked_sub(n).ok_or(Error::Large)?;
        Ok(())
    }

    /// A text with its length before it, at most this many bytes.
    pub(super) fn text(&mut self, what: &'static str, most: u64) -> Result<String, Error> {
        let n = self.u64()?;
        if n > most {
            return Err(Error::Long { what, bytes: n });
        }
        self.kept_text(what, n)
    }

    /// The text in this many bytes.
    pub(super) fn kept_text(&mut self, what: &'static str, n: u64) -> Result<String, Error> {
        self.has(n)?;
        self.keep(n)?;
        let mut bytes = vec![0; usize::try_from(n).map_err(|_| Error::Long { what, bytes: n })?];
        self.fill(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| Error::NotText(what))
    }
}
