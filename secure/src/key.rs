//! The key of a board, and its text format.
//!
//! ```text
//! profinfer-key 1
//! NAME OF THE BOARD
//! 64 hexadecimal digits
//! ```

use std::fmt;

use crate::error::Error;

/// Length of a key, bytes.
pub const KEY_LEN: usize = 32;
/// Maximum length of a board name, bytes.
pub const MAX_BOARD: usize = 64;
/// Maximum length of the text of a key, bytes.
pub const MAX_TEXT: usize = FORMAT.len() + MAX_BOARD + 2 * KEY_LEN + 6;

const FORMAT: &str = "profinfer-key 1";

#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    board: String,
    secret: [u8; KEY_LEN],
}

/// Why a text is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The first line is not the format line.
    #[error("the first line is not `{}`", FORMAT)]
    Format,
    /// The second line is not a board name.
    #[error(
        "the second line is not a board name: 1 to {MAX_BOARD} letters, digits, `-`, `_`, `.`, `:` or `@`"
    )]
    Board,
    /// The third line is not a key.
    #[error("the third line is not a key of 64 hexadecimal digits")]
    Digits,
    /// There are more than three lines.
    #[error("there are more than three lines")]
    More,
}

impl Key {
    /// A key for a board.
    ///
    /// # Errors
    /// If the name is empty, too long, or has characters that neither a host name nor an address
    /// has.
    pub fn new(board: &str, secret: [u8; KEY_LEN]) -> Result<Self, TextError> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.:@".contains(&b);
        if board.is_empty() || board.len() > MAX_BOARD || !board.bytes().all(plain) {
            return Err(TextError::Board);
        }
        Ok(Self { board: board.to_owned(), secret })
    }

    /// A new secret from the random bytes of the system.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn secret() -> Result<[u8; KEY_LEN], Error> {
        let mut secret = [0; KEY_LEN];
        getrandom::fill(&mut secret).map_err(|_| Error::Random)?;
        Ok(secret)
    }

    /// Parses the text of a key file.
    ///
    /// # Errors
    /// The line that is wrong.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let mut lines = text.lines();
        if lines.next() != Some(FORMAT) {
            return Err(TextError::Format);
        }
        let (board, digits) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let key = Self::new(board, secret_of(digits).ok_or(TextError::Digits)?)?;
        lines.next().map_or(Ok(key), |_| Err(TextError::More))
    }

    /// The text of the key file.
    #[must_use]
    pub fn text(&self) -> String {
        use fmt::Write as _;
        let mut text = format!("{FORMAT}\n{}\n", self.board);
        for byte in self.secret {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
        text
    }

    /// The name of the board.
    #[must_use]
    pub fn board(&self) -> &str {
        &self.board
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_LEN] {
        &self.secret
    }
}

/// The secret must not appear in logs.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("board", &self.board).finish_non_exhaustive()
    }
}

fn secret_of(digits: &str) -> Option<[u8; KEY_LEN]> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let mut secret = [0; KEY_LEN];
    if pairs.len() != KEY_LEN || !rest.is_empty() {
        return None;
    }
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
    for (byte, [high, low]) in secret.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(secret)
}
