//! Tables that are larger than memory: an allocator whose large blocks lie in files of a folder.
//!
//! Stage: below all others. A program names [`Allocator`] as its `#[global_allocator]` and calls [`begin`] where it is told a
//! folder. From then on each block of at least [`LARGE`] bytes is a file there that has no name any more, mapped into memory: the kernel writes its
//! pages out when it needs the memory, and reads them when they are needed again. Without [`begin`], and below that size, blocks are the system
//! allocator's, with huge pages for the largest ones. Promises: tables and what is made of
//! them are the same with and without it, as no code but this knows of it; room on the disk is reserved before a block is handed out, so that
//! a full disk is an error and no fault of the bus; nothing stays behind, however the program ends.
//!
//! ```text
//! Vec, HashMap, … ─▶ Allocator ─┬─ less than LARGE, or not begun ─▶ the system's allocator
//!                               └─ else ─▶ blocks ─▶ one file without a name for each, mapped
//! ```

mod allocator;
mod blocks;
mod folder;
mod huge;

use std::io;
use std::path::Path;

pub use allocator::{Allocator, LARGE, begin, has_begun};

/// What is called when a block cannot be kept in the folder. It must end the program: there is no memory to go on with.
pub type OnFailure = fn(&Path, &io::Error) -> !;
