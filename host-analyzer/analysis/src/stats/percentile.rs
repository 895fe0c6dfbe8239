//! Percentiles by one definition: nearest rank.
//!
//! The p-th percentile of n values is the value at rank `ceil(p / 100 * n)`, counted from 1, in
//! sorted order: definition 1 of Hyndman and Fan, "Sample Quantiles in Statistical Packages" (The
//! American Statistician 50, 1996). It is always a measured value, and stays an integer.

/// The p-th percentile, p from 1 to 100. `None` for no values. Reorders `values`.
///
/// # Panics
///
/// When `p` is not in 1..=100.
#[must_use]
pub fn percentile(values: &mut [u64], p: usize) -> Option<u64> {
    assert!((1..=100).contains(&p), "percentile {p}");
    let rank = (values.len() * p).div_ceil(100);
    let i = rank.checked_sub(1)?;
    Some(*values.select_nth_unstable(i).1)
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn nearest_rank() {
        assert_eq!(percentile(&mut [], 50), None);
        assert_eq!(percentile(&mut [7], 50), Some(7));
        assert_eq!(percentile(&mut [7], 95), Some(7));
        // Even number of values: the lower of the middle two.
        assert_eq!(percentile(&mut [40, 10, 30, 20], 50), Some(20));
        assert_eq!(percentile(&mut [30, 10, 20], 50), Some(20));
        // 19 of 20 values are 95 %.
        let mut v: Vec<u64> = (1..=20).rev().collect();
        assert_eq!(percentile(&mut v, 95), Some(19));
        assert_eq!(percentile(&mut v, 100), Some(20));
        let mut v: Vec<u64> = (1..=21).collect();
        assert_eq!(percentile(&mut v, 95), Some(20));
    }
}
