//! An engine's memory. The handle belongs to the program that ran when it was opened: after an exec
//! it reaches nothing.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

use nix::sys::ptrace;
use nix::unistd::Pid;

#[derive(Debug)]
pub(super) struct Memory(File);

impl Memory {
    pub(super) fn open(pid: u32) -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem")).map(Self)
    }

    pub(super) const fn file(&self) -> &File {
        &self.0
    }

    /// Fills `to` from `at`; false if not all of it is mapped.
    pub(super) fn read(&self, at: u64, to: &mut [u8]) -> bool {
        self.0.read_exact_at(to, at).is_ok()
    }

    /// The mapped bytes from `at`, at most `most`.
    pub(super) fn some(&self, at: u64, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; most];
        let n = self.0.read_at(&mut bytes, at).unwrap_or(0);
        bytes.truncate(n);
        bytes
    }

    pub(super) fn word(&self, at: u64) -> Option<u64> {
        let mut word = [0; 8];
        self.read(at, &mut word).then(|| u64::from_ne_bytes(word))
    }

    /// Writes data. Use [`Self::poke`] for code.
    pub(super) fn write(&self, at: u64, from: &[u8]) -> io::Result<()> {
        self.0.write_all_at(from, at)
    }

    /// Writes with ptrace, which may write to code and flushes the instruction cache if needed. The
    /// thread must be stopped. Up to eight bytes of one page are written in one step: if the agent
    /// dies, either all of them are changed or none.
    pub(super) fn poke(&self, tid: i32, at: u64, from: &[u8]) -> io::Result<()> {
        const WORD: u64 = 8;
        const PAGE: u64 = 4096;
        let mut done = 0;
        while done < from.len() {
            let here = at + done as u64;
            // A word within one page that covers as many of the bytes as possible.
            let page_end = (here / PAGE + 1) * PAGE;
            let word_at = here.min(page_end - WORD);
            let skip = usize::try_from(here - word_at).unwrap_or(0);
            let n = (8 - skip).min(from.len() - done);
            let mut word = [0; 8];
            if n < 8 && !self.read(word_at, &mut word) {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
            word[skip..skip + n].copy_from_slice(&from[done..done + n]);
            let address = std::ptr::without_provenance_mut(usize::try_from(word_at).unwrap_or(0));
            ptrace::write(Pid::from_raw(tid), address, i64::from_ne_bytes(word))?;
            done += n;
        }
        Ok(())
    }

    /// Like [`Self::poke`], but word by word from the last to the first. If the agent dies in
    /// between, the beginning of the old content remains.
    pub(super) fn poke_backwards(&self, tid: i32, at: u64, from: &[u8]) -> io::Result<()> {
        from.chunks(8).enumerate().rev().try_for_each(|(n, word)| self.poke(tid, at + 8 * n as u64, word))
    }
}
