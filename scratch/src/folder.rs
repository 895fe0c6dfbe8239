//! The folder in which blocks lie.

use std::fs::File;
use std::io;
use std::path::Path;

use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::statfs::{FsType, TMPFS_MAGIC, statfs};

/// Linux' `RAMFS_MAGIC` (include/uapi/linux/magic.h), which the library does not name.
const RAMFS_MAGIC: FsType = FsType(0x8584_58f6);

/// Whether blocks can lie in `folder`: it is on a disk that reserves room for files.
///
/// # Errors
/// It is not there, cannot be written, lies in memory itself, or its file system reserves no room.
pub(crate) fn check(folder: &Path) -> io::Result<()> {
    let kind: FsType = statfs(folder)?.filesystem_type();
    if kind == TMPFS_MAGIC || kind == RAMFS_MAGIC {
        return Err(io::Error::other("this folder lies in memory itself"));
    }
    file_of(folder, 1).map(drop)
}

/// A new file of `size` bytes, all zero, with its room on the disk reserved, and without a name.
///
/// # Errors
/// The folder cannot be written, or its disk has no room.
pub(crate) fn file_of(folder: &Path, size: usize) -> io::Result<File> {
    let file = tempfile::tempfile_in(folder)?;
    reserve(&file, size)?;
    Ok(file)
}

/// Makes a file `size` bytes long; what is new is zero.
///
/// # Errors
/// The disk has no room.
pub(crate) fn reserve(file: &File, size: usize) -> io::Result<()> {
    let size = i64::try_from(size).map_err(io::Error::other)?;
    loop {
        match fallocate(file, FallocateFlags::empty(), 0, size) {
            Err(nix::Error::EINTR) => {}
            done => return Ok(done?),
        }
    }
}
