//! Tables larger than memory: an allocator that puts large blocks into files of a folder.
//!
//! Stage: below all others. A program sets [`Allocator`] as its `#[global_allocator]`, and calls
//! [`begin`] with a folder. From then on, each block of at least [`LARGE`] bytes is an unnamed file
//! in that folder, mapped into memory. The kernel writes its pages out when it needs the memory,
//! and reads them back when they are used again. Without [`begin`], and below that size, the system
//! allocator provides the blocks, with huge pages for the largest ones.
//! Promises: the results are the same with and without it, because no other code knows of it. Disk
//! space is reserved before a block is returned, so that a full disk is an error and not a SIGBUS.
//! No file remains, however the program ends. Only Linux has what this needs; elsewhere [`begin`] is an error.
//!
//! ```text
//! Vec, HashMap, … ─▶ Allocator ─┬─ less than LARGE, or not begun ─▶ system allocator
//!                               └─ else ─▶ blocks ─▶ one unnamed file each, mapped
//! ```

#[cfg(target_os = "linux")]
mod allocator;
#[cfg(target_os = "linux")]
mod blocks;
#[cfg(target_os = "linux")]
mod folder;
#[cfg(target_os = "linux")]
mod huge;
#[cfg(not(target_os = "linux"))]
mod none;

use std::io;
use std::path::Path;

#[cfg(target_os = "linux")]
pub use allocator::{Allocator, LARGE, begin, has_begun};
#[cfg(not(target_os = "linux"))]
pub use none::{Allocator, begin, has_begun};

/// Called if a block cannot be kept in the folder. It must end the program: there is no memory to
/// continue with.
pub type OnFailure = fn(&Path, &io::Error) -> !;
