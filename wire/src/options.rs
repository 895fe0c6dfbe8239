//! The text form of capture options. The agent and the host parse their command lines with it.
//!
//! Every error is a phrase with the allowed values.

use crate::record::capture::ALWAYS;
use crate::record::filter::{FilterOn, MAX_PATTERN, MAX_PATTERNS, MAX_TEXT};

/// Parses a duty, `10%`, into thousandths.
///
/// # Errors
/// The allowed values.
pub fn duty(text: &str) -> Result<u16, &'static str> {
    const ALLOWED: &str = "give 0.1% to 100%";
    let permille = text.strip_suffix('%').and_then(|n| decimal(n, 1)).ok_or(ALLOWED)?;
    u16::try_from(permille).ok().filter(|p| (1..=ALWAYS).contains(p)).ok_or(ALLOWED)
}

/// Parses a speed, `5t/s` or `5`, into thousandths of a token per second. `5tok/s` is its form in
/// earlier versions.
///
/// # Errors
/// The allowed values.
pub fn speed(text: &str) -> Result<u32, &'static str> {
    const ALLOWED: &str = "give tokens per second, for example 5t/s, from 0.01 to 100000";
    let number = ["t/s", "tok/s"].iter().find_map(|unit| text.strip_suffix(unit)).unwrap_or(text);
    let milli = decimal(number.trim_end(), 3).ok_or(ALLOWED)?;
    u32::try_from(milli).ok().filter(|m| (10..=100_000_000).contains(m)).ok_or(ALLOWED)
}

/// Parses a slowdown, `1%`, into millionths.
///
/// # Errors
/// The allowed values.
pub fn slowdown(text: &str) -> Result<u32, &'static str> {
    const ALLOWED: &str = "give 0.01% to 100%";
    let ppm = text.strip_suffix('%').and_then(|n| decimal(n, 4)).ok_or(ALLOWED)?;
    u32::try_from(ppm).ok().filter(|p| (100..=1_000_000).contains(p)).ok_or(ALLOWED)
}

/// A decimal number without a sign, times 10 to the power of `places`; `None` when it is not a
/// number or has more places.
fn decimal(text: &str, places: usize) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > places {
        return None;
    }
    let mut value: u64 = whole.parse().ok()?;
    for place in 0..places {
        let digit = part.as_bytes().get(place).map_or(0, |b| u64::from(b - b'0'));
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    Some(value)
}

/// Whether two names of a board are the same. People write them in many ways, so only letters and
/// digits count: `Raspberry Pi 5` is `raspberry-pi5`.
#[must_use]
pub fn same_board(a: &str, b: &str) -> bool {
    board_letters(a).eq(board_letters(b)) && board_letters(a).next().is_some()
}

/// The characters of a board's name that count.
pub fn board_letters(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase())
}

/// The parts of a filter's text.
pub fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.strip_prefix("tid:").unwrap_or(text).split(',').map(str::trim)
}

/// One range, `3-5` or `7`, from and to.
#[must_use]
pub fn range(part: &str) -> Option<(u32, u32)> {
    let (from, to) = part.split_once('-').unwrap_or((part, part));
    let (from, to) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    (from <= to).then_some((from, to))
}

/// Checks that a filter's text can be parsed.
///
/// # Errors
/// The allowed values.
pub fn filter(on: FilterOn, text: &str) -> Result<(), &'static str> {
    if text.len() > MAX_TEXT || parts(text).count() > MAX_PATTERNS {
        return Err("give at most 16 parts, separated by commas");
    }
    if parts(text).any(|part| part.is_empty() || part.len() > MAX_PATTERN) {
        return Err("give parts of 1 to 64 bytes, separated by commas");
    }
    let is_range = |part: &str| range(part).is_some();
    let from_one = |part: &str| range(part).is_some_and(|(from, _)| from >= 1);
    match on {
        FilterOn::Op | FilterOn::Name => Ok(()),
        FilterOn::Layer if parts(text).all(is_range) => Ok(()),
        FilterOn::Layer => Err("give layers, for example 0-3,10"),
        FilterOn::Token | FilterOn::Request if parts(text).all(from_one) => Ok(()),
        FilterOn::Token | FilterOn::Request => {
            Err("give numbers counted from 1 and ranges of them, for example 100-200")
        }
        FilterOn::Thread => {
            let number = |part: &str| part.parse::<u32>().is_ok_and(|n| n > 0);
            let one = text == "first" || number(text);
            if one || text.starts_with("tid:") && parts(text).all(number) {
                Ok(())
            } else {
                Err("give `first`, a number of threads, or thread ids as tid:17,18")
            }
        }
    }
}
