//! Files of a simulated machine.

use std::fs;
use std::path::{Path, PathBuf};

/// Writes a file and creates its folders. An existing file is overwritten in place: a kernel file keeps
/// its identity when its text changes.
pub(crate) fn put(root: &Path, file: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let file = root.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    file
}
