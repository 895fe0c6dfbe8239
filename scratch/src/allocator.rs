//! The allocator: decides where a block is placed.
#![allow(unsafe_code, reason = "an allocator is unsafe; every block states why it is sound")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::OnFailure;
use super::blocks::Blocks;
use super::{folder, huge};

/// Blocks of at least this size, bytes, are files. Smaller blocks are many and short-lived. A table
/// has fewer than a hundred columns, so its smaller blocks use less than 100 MB.
pub const LARGE: usize = 1 << 20;
/// The smallest page size.
const PAGE: usize = 4096;

/// Set once, so that nothing is locked before [`begin`].
static BEGUN: AtomicBool = AtomicBool::new(false);
static SCRATCH: Mutex<Option<(Blocks, OnFailure)>> = Mutex::new(None);

/// From now on, large blocks are files in `folder`. Existing blocks move there when they grow.
///
/// # Errors
/// If the folder cannot be written or is in memory, if its file system cannot reserve space, or if
/// a folder was set before.
pub fn begin(folder: &Path, on_failure: OnFailure) -> io::Result<()> {
    folder::check(folder)?;
    let mut scratch = scratch();
    if scratch.is_some() {
        return Err(io::Error::other("a folder for large tables is already set"));
    }
    *scratch = Some((Blocks::new(folder.to_owned()), on_failure));
    BEGUN.store(true, Ordering::Release);
    Ok(())
}

/// Code under this lock allocates only small blocks (a path, the list of blocks), which do not come
/// here.
fn scratch() -> MutexGuard<'static, Option<(Blocks, OnFailure)>> {
    SCRATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// True after [`begin`].
#[must_use]
pub fn has_begun() -> bool {
    BEGUN.load(Ordering::Acquire)
}

/// True if such a block may be a file. Before [`begin`] none is.
fn may_be_file(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= PAGE && has_begun()
}

/// A new zero-filled block in a file. `None`: the system allocator must provide it.
fn new_file(layout: Layout) -> Option<*mut u8> {
    if may_be_file(layout) { in_files(|blocks| Some(blocks.add(layout.size()))) } else { None }
}

/// Resizes a block. `None`: it is not a file.
fn resized_file(block: *const u8, size: usize) -> Option<*mut u8> {
    in_files(|blocks| blocks.resize(block, size))
}

/// Runs `what` on the blocks in files. A failure ends the program, outside the lock, because
/// reporting the reason may allocate.
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

/// True if the block was a file. The file is dropped outside the lock, because that takes a while.
fn gave_back(block: *const u8) -> bool {
    let removed = scratch().as_mut().and_then(|(blocks, _)| blocks.remove(block));
    removed.is_some()
}

/// A block of the system allocator, which may be null.
fn in_memory(block: *mut u8, size: usize) -> *mut u8 {
    huge::ask(block, size);
    block
}

/// Puts large blocks into files after [`begin`], and leaves all others to the system allocator.
#[derive(Debug, Clone, Copy, Default)]
pub struct Allocator;

// SAFETY: A block is either a separate mapping of the requested size with page alignment, or a
// block of the system allocator. Its address identifies which one, as long as it lives, and the one
// that created it frees it. Nothing here panics: no index, no unwrap, and a failure ends the
// program.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        new_file(layout).unwrap_or_else(|| {
            // SAFETY: The caller promises what the system allocator requires.
            in_memory(unsafe { System.alloc(layout) }, layout.size())
        })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        new_file(layout).unwrap_or_else(|| {
            // SAFETY: As above.
            in_memory(unsafe { System.alloc_zeroed(layout) }, layout.size())
        })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if may_be_file(layout) && gave_back(block) {
            return;
        }
        // SAFETY: The block is not a file, so the system allocator created it, with this layout.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: The caller promises that `size` with this alignment is a layout.
        let layout_of_new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let (may_be, becomes) = (may_be_file(layout), may_be_file(layout_of_new));
        if may_be
            && becomes
            && let Some(moved) = resized_file(block, size)
        {
            return moved;
        }
        if !(becomes || may_be && is_file(block)) {
            // SAFETY: The block neither was a file nor becomes one.
            return in_memory(unsafe { System.realloc(block, layout, size) }, size);
        }
        // SAFETY: `size` is not 0, as the caller promises.
        let new = unsafe { self.alloc(layout_of_new) };
        if !new.is_null() {
            // SAFETY: Both blocks have this length, and the new one does not overlap the old one.
            unsafe { std::ptr::copy_nonoverlapping(block, new, layout.size().min(size)) };
            // SAFETY: The block was allocated here with this layout and is not used any more.
            unsafe { self.dealloc(block, layout) };
        }
        new
    }
}
