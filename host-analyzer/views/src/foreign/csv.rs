//! Text in a cell of a CSV file.

/// A cell, in quotes where it needs them. A text that a spreadsheet would take for a formula gets a `'` before it, which
/// spreadsheets read as "this is text": quotes alone keep none of them from running it. Readers that want the very text find it in
/// the Parquet file. Numbers do not come this way.
pub(crate) fn field(text: &str) -> String {
    // The wide forms count as the plain ones in some languages of the spreadsheet.
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '=', '+', '-', '@']);
    let plain = !formula && !text.contains(['"', ',', '\n', '\r']) && !text.starts_with(' ');
    let mark = if formula { "'" } else { "" };
    if plain { text.to_owned() } else { format!("\"{mark}{}\"", text.replace('"', "\"\"")) }
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
