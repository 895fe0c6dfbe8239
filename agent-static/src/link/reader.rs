//! What comes from a host: as it is, or out of the channel.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::sys::socket::{MsgFlags, recv};
use profinfer_secure::hello::MAGIC;
use profinfer_secure::{Opener, Refusal};

/// Bytes from a host.
#[derive(Debug)]
pub struct Reader {
    file: File,
    opener: Option<Opener>,
    /// The first bytes said that the host has a key, and no handshake took place.
    keyed: bool,
    begun: bool,
}

impl Reader {
    /// Reads a link, through the channel if there is one.
    #[must_use]
    pub fn new(file: File, opener: Option<Opener>) -> Self {
        Self { file, opener, keyed: false, begun: false }
    }

    /// Bytes that the next reads will give too. Of a connection only.
    ///
    /// # Errors
    /// As for reading.
    pub fn peek(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.opener.is_none() {
            let n = recv(self.file.as_raw_fd(), bytes, MsgFlags::MSG_PEEK)?;
            self.overhear(&bytes[..n]);
            return Ok(n);
        }
        let plain = self.open()?;
        let n = plain.len().min(bytes.len());
        bytes[..n].copy_from_slice(&plain[..n]);
        Ok(n)
    }

    /// The host came with a key, and there is none here.
    #[must_use]
    pub fn came_with_key(&self) -> bool {
        self.keyed
    }

    /// Says why there is no session, in the six bytes that a host with a key understands.
    pub fn refuse(&mut self, why: Refusal) {
        let _ = self.file.write_all(&why.to_bytes());
    }

    /// Another descriptor of the link, to write to.
    ///
    /// # Errors
    /// When the process has too many.
    pub fn writer(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    fn overhear(&mut self, bytes: &[u8]) {
        if !std::mem::replace(&mut self.begun, true) {
            self.keyed = bytes.starts_with(&MAGIC);
        }
    }

    /// Plain text of the channel; empty at its end.
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
        self.overhear(&bytes[..n]);
        Ok(n)
    }
}

impl AsFd for Reader {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
