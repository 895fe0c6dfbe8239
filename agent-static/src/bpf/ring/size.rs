//! How large the kernel's ring buffer is.
//!
//! The kernel maps its pages twice, one behind the other, so that a record at the end needs no cut; a page that is read through both
//! counts twice in the agent's resident set, of which there are 8 MiB at most for all. So 2 MiB is the most that fits.

use profinfer_wire::record::control::level;

/// With anything beside token calls. It holds 32,000 operators, or the structure of a graph of 4,000 tensors, which comes at once. A fast
/// small model on two threads fills a quarter of it in some 50 ms, and then wakes the loop. Where the engine has all CPUs, the agent may
/// have to wait for one.
pub const LARGEST: u32 = 2 << 20;
/// Token calls alone: some hundreds a second at most.
const TOKENS: u32 = 256 << 10;
/// What may be asked for: a smaller one has no room for the structure of a usual graph, without which no operator can be told, and
/// more than 64 MiB are not to be had where memory is scarce.
const ASKED: std::ops::RangeInclusive<u32> = 1 << 20..=64 << 20;

/// Bytes of a ring for these levels. Whether direct probes, which have rings of their own, can be had is known only when the engine is
/// there; then this one is made already.
#[must_use]
pub const fn size_for(levels: u32) -> u32 {
    if levels & !level::TOKEN == 0 { TOKENS } else { LARGEST }
}

/// Reads a size, `1024K` or `4M`.
///
/// # Errors
/// A sentence that says what it must be.
pub fn asked(text: &str) -> Result<u32, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let shift = match unit {
        "K" | "KiB" => Some(10),
        "M" | "MiB" => Some(20),
        _ => None,
    };
    let bytes = shift.zip(number.parse::<u32>().ok()).and_then(|(shift, n)| n.checked_mul(1 << shift));
    // The kernel takes powers of two alone.
    bytes.filter(|b| b.is_power_of_two() && ASKED.contains(b)).ok_or_else(|| {
        format!("`{text}` is no size of a ring buffer: use a power of two from 1M to 64M, for example 4M")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_calls_alone_need_little() {
        assert_eq!(
            [level::GRAPH, level::OP, level::ALL].map(|more| size_for(level::TOKEN | more)),
            [LARGEST; 3]
        );
        assert_eq!(size_for(level::TOKEN), TOKENS);
    }

    #[test]
    fn sizes_are_powers_of_two_within_bounds() {
        let good = [("1024K", 1 << 20), ("2048KiB", 2 << 20), ("4M", 4 << 20), ("64MiB", 64 << 20)];
        good.into_iter().for_each(|(text, bytes)| assert_eq!(asked(text), Ok(bytes), "{text}"));
        for text in ["", "4", "4G", "3M", "512K", "128M", "-4M", "4 M", "4m", "99999999999M", "4095M"] {
            assert!(asked(text).is_err(), "{text}");
        }
    }
}
