//! Text on one line, for people.

/// Foreign text on one line. A character that could control a terminal, break a format, or change the
/// visible order of text becomes the replacement character.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Neither a control character nor an invisible one that changes how others are shown.
pub(super) fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            // Order of writing: marks, embeddings, overrides, isolates.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Ends of line and of paragraph.
            | '\u{2028}' | '\u{2029}'
            // Zero width: two different names would look alike. Joiners stay: some scripts need them.
            | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            // Tags, an invisible alphabet.
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_characters() {
        assert_eq!(one_line("a\u{1b}[31m\nb\u{7f}\u{9b}ü"), "a\u{fffd}[31m\u{fffd}b\u{fffd}\u{fffd}ü");
    }

    #[test]
    fn escapes_bidi_and_invisible() {
        assert_eq!(
            one_line("a\u{202e}b\u{2066}c\u{200f}d\u{2028}e"),
            "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e"
        );
        assert_eq!(one_line("blk\u{200b}.\u{e0041}0"), "blk\u{fffd}.\u{fffd}0");
    }

    #[test]
    fn names_stay() {
        let names = "blk.0.attn_q.weight é漢🦀 שלום 👩\u{200d}💻 <b>&\"'";
        assert_eq!(one_line(names), names);
    }
}
