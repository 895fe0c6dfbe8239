//! Exact rank statistics of two small samples.
//!
//! If nothing differs, all orders of the m and n values are equally likely. U counts the pairs in
//! which the value of the second sample is the larger one (Mann and Whitney, Ann. Math. Statist.
//! 18, 1947). The shift is the median of all pairwise differences (Hodges and Lehmann, Ann. Math.
//! Statist. 34, 1963). Two of the sorted differences bound its interval, by the distribution of U.
//! Ties make the p-value larger and the interval wider than necessary, never the opposite.

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Median difference, in the unit of the values.
    pub estimate: f64,
    /// `None` where there are too few values for 95 %.
    pub interval: Option<Interval>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// Least probability that it covers the shift.
    pub coverage: f64,
}

/// Largest probability outside the interval, both sides together.
const ALPHA: f64 = 0.05;

/// Probabilities of U = 0, 1, …, m·n.
#[must_use]
pub fn distribution(m: usize, n: usize) -> Vec<f64> {
    // With probability j/(i+j) the largest value is from the second sample, and then i pairs count.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
    for i in 1..=m {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for j in 1..=n {
            let (of_first, of_second) = (i as f64 / (i + j) as f64, j as f64 / (i + j) as f64);
            let mut u = vec![0.0; i * j + 1];
            for (at, p) in row[j].iter().enumerate() {
                u[at] += of_first * p;
            }
            for (at, p) in next[j - 1].iter().enumerate() {
                u[at + i] += of_second * p;
            }
            next.push(u);
        }
        row = next;
    }
    row.swap_remove(n)
}

/// How much larger `b` is than `a`. `None` where one of them is empty.
#[must_use]
pub fn shift(a: &[f64], b: &[f64]) -> Option<Shift> {
    let mut differences: Vec<f64> = b.iter().flat_map(|b| a.iter().map(move |a| b - a)).collect();
    differences.sort_by(f64::total_cmp);
    let n = differences.len();
    let last = n.checked_sub(1)?;
    let estimate = f64::midpoint(differences[last / 2], differences[n / 2]);
    // Drop the k lowest and the k highest differences.
    let (mut below, mut k, mut left_out) = (0.0, 0, 0.0);
    for p in distribution(a.len(), b.len()) {
        below += p;
        if 2.0 * below > ALPHA || 2 * k >= n {
            break;
        }
        (k, left_out) = (k + 1, 2.0 * below);
    }
    let interval = k.checked_sub(1).map(|outermost| Interval {
        low: differences[outermost],
        high: differences[last - outermost],
        coverage: 1.0 - left_out,
    });
    Some(Shift { estimate, interval })
}

/// Upper bound of the probability that samples differ at least this much, in either direction, if
/// nothing differs. 1 where one is empty.
#[must_use]
pub fn p_value(a: &[f64], b: &[f64]) -> f64 {
    p_of(&distribution(a.len(), b.len()), a, b)
}

/// As [`p_value`], with the [`distribution`] for these sample sizes, which many rows share.
pub(crate) fn p_of(u: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let pairs = || a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
    let larger = pairs().filter(|(a, b)| b > a).count();
    let ties = pairs().filter(|(a, b)| b <= a && a <= b).count();
    let at_most: f64 = u.iter().take(larger + ties + 1).sum();
    let at_least: f64 = u.iter().skip(larger).sum();
    (2.0 * at_most.min(at_least)).min(1.0)
}

/// Least value that [`p_value`] can have with these sample sizes.
#[must_use]
pub fn least_p(m: usize, n: usize) -> f64 {
    distribution(m, n).first().map_or(1.0, |p| (2.0 * p).min(1.0))
}

/// Which of many p-values are significant, if at most `share` of those may be false (Benjamini and
/// Hochberg, "Controlling the false discovery rate", J. R. Statist. Soc. B 57, 1995).
#[must_use]
pub fn stand(p: &[f64], share: f64) -> Vec<bool> {
    let mut sorted = p.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let highest =
        (1..).zip(&sorted).filter(|(k, p)| **p <= share * f64::from(*k) / n).map(|(_, p)| *p).last();
    p.iter().map(|p| highest.is_some_and(|highest| *p <= highest)).collect()
}
