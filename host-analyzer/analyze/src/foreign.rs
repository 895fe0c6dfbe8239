//! What a file or a port has that is no stream: users mistake other files for a recording, and other
//! programs' ports for the agent's.

/// The beginnings of files, what they are, and what to do.
const KINDS: [(&[u8], &str, &str); 9] = [
    (
        b"GGUF",
        "a model (GGUF)",
        "record an engine that runs it: `analyze push --help`; `analyze predict` estimates its speed",
    ),
    (
        b"\x7fELF",
        "a program (ELF)",
        "give a recording (.pfi); `analyze engine FILE` shows where an engine can be probed",
    ),
    (b"PAR1", "a table (Parquet)", IN_FOLDER),
    (b"<!doctype html", "a web page", IN_FOLDER),
    (b"<html", "a web page", IN_FOLDER),
    (b"{", "JSON", IN_FOLDER),
    (b"PK\x03\x04", "an archive (zip)", UNPACK),
    (b"\x1f\x8b", "a compressed file (gzip)", UNPACK),
    (b"\x28\xb5\x2f\xfd", "a compressed file (zstd)", UNPACK),
];

const IN_FOLDER: &str = "give the recording: recording.pfi in the same folder, unless it was moved";
const UNPACK: &str = "unpack it, and give the recording (.pfi) in it";

/// Bytes from which what is no recording can be recognised.
pub(crate) const FIRST: usize = 256;

/// Most characters of a text that are quoted.
const QUOTED: usize = 60;

/// What begins with these bytes, and what to do about it; `None` if that is unknown.
pub(crate) fn kind(first: &[u8]) -> Option<(&'static str, &'static str)> {
    let begins = |with: &[u8]| first.get(..with.len()).is_some_and(|first| first.eq_ignore_ascii_case(with));
    KINDS.iter().find(|(with, ..)| begins(with)).map(|(_, what, help)| (*what, *help))
}

/// The first line, if it is text.
pub(crate) fn line(first: &[u8]) -> Option<String> {
    let line = first.split(|b| matches!(b, b'\n' | b'\r')).find(|line| !line.is_empty())?;
    let text: String = String::from_utf8_lossy(line).chars().take(QUOTED).collect();
    (!text.chars().any(|c| c.is_control() || c == char::REPLACEMENT_CHARACTER)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_recording() {
        assert_eq!(kind(b"GGUF\x03\0\0\0").map(|(what, _)| what), Some("a model (GGUF)"));
        assert_eq!(kind(b"<!DOCTYPE html>").map(|(what, _)| what), Some("a web page"));
        assert_eq!((kind(b"GGU"), kind(b"")), (None, None));
        assert_eq!(line(b"SSH-2.0-OpenSSH_9.2\r\n").as_deref(), Some("SSH-2.0-OpenSSH_9.2"));
        assert_eq!((line(b"\x01\x02"), line(b"\n")), (None, None));
    }
}
