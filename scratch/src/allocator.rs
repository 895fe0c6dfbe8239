//! The allocator: which block lies where.
#![allow(unsafe_code, reason = "an allocator is; every block says why it is sound")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::OnFailure;
use super::blocks::Blocks;
use super::{folder, huge};

/// Bytes from which on a block is a file. Smaller ones are many, and short-lived; as a table has fewer than a hundred columns, its smaller blocks
/// take less than 100 MB.
pub const LARGE: usize = 1 << 20;
/// No page is smaller.
const PAGE: usize = 4096;

/// Set once, so that nothing is locked as long as it is not.
static BEGUN: AtomicBool = AtomicBool::new(false);
static SCRATCH: Mutex<Option<(Blocks, OnFailure)>> = Mutex::new(None);

/// From now on large blocks lie in files of `folder`. Those that there are already move there when they grow.
///
/// # Errors
/// The folder cannot be written, lies in memory itself, or its file system reserves no room; or it was begun already.
pub fn begin(folder: &Path, on_failure: OnFailure) -> io::Result<()> {
    folder::check(folder)?;
    let mut scratch = scratch();
    if scratch.is_some() {
        return Err(io::Error::other("large tables lie in another folder already"));
    }
    *scratch = Some((Blocks::new(folder.to_owned()), on_failure));
    BEGUN.store(true, Ordering::Release);
    Ok(())
}

/// What is done under this lock allocates little blocks only (a path, the list of blocks), which do not come here.
fn scratch() -> MutexGuard<'static, Option<(Blocks, OnFailure)>> {
    SCRATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Large blocks lie in files.
#[must_use]
pub fn has_begun() -> bool {
    BEGUN.load(Ordering::Acquire)
}

/// A block like this may be a file. Without [`begin`] none is.
fn may_be_file(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= PAGE && has_begun()
}

/// A new block in a file, all zero; `None`: it belongs to the system's allocator.
fn new_file(layout: Layout) -> Option<*mut u8> {
    if may_be_file(layout) { in_files(|blocks| Some(blocks.add(layout.size()))) } else { None }
}

/// The same block with another size; `None`: it is no file.
fn resized_file(block: *const u8, size: usize) -> Option<*mut u8> {
    in_files(|blocks| blocks.resize(block, size))
}

/// What is done with the blocks in files. A failure ends the program, outside of the lock, as it says why and may allocate for that.
fn in_files(what: impl FnOnce(&mut Blocks) -> Option<io::Result<*mut u8>>) -> Option<*mut u8> {
    let mut guard = scratch();
    let (blocks, on_failure) = guard.as_mut()?;
    let e = match what(blocks)? {
        Ok(block) => return Some(block),
        Err(e) => e,
    };
    let (folder, on_failure) = (blocks.folder().to_owned(), *on_failure);
    drop(guard);
    on_failure(&folder, &e)
}

fn is_file(block: *const u8) -> bool {
    scratch().as_ref().is_some_and(|(blocks, _)| blocks.has(block))
}

/// Whether it was one. What is given back goes outside of the lock, as it takes a while.
fn gave_back(block: *const u8) -> bool {
    let removed = scratch().as_mut().and_then(|(blocks, _)| blocks.remove(block));
    removed.is_some()
}

/// A block of the system's allocator, which may be null.
fn in_memory(block: *mut u8, size: usize) -> *mut u8 {
    huge::ask(block, size);
    block
}

/// Large blocks in files once [`begin`] was called, all others by the system's allocator.
#[derive(Debug, Clone, Copy, Default)]
pub struct Allocator;

// SAFETY: a block is a map of its own, as large as was asked for and with a page's alignment, or the system allocator's. Which of
// both is known by its address as long as it lives, and the one that made it takes it back. Nothing here panics: no
// index, no unwrap, and a failure ends the program.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        new_file(layout).unwrap_or_else(|| {
            // SAFETY: what the caller promises is what the system's allocator asks for.
            in_memory(unsafe { System.alloc(layout) }, layout.size())
        })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        new_file(layout).unwrap_or_else(|| {
            // SAFETY: as above.
            in_memory(unsafe { System.alloc_zeroed(layout) }, layout.size())
        })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if may_be_file(layout) && gave_back(block) {
            return;
        }
        // SAFETY: it is no file, so the system's allocator made it, with this layout.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that `size` with this alignment is a layout.
        let layout_of_new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let (may_be, becomes) = (may_be_file(layout), may_be_file(layout_of_new));
        if may_be
            && becomes
            && let Some(moved) = resized_file(block, size)
        {
            return moved;
        }
        if !(becomes || may_be && is_file(block)) {
            // SAFETY: neither was it a file, nor does it become one.
            return in_memory(unsafe { System.realloc(block, layout, size) }, size);
        }
        // SAFETY: `size` is not 0, as the caller promises.
        let new = unsafe { self.alloc(layout_of_new) };
        if !new.is_null() {
            // SAFETY: both are as long as that, and the new one is no part of the old one.
            unsafe { std::ptr::copy_nonoverlapping(block, new, layout.size().min(size)) };
            // SAFETY: it was allocated here with this layout and is not used any more.
            unsafe { self.dealloc(block, layout) };
        }
        new
    }
}
