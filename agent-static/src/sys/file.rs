//! Files mapped read-only: a library of 100 MB costs only the pages that are read.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memmap2::{Mmap, UncheckedAdvice};

///
/// # Errors
/// The error of mmap(2). An empty file cannot be mapped.
pub fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: The bytes are only read, as untrusted data in which any value is possible. If another
    // process truncates the file while it is mapped, SIGBUS ends the agent. The kernel then removes
    // its probes, so the engine is unharmed.
    unsafe { Mmap::map(file) }
}

/// How often pages are released.
const PERIOD: Duration = Duration::from_millis(1);

/// Runs `work` on mapped files, and releases the pages that it read all the time. So the memory of
/// a board holds what is being read, not a library of 60 MB.
pub fn sparing<T>(maps: &[Mmap], work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // If the thread cannot start, only more memory is used.
        let _ = std::thread::Builder::new().spawn_scoped(scope, || {
            while !done.load(Ordering::Relaxed) {
                std::thread::sleep(PERIOD);
                maps.iter().for_each(release);
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

/// Releases the pages of a mapped file. They come from the page cache when they are read again.
fn release(map: &Mmap) {
    // SAFETY: The mapping is of a file, shared and read-only: dropping its pages changes nothing
    // that can be read. If the kernel refuses, they stay.
    let _ = unsafe { map.unchecked_advise(UncheckedAdvice::DontNeed) };
}
