//! `N=FILE`: files that belong to one of several recordings.

use std::path::PathBuf;
use std::str::FromStr;

/// A file that belongs to the recording with this number, counted from 1.
#[derive(Debug, Clone)]
pub(crate) struct Numbered {
    pub(crate) number: usize,
    pub(crate) file: PathBuf,
}

impl FromStr for Numbered {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (number, file) =
            text.split_once('=').ok_or("give the recording's number and the file, as 2=engine.log")?;
        let number = number.parse().ok().filter(|n| *n > 0);
        let number = number.ok_or("recordings are counted from 1, as in 1=engine.log")?;
        Ok(Self { number, file: file.into() })
    }
}
