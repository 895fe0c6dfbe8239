//! Size of the kernel's ring buffer.
//!
//! The kernel maps the pages twice, one mapping after the other, so that a record at the end is
//! contiguous. A page that is read through both mappings counts twice in the agent's resident set,
//! which is limited to 8 MiB in total. So 2 MiB is the most that fits.

use profinfer_wire::record::control::level;

/// For all levels above decode calls. Holds 32,000 operators, or the structure of a graph of 4,000
/// nodes with its leafs, which arrives at once; that of a larger graph arrives in parts. A fast small model on two threads fills a quarter of it in about
/// 50 ms, which wakes the loop. If the engine uses all CPUs, the agent may have to wait for one.
pub const LARGEST: u32 = 2 << 20;
/// For decode calls alone, of which there are at most some hundreds per second.
const TOKENS: u32 = 256 << 10;
/// Sizes that a user may request. A smaller buffer has no space for the structure of a usual graph,
/// and without the structure operators cannot be identified. Boards with little memory do not have
/// more than 64 MiB to spare.
const ALLOWED: std::ops::RangeInclusive<u32> = 1 << 20..=64 << 20;

/// Bytes of the ring buffer for these levels. Direct probes have separate rings, but the agent
/// learns whether they work only when the engine runs, after this ring is created.
#[must_use]
pub const fn size_for(levels: u32) -> u32 {
    if levels & !level::TOKEN == 0 { TOKENS } else { LARGEST }
}

/// Parses a size such as `1024K` or `4M`.
///
/// # Errors
/// A sentence with the accepted values.
pub fn asked(text: &str) -> Result<u32, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let shift = match unit {
        "K" | "KiB" => Some(10),
        "M" | "MiB" => Some(20),
        _ => None,
    };
    let bytes = shift.zip(number.parse::<u32>().ok()).and_then(|(shift, n)| n.checked_mul(1 << shift));
    // The kernel accepts powers of two only.
    bytes.filter(|b| b.is_power_of_two() && ALLOWED.contains(b)).ok_or_else(|| {
        format!("invalid ring buffer size `{text}`: use a power of two from 1M to 64M, for example 4M")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_calls_alone_need_little() {
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
