//! The key file. Agent and host read it by the same rules: only its owner may have access.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::key::{Key, MAX_TEXT, TextError};

/// Why a key file is rejected.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be opened, read or written.
    #[error("{0}")]
    System(#[from] io::Error),
    /// Group or others have permissions.
    #[error("its mode is {0:04o}: other users have permissions for it")]
    Open(u32),
    /// It is not a regular file.
    #[error("it is not a file")]
    NoFile,
    /// Its text is not a key.
    #[error("{0}")]
    Text(#[from] TextError),
}

impl FileError {
    /// What to do about the error.
    #[must_use]
    pub fn help(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::System(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                "a key is never overwritten; choose another name, or remove the file first".to_owned()
            }
            Self::System(e) if e.kind() == io::ErrorKind::NotFound => {
                format!("make a key with `profinfer-agent keygen {path}` and copy it to agent and host")
            }
            Self::System(_) => "run it as the owner of the file".to_owned(),
            Self::Open(_) => {
                format!("run `chmod 600 {path}`; if others may have read it, make a new key instead")
            }
            Self::NoFile | Self::Text(_) => "use an unmodified file from `profinfer-agent keygen`".to_owned(),
        }
    }
}

///
/// # Errors
/// If the file cannot be read, is not a key, or grants permissions to other users.
pub fn read(path: &Path) -> Result<Key, FileError> {
    let mut options = OpenOptions::new();
    owner::never_blocks(options.read(true));
    let file = options.open(path)?;
    // Of the opened file.
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(FileError::NoFile);
    }
    owner::alone(&meta)?;
    let mut text = String::new();
    file.take(MAX_TEXT as u64 + 1).read_to_string(&mut text)?;
    Ok(Key::parse(&text)?)
}

/// Writes a new key file that only its owner can access.
///
/// # Errors
/// If the file exists or cannot be written.
pub fn create(path: &Path, key: &Key) -> Result<(), FileError> {
    let mut options = OpenOptions::new();
    owner::only(options.write(true).create_new(true));
    let mut file = options.open(path)?;
    file.write_all(key.text().as_bytes())?;
    Ok(file.sync_all()?)
}

/// Who has permissions for a file.
#[cfg(unix)]
mod owner {
    use std::fs::{Metadata, OpenOptions};
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

    use super::FileError;

    /// Opening a pipe without a writer would block.
    pub(super) fn never_blocks(options: &mut OpenOptions) {
        const O_NONBLOCK: i32 = if cfg!(target_os = "macos") { 0o4 } else { 0o4000 };
        options.custom_flags(O_NONBLOCK);
    }

    pub(super) fn only(options: &mut OpenOptions) {
        options.mode(0o600);
    }

    pub(super) fn alone(meta: &Metadata) -> Result<(), FileError> {
        if meta.mode() & 0o077 == 0 { Ok(()) } else { Err(FileError::Open(meta.mode() & 0o7777)) }
    }
}

/// Windows: a file has the permissions of its folder, and those of a user's folders are the user's alone.
#[cfg(windows)]
mod owner {
    use std::fs::{Metadata, OpenOptions};

    use super::FileError;

    pub(super) fn never_blocks(_: &mut OpenOptions) {}

    pub(super) fn only(_: &mut OpenOptions) {}

    pub(super) fn alone(_: &Metadata) -> Result<(), FileError> {
        Ok(())
    }
}
