//! Huge pages for large blocks in memory: columns are read one beside the other, and with small pages each step to another column is a walk of
//! the page tables.
#![allow(unsafe_code, reason = "the kernel is told of a block; the call says why it is sound")]

use std::ptr::NonNull;

use nix::sys::mman::{MmapAdvise, madvise};

/// Bytes from which on a block holds some huge pages. What is not full of them wastes less than one at its end.
const LEAST: usize = 8 << 20;
/// No machine has larger small pages.
const PAGE: usize = 1 << 16;

/// Asks for huge pages in a block, where the system gives them to who asks (`madvise` in /sys/kernel/mm/transparent_hugepage/enabled, as most
/// distributions have it). Without them all is as before, so nothing is said.
pub(crate) fn ask(block: *mut u8, size: usize) {
    if size < LEAST {
        return;
    }
    let skip = block.addr().next_multiple_of(PAGE) - block.addr();
    let Some(start) = NonNull::new(block.wrapping_add(skip)) else { return };
    // SAFETY: these pages are the block's, whose owner has not seen it yet or is growing it; what is in them stays.
    let _ = unsafe { madvise(start.cast(), (size - skip) / PAGE * PAGE, MmapAdvise::MADV_HUGEPAGE) };
}
