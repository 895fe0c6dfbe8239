//! Text in a cell of a CSV file.

use std::borrow::Cow;

/// A cell, in quotes if it needs them. A text that a spreadsheet would read as a formula gets a
/// leading `'`, which marks text in spreadsheets: quotes alone stop none of them from evaluating it.
/// The Parquet file has the unchanged text. Numbers do not pass through here.
pub(crate) fn field(text: &str) -> Cow<'_, str> {
    // In some languages, spreadsheets accept the full-width forms too.
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '=', '+', '-', '@']);
    let plain = !formula && !text.contains(['"', ',', '\n', '\r']) && !text.starts_with(' ');
    let mark = if formula { "'" } else { "" };
    if plain { text.into() } else { format!("\"{mark}{}\"", text.replace('"', "\"\"")).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_text() {
        assert_eq!(field("=HYPERLINK(\"http://x\")"), "\"'=HYPERLINK(\"\"http://x\"\")\"");
        for c in ["=", "+", "-", "@", "\t", "\r", "\n", "="] {
            assert_eq!(field(&format!("{c}1")), format!("\"'{c}1\""));
        }
    }

    #[test]
    fn names_stay_in_their_cell() {
        assert_eq!(field("a,\"b\"\r\nc"), "\"a,\"\"b\"\"\r\nc\"");
        assert_eq!([field("norm-0"), field(" x"), field("a=1"), field("")], ["norm-0", "\" x\"", "a=1", ""]);
    }
}
