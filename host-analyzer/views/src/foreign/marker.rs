//! Text in a line of ftrace.

use super::line::one_line;

/// Foreign text in a marker: it cannot begin a new line or a new field.
pub(crate) fn marker(text: &str) -> String {
    one_line(text).replace('|', "\u{a6}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_field() {
        assert_eq!(
            marker("a|1\nb-2 [000] 1.0: tracing_mark_write: E|1"),
            "a¦1\u{fffd}b-2 [000] 1.0: tracing_mark_write: E¦1"
        );
    }
}
