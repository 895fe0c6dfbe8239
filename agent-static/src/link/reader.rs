//! The bytes of a host: plain, or decrypted.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::sys::socket::{MsgFlags, recv};
use profinfer_secure::hello::MAGIC;
use profinfer_secure::{Opener, Refusal};

#[derive(Debug)]
pub struct Reader {
    file: File,
    opener: Option<Opener>,
    /// The first bytes were the magic of a secure link, and no handshake took place.
    keyed: bool,
    begun: bool,
}

impl Reader {
    /// Reads a link, through `opener` if there is one.
    #[must_use]
    pub fn new(file: File, opener: Option<Opener>) -> Self {
        Self { file, opener, keyed: false, begun: false }
    }

    /// Returns bytes without consuming them. Works on connections only.
    ///
    /// # Errors
    /// As for `read`.
    pub fn peek(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.opener.is_none() {
            let n = recv(self.file.as_raw_fd(), bytes, MsgFlags::MSG_PEEK)?;
            self.note_magic(&bytes[..n]);
            return Ok(n);
        }
        let plain = self.open()?;
        let n = plain.len().min(bytes.len());
        bytes[..n].copy_from_slice(&plain[..n]);
        Ok(n)
    }

    /// The host uses a key, and the agent has none.
    #[must_use]
    pub fn came_with_key(&self) -> bool {
        self.keyed
    }

    /// Sends the reason, in the six bytes that a host with a key understands.
    pub fn refuse(&mut self, why: Refusal) {
        let _ = self.file.write_all(&why.to_bytes());
    }

    /// A second descriptor of the link, for writing.
    ///
    /// # Errors
    /// If the process has too many descriptors.
    pub fn writer(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    fn note_magic(&mut self, bytes: &[u8]) {
        if !std::mem::replace(&mut self.begun, true) {
            self.keyed = bytes.starts_with(&MAGIC);
        }
    }

    /// Decrypted bytes; empty at the end of the link.
    fn open(&mut self) -> io::Result<&[u8]> {
        let Some(opener) = &mut self.opener else { return Ok(&[]) };
        while opener.plain().is_empty() {
            let n = self.file.read(opener.room())?;
            if n == 0 {
                break;
            }
            opener.filled(n).map_err(|e| io::Error::new(ErrorKind::InvalidData, e))?;
        }
        Ok(opener.plain())
    }
}

impl Read for Reader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.opener.is_some() {
            let plain = self.open()?;
            let n = plain.len().min(bytes.len());
            bytes[..n].copy_from_slice(&plain[..n]);
            if let Some(opener) = &mut self.opener {
                opener.consume(n);
            }
            return Ok(n);
        }
        let n = self.file.read(bytes)?;
        self.note_magic(&bytes[..n]);
        Ok(n)
    }
}

impl AsFd for Reader {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
