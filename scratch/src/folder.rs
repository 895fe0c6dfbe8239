//! The folder of the blocks.

use std::fs::File;
use std::io;
use std::path::Path;

use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::statfs::{FsType, TMPFS_MAGIC, statfs};

/// `RAMFS_MAGIC` of include/uapi/linux/magic.h, which `nix` lacks.
const RAMFS_MAGIC: FsType = FsType(0x8584_58f6);

/// Checks that `folder` can hold blocks: it is on a disk whose file system can reserve space.
///
/// # Errors
/// If it does not exist, cannot be written, is in memory, or its file system cannot reserve space.
pub(crate) fn check(folder: &Path) -> io::Result<()> {
    let kind: FsType = statfs(folder)?.filesystem_type();
    if kind == TMPFS_MAGIC || kind == RAMFS_MAGIC {
        return Err(io::Error::other("this folder is in memory (tmpfs or ramfs)"));
    }
    file_of(folder, 1).map(drop)
}

/// A new unnamed, zero-filled file of `size` bytes, with its disk space reserved.
///
/// # Errors
/// If the folder cannot be written, or its disk is full.
pub(crate) fn file_of(folder: &Path, size: usize) -> io::Result<File> {
    let file = tempfile::tempfile_in(folder)?;
    reserve(&file, size)?;
    Ok(file)
}

/// Extends a file to `size` bytes; the new bytes are zero.
///
/// # Errors
/// If the disk is full.
pub(crate) fn reserve(file: &File, size: usize) -> io::Result<()> {
    let size = i64::try_from(size).map_err(io::Error::other)?;
    loop {
        match fallocate(file, FallocateFlags::empty(), 0, size) {
            Err(nix::Error::EINTR) => {}
            done => return Ok(done?),
        }
    }
}
