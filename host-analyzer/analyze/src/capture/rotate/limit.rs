//! Limits of a piece: `64M`, `10min`.

use std::str::FromStr;
use std::time::Duration;

/// Minimum size of a piece, so that the repeated records stay small in comparison.
const LEAST_BYTES: u64 = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Bytes of the stream.
    Bytes(u64),
    /// Time since the piece began.
    Time(Duration),
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let number: u64 =
            number.parse().map_err(|_| "give a size like 64M or a time like 10min".to_owned())?;
        let times = |unit: u64| number.checked_mul(unit).ok_or_else(|| "it is too large".to_owned());
        let limit = match unit.trim() {
            "K" | "KiB" => Self::Bytes(times(1 << 10)?),
            "M" | "MiB" => Self::Bytes(times(1 << 20)?),
            "G" | "GiB" => Self::Bytes(times(1 << 30)?),
            "s" => Self::Time(Duration::from_secs(number)),
            "min" => Self::Time(Duration::from_secs(times(60)?)),
            "h" => Self::Time(Duration::from_secs(times(3600)?)),
            _ => return Err("the unit must be K, M, G, s, min or h".to_owned()),
        };
        match limit {
            Self::Bytes(n) if n < LEAST_BYTES => Err("a piece must have at least 64K".to_owned()),
            Self::Time(t) if t.is_zero() => Err("a piece must last at least 1s".to_owned()),
            limit => Ok(limit),
        }
    }
}

/// Fill level of a piece of `bytes`, begun `since`, by the limit that comes first. 1.0 or more is
/// full.
pub(super) fn fullness(limits: &[Limit], bytes: u64, since: Duration) -> f64 {
    let of = |limit: &Limit| match limit {
        Limit::Bytes(n) => bytes as f64 / *n as f64,
        Limit::Time(t) => since.as_secs_f64() / t.as_secs_f64(),
    };
    limits.iter().map(of).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times() {
        assert_eq!("64M".parse(), Ok(Limit::Bytes(64 << 20)));
        assert_eq!("10min".parse(), Ok(Limit::Time(Duration::from_secs(600))));
        for wrong in ["", "M", "10", "10x", "1K", "0s", "99999999999999999999M", "9999999999999G"] {
            assert!(wrong.parse::<Limit>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_limit_counts() {
        let limits = [Limit::Bytes(1000), Limit::Time(Duration::from_secs(10))];
        assert!(fullness(&limits, 999, Duration::from_secs(9)) < 1.0);
        assert!(
            fullness(&limits, 1000, Duration::ZERO) >= 1.0
                && fullness(&limits, 0, Duration::from_secs(10)) >= 1.0
        );
    }
}
