//! Reads small kernel files. No file is trusted to be short, to be text, or to exist.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use nix::unistd::{SysconfVar, sysconf};

/// Longest text of a file that is read as one value, in bytes.
const SHORT: u64 = 4096;

/// Joins `root` and an absolute path.
pub(super) fn at(root: &Path, path: &str) -> std::path::PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// Why a file has no value, as text for an absent fact.
pub(super) fn why(path: &str, e: &io::Error) -> String {
    match e.kind() {
        ErrorKind::NotFound => format!("there is no {path}"),
        _ => format!("reading {path}: {e}"),
    }
}

/// The trimmed text of a small file.
pub(super) fn text(root: &Path, path: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = File::open(at(root, path)).and_then(|f| f.take(SHORT).read_to_end(&mut bytes));
    read.map_err(|e| why(path, &e))?;
    // The device tree ends its texts with a zero.
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned())
}

/// The integer in a small file.
pub(super) fn integer(root: &Path, path: &str) -> Result<u64, String> {
    let text = text(root, path)?;
    text.parse().map_err(|_| format!("{path} is not a number"))
}

/// A file that is read repeatedly; reading it allocates nothing.
#[derive(Debug)]
pub(in crate::observe) struct Open(File);

impl Open {
    pub(in crate::observe) fn new(root: &Path, path: &str) -> Result<Self, String> {
        File::open(at(root, path)).map(Self).map_err(|e| why(path, &e))
    }

    /// Reads the first bytes of the file into `buffer`.
    pub(in crate::observe) fn read<'b>(&self, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
        let len = self.0.read_at(buffer, 0)?;
        Ok(buffer.get(..len).unwrap_or_default())
    }
}

/// The text after `key` on the line that begins with it.
pub(in crate::observe) fn field<'t>(text: &'t [u8], key: &str) -> Option<&'t [u8]> {
    text.split(|b| *b == b'\n').find_map(|line| line.strip_prefix(key.as_bytes())).map(<[u8]>::trim_ascii)
}

pub(in crate::observe) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// An unsigned integer.
pub(in crate::observe) fn number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()
}

/// Bytes from a value in KiB after `key`: `MemTotal:  8048836 kB`.
pub(super) fn kib(text: &[u8], key: &str) -> Option<u64> {
    words(field(text, key)?).next().and_then(number)?.checked_mul(1024)
}

/// A setting of the kernel.
pub(in crate::observe) fn configured(of: SysconfVar, usual: u64) -> u64 {
    sysconf(of).ok().flatten().and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0).unwrap_or(usual)
}

/// ns of clock ticks.
pub(in crate::observe) fn ticks(n: u64) -> u64 {
    n.saturating_mul(1_000_000_000 / configured(SysconfVar::CLK_TCK, 100))
}

/// Word `nth` of /proc/PID/stat after the name, which may contain anything; the state is word 0.
pub(in crate::observe) fn stat(text: &[u8], nth: usize) -> Option<&[u8]> {
    let at = text.windows(2).rposition(|w| w == b") ")?;
    words(text.get(at + 2..)?).nth(nth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_numbers() {
        let text = b"MemTotal:  100 kB\nMemAvailable:     7 kB\nBad:  -1 kB\nHuge: 99999999999999999999 kB\n";
        assert_eq!(kib(text, "MemTotal:"), Some(102_400));
        assert_eq!(kib(text, "MemAvailable:"), Some(7168));
        assert_eq!([kib(text, "Bad:"), kib(text, "Huge:"), kib(text, "SwapTotal:")], [None; 3]);
        assert_eq!([number(b""), number(b"+1"), number(b"1 ")], [None; 3]);
    }

    #[test]
    fn a_process_may_be_called_anything() {
        let text = b"42 (a) S 7 (b) R) R 1 2 3";
        assert_eq!(stat(text, 0), Some(&b"R"[..]));
        assert_eq!(stat(text, 3), Some(&b"3"[..]));
        assert_eq!(stat(text, 4), None);
        assert_eq!(stat(b"42", 0), None);
    }
}
