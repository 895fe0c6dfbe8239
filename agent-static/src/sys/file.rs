//! A file mapped read-only, so that looking at a library of 100 MB costs only the pages looked at.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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

/// How often pages are let go.
const PERIOD: Duration = Duration::from_millis(1);

/// Does `work` on mapped files while the pages that it looked at are let go all the time, so that a board's memory holds
/// what is looked at right now and not a library of 60 MB.
pub fn sparing<T>(maps: &[Mmap], work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Without it, only memory is lost.
        let _ = std::thread::Builder::new().spawn_scoped(scope, || {
            while !done.load(Ordering::Relaxed) {
                std::thread::sleep(PERIOD);
                maps.iter().for_each(let_go);
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

/// Lets the pages of a mapped file go from this process; they come back from the page cache when looked at.
fn let_go(map: &Mmap) {
    // SAFETY: The mapping is of a file, shared and read-only: dropping its pages changes nothing that can be read.
    // When the kernel refuses, they stay.
    let _ = unsafe { map.unchecked_advise(UncheckedAdvice::DontNeed) };
}
