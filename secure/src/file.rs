//! The key file. Agent and host read it by the same rules: only its owner may have access.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
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
    // The mode is that of the opened file. O_NONBLOCK: opening a pipe without a writer would block.
    const O_NONBLOCK: i32 = 0o4000;
    let file = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(FileError::NoFile);
    }
    if meta.mode() & 0o077 != 0 {
        return Err(FileError::Open(meta.mode() & 0o7777));
    }
    let mut text = String::new();
    file.take(MAX_TEXT as u64 + 1).read_to_string(&mut text)?;
    Ok(Key::parse(&text)?)
}

/// Writes a new key file with mode 0600.
///
/// # Errors
/// If the file exists or cannot be written.
pub fn create(path: &Path, key: &Key) -> Result<(), FileError> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(key.text().as_bytes())?;
    Ok(file.sync_all()?)
}
