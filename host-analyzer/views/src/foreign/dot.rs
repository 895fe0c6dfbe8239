//! Text in the DOT language.

use super::line::is_plain;

/// A quoted string. Backslashes are doubled, because DOT reads `\N` as the node's name. Line breaks,
/// which are ours, become `\n`; other control characters become the replacement character.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // Entities are resolved even in plain labels.
            '&' => out.push_str("&amp;"),
            '\n' => out.push_str("\\n"),
            c if is_plain(c) => out.push(c),
            _ => out.push(char::REPLACEMENT_CHARACTER),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_quotes() {
        assert_eq!(quoted("a\"];b\\N\u{1b}\u{0}ü&lt;"), "\"a\\\"];b\\\\N\u{fffd}\u{fffd}ü&amp;lt;\"");
    }
}
