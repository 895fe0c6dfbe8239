//! Lines of foreign text.

use std::borrow::Cow;

/// Longer lines are cut here, bytes.
pub const LONGEST_LINE: usize = 1 << 16;

/// The lines without line ends. Bytes that are not UTF-8 are replaced.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
    let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let none = lines.is_empty();
    lines.split(|b| *b == b'\n').filter(move |_| !none).map(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        String::from_utf8_lossy(&line[..line.len().min(LONGEST_LINE)])
    })
}
