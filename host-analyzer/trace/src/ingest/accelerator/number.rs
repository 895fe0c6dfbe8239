//! Numbers in foreign text.

/// Longer times are rejected, ns: 31 years.
const LONGEST_NS: f64 = 1e18;

/// A time in units of `unit_ns`, in ns; `None` if it is not a duration.
pub(super) fn time_ns(text: &str, unit_ns: f64) -> Option<u64> {
    // Neither signs nor words such as `inf`.
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let ns = text.parse::<f64>().ok()? * unit_ns;
    (ns <= LONGEST_NS).then_some(ns.round() as u64)
}

/// Exactly this many integers with `separator` between them.
pub(super) fn numbers<const N: usize>(text: &str, separator: char) -> Option<[u64; N]> {
    let mut numbers = [0; N];
    let mut parts = text.split(separator);
    for number in &mut numbers {
        *number = parts.next()?.trim().parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}
