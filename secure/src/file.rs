//! The key file. Agent and host read it by the same rules: nobody else on the machine may read it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::key::{Key, MAX_TEXT, TextError};

/// Why a key file is not taken.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be opened, read or written.
    #[error("{0}")]
    System(#[from] io::Error),
    /// Group or others have rights.
    #[error("its mode is {0:04o}: others than its owner have rights to it")]
    Open(u32),
    /// It is no file.
    #[error("it is not a file")]
    NoFile,
    /// Its text is no key.
    #[error("{0}")]
    Text(#[from] TextError),
}

impl FileError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::System(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                "a key is never overwritten; give another name, or remove the file first".to_owned()
            }
            Self::System(e) if e.kind() == io::ErrorKind::NotFound => {
                format!("make a key with `profinfer-agent keygen {path}` and copy it to agent and host")
            }
            Self::System(_) => "run it as the user whose file it is".to_owned(),
            Self::Open(_) => {
                format!("`chmod 600 {path}`; where others may have read it, make a new key instead")
            }
            Self::NoFile | Self::Text(_) => {
                "give the file that `profinfer-agent keygen` made, as it is".to_owned()
            }
        }
    }
}

/// Reads a key file.
///
/// # Errors
/// When it cannot be read, is no key, or others than its owner have rights to it.
pub fn read(path: &Path) -> Result<Key, FileError> {
    // What was opened is what is asked for its mode. A pipe without a writer would wait for ever.
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

/// Writes a new key file, for its owner alone.
///
/// # Errors
/// When there is a file of this name, or it cannot be written.
pub fn create(path: &Path, key: &Key) -> Result<(), FileError> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(key.text().as_bytes())?;
    Ok(file.sync_all()?)
}
