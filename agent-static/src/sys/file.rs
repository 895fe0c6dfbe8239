//! A file mapped read-only, so that looking at a library of 100 MB costs only the pages looked at.

use std::fs::File;
use std::io;

use memmap2::Mmap;

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
