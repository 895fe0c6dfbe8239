//! Huge pages for large blocks in memory. Columns are read in parallel, and with small pages each
//! step to another column is a page-table walk.
#![allow(unsafe_code, reason = "madvise of a block; the call states why it is sound")]

use std::ptr::NonNull;

use nix::sys::mman::{MmapAdvise, madvise};

/// Blocks of at least this size, bytes, hold several huge pages. The part that does not fill one is
/// less than one page at the end.
const LEAST: usize = 8 << 20;
/// The largest size of a small page.
const PAGE: usize = 1 << 16;

/// Requests huge pages for a block, if the system provides them on request (`madvise` in
/// /sys/kernel/mm/transparent_hugepage/enabled, as on most distributions). Without them everything
/// still works, so an error is ignored.
pub(crate) fn ask(block: *mut u8, size: usize) {
    if size < LEAST {
        return;
    }
    let skip = block.addr().next_multiple_of(PAGE) - block.addr();
    let Some(start) = NonNull::new(block.wrapping_add(skip)) else { return };
    // SAFETY: These pages belong to the block, whose owner has not seen it yet or is growing it.
    // Their contents stay.
    let _ = unsafe { madvise(start.cast(), (size - skip) / PAGE * PAGE, MmapAdvise::MADV_HUGEPAGE) };
}
