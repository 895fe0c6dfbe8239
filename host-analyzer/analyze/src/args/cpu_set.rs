//! Sets of CPUs as people write them: `4-7`, `0,2`, `all`.

use std::str::FromStr;

/// Highest CPU number. A mask has one digit per four CPUs.
const MOST: u16 = 1023;

/// A set of CPUs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CpuSet {
    /// Not bound to CPUs.
    All,
    /// Bound to these CPUs, in ascending order.
    Some(Vec<u16>),
}

impl CpuSet {
    pub(crate) fn new(cpus: &[u16]) -> Self {
        let mut cpus = cpus.to_vec();
        cpus.sort_unstable();
        cpus.dedup();
        Self::Some(cpus)
    }

    /// Number of threads for which the set has CPUs.
    pub(crate) fn holds(&self) -> u32 {
        match self {
            Self::All => u32::MAX,
            Self::Some(cpus) => cpus.len() as u32,
        }
    }

    /// The set as a hexadecimal mask, which every taskset accepts. `None` if not bound.
    pub(crate) fn mask(&self) -> Option<String> {
        let Self::Some(cpus) = self else { return None };
        let digits = usize::from(cpus.iter().copied().max().unwrap_or(0)) / 4;
        let digit = |d: usize| {
            let bits = cpus.iter().filter(|c| usize::from(**c) / 4 == d);
            bits.fold(0_u32, |sum, c| sum | 1 << (c % 4))
        };
        Some((0..=digits).rev().map(|d| format!("{:x}", digit(d))).collect())
    }
}

impl FromStr for CpuSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        let number = |n: &str| n.parse::<u16>().ok().filter(|n| *n <= MOST);
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(number(first)?..=number(last)?).filter(|range| !range.is_empty())
        };
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        let cpus: Vec<u16> = ranges.into_iter().flatten().flatten().collect();
        match cpus.is_empty() {
            true => Err("not a CPU list: write 4-7 or 0,2, or all".to_owned()),
            false => Ok(Self::new(&cpus)),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn lists_and_masks() {
        let mask = |text: &str| CpuSet::from_str(text).unwrap().mask();
        assert_eq!(mask("0").as_deref(), Some("1"));
        assert_eq!(mask("4-7").as_deref(), Some("f0"));
        assert_eq!(mask("9,0,2-3,2").as_deref(), Some("20d"));
        assert_eq!(mask("all"), None);
        assert_eq!(CpuSet::from_str("6,4-5,4").unwrap(), CpuSet::Some(vec![4, 5, 6]));
        for wrong in ["", "4-", "-4", "5-4", "1,,2", "x", "1-2-3", "9999"] {
            assert!(CpuSet::from_str(wrong).is_err(), "{wrong}");
        }
    }
}
