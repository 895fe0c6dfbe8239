//! Systems without files as memory: all blocks are those of the system allocator.

use std::io;
use std::path::Path;

pub use std::alloc::System as Allocator;

use super::OnFailure;

/// Large blocks in files of a folder.
///
/// # Errors
/// Always: this system does not have them.
pub fn begin(_: &Path, _: OnFailure) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux can keep tables in files"))
}

/// False.
#[must_use]
pub fn has_begun() -> bool {
    false
}
