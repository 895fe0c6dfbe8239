//! Lists of CPUs, as the kernel writes them: `0-3,6`.

use std::fmt;

use serde::Deserialize;

/// Highest CPU number that is accepted.
const MAX_CPU: u32 = 1023;

/// CPU numbers, ascending, each once.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Cpus(Vec<u32>);

impl Cpus {
    /// The numbers.
    #[must_use]
    pub fn numbers(&self) -> &[u32] {
        &self.0
    }
}

impl TryFrom<String> for Cpus {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong =
            |why: &str| format!("`{text}` is not a list of CPUs: {why}; write it as `0-3` or `4,6-7`");
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let number =
                |t: &str| t.trim().parse::<u32>().map_err(|_| wrong(&format!("`{t}` is not a number")));
            let (from, to) = (number(from)?, number(to)?);
            if from > to || to > MAX_CPU {
                return Err(wrong(&format!("`{part}` is descending, or beyond CPU {MAX_CPU}")));
            }
            if cpus.last().is_some_and(|last| *last >= from) {
                return Err(wrong("the numbers are not in ascending order"));
            }
            cpus.extend(from..=to);
        }
        Ok(Self(cpus))
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        while let Some(first) = rest.first() {
            let run = rest.iter().zip(*first..).take_while(|(a, b)| **a == *b).count();
            let comma = if rest.len() == self.0.len() { "" } else { "," };
            match run {
                1 => write!(f, "{comma}{first}")?,
                _ => write!(f, "{comma}{first}-{}", rest[run - 1])?,
            }
            rest = &rest[run..];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Cpus;

    #[test]
    fn lists() {
        for text in ["0", "0-3", "0,2", "4,6-7"] {
            let cpus = Cpus::try_from(text.to_owned()).expect(text);
            assert_eq!(cpus.to_string(), text);
        }
        for text in ["", "a", "3-1", "0-1024", "1,0", "0-3,3", "0,,1", "0-4294967296"] {
            let e = Cpus::try_from(text.to_owned()).expect_err(text);
            assert!(e.contains("list of CPUs") && e.contains("0-3"), "{e}");
        }
    }
}
