//! A percentage on the command line.

use std::fmt;
use std::str::FromStr;

/// A share; `2%` is 0.02.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const HELP: &str = "give a percentage like 2% or 0.5%";
        let number = text.trim().strip_suffix('%').ok_or(HELP)?;
        let percent: f64 = number.trim().parse().map_err(|_| HELP)?;
        if (0.0..=1000.0).contains(&percent) {
            Ok(Self(percent / 100.0))
        } else {
            Err("must be between 0% and 1000%")
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Print a number that was parsed from decimals with the same digits.
        write!(f, "{}%", (self.0 * 1e8).round() / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn percentages() {
        for text in ["2%", "0.5%", "7.8%", "0%"] {
            assert_eq!(text.parse::<Share>().map(|s| s.to_string()), Ok(text.to_owned()));
        }
        for wrong in ["2", "", "%", "-1%", "NaN%", "inf%", "1001%", "two%"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
    }
}
