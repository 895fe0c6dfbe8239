//! A file mapped read-only, so that looking at a library of 100 MB costs only the pages looked at.

use std::fs::File;
use std::io;

use memmap2::{Mmap, UncheckedAdvice};

/// Maps `file`.
///
/// # Errors
/// What mmap(2) answers; an empty file cannot be mapped.
pub fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: The bytes are only read, as foreign data in which any value is possible. A file cut short
    // by another process while it is mapped raises SIGBUS, which ends the agent; the kernel then removes
    // its probes, so the engine is unharmed.
    unsafe { Mmap::map(file) }
}

/// Lets the pages of a mapped file go from this process; they come back from the page cache when looked at.
pub fn let_go(map: &Mmap) {
    // SAFETY: The mapping is of a file, shared and read-only: dropping its pages changes nothing that can be read.
    // When the kernel refuses, they stay.
    let _ = unsafe { map.unchecked_advise(UncheckedAdvice::DontNeed) };
}
