//! Words for a shell: of this machine, to show a command; of the board, to run one.

/// What a connection does to the text of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// Nothing.
    Intact,
    /// hdc removes all double quotes. The board's shell makes them again.
    NoDoubleQuotes,
}

impl Quoting {
    /// The word, in quotes only where necessary.
    pub(crate) fn word(self, word: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            return word.to_owned();
        }
        let word = word.replace('\'', r"'\''");
        match self {
            Self::Intact => format!("'{word}'"),
            Self::NoDoubleQuotes => format!("'{}'", word.replace('"', r"'$(printf '\042')'")),
        }
    }

    /// The words as one line.
    pub(crate) fn line<W: AsRef<str>>(self, words: impl IntoIterator<Item = W>) -> String {
        words.into_iter().map(|word| self.word(word.as_ref())).collect::<Vec<_>>().join(" ")
    }
}

/// A command as a person would type it on this machine.
pub(crate) fn shown<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    Quoting::Intact.line(words)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::Quoting;

    const WORDS: [&str; 12] = [
        "",
        "plain-word_1.0/x:y,z@%+=",
        "two  words",
        "it's",
        "a \"quoted\" word",
        "$HOME `id` $(id) \\ \\n",
        "'",
        "\"",
        "*?[a]~#;&|<>(){}!",
        "'\"'\"",
        "line\nbreak\ttab",
        "ä€",
    ];

    /// What a real shell makes of the line is the words again.
    fn words_in_shell(line: &str) -> Vec<String> {
        let script = format!("for w in {line}; do printf '%s\\0' \"$w\"; done");
        let output = Command::new("sh").args(["-c", &script]).output().expect("there is a sh");
        let text = String::from_utf8(output.stdout).expect("the words are UTF-8");
        text.split_terminator('\0').map(str::to_owned).collect()
    }

    #[test]
    fn a_shell_reads_the_same_words() {
        let line = Quoting::Intact.line(WORDS);
        assert_eq!(words_in_shell(&line), WORDS);
        let line = Quoting::NoDoubleQuotes.line(WORDS);
        assert!(!line.contains('"'), "hdc would remove it: {line}");
        assert_eq!(words_in_shell(&line), WORDS);
    }

    #[test]
    fn a_line_within_a_line() {
        for quoting in [Quoting::Intact, Quoting::NoDoubleQuotes] {
            let inner = format!("for w in {}; do printf '%s\\n' $w; done", quoting.word("a  \"b\""));
            let outer = quoting.line(["sh", "-c", &inner]);
            let output = Command::new("sh").args(["-c", &outer]).output().expect("there is a sh");
            assert_eq!(String::from_utf8_lossy(&output.stdout), "a\n\"b\"\n");
        }
    }

    #[test]
    fn words_without_a_meaning_stay() {
        assert_eq!(
            Quoting::Intact.line(["adb", "-s", "10.0.0.1:5555", "shell", "id -u"]),
            "adb -s 10.0.0.1:5555 shell 'id -u'"
        );
    }
}
