//! Statistics of several repetitions.

/// Median and range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    pub repeats: u32,
    /// The middle value; for an even number the lower one.
    pub median: u64,
    pub min: u64,
    pub max: u64,
}

/// The statistics of values in any order; `None` without values.
#[must_use]
pub fn spread(mut values: Vec<u64>) -> Option<Spread> {
    values.sort_unstable();
    Some(Spread {
        repeats: u32::try_from(values.len()).ok()?,
        median: *values.get(values.len().checked_sub(1)? / 2)?,
        min: *values.first()?,
        max: *values.last()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        let of = |values: &[u64]| spread(values.to_vec()).map(|s| (s.repeats, s.median, s.min, s.max));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[7]), Some((1, 7, 7, 7)));
        assert_eq!(of(&[3, 1]), Some((2, 1, 1, 3)));
        assert_eq!(of(&[5, u64::MAX, 0, 4, 6]), Some((5, 5, 0, u64::MAX)));
    }
}
