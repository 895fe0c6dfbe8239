//! Tests whether the change that the SQL found in a series is significant.
//!
//! Pettitt's statistic (A. N. Pettitt, Applied Statistics 28, 1979: 126) is the largest |U_k| over
//! all splits, with U_k = 2·Σ ranks up to k − k·(n + 1). Random orders of the same captures give
//! the probability of a statistic at least as large: p = (1 + as large) / (1 + orders), which never
//! claims more than the number of orders allows (Phipson and Smyth, Stat. Appl. Genet. Mol. Biol.
//! 9, 2010: 39). Pettitt's formula for p holds for long series only: for eight captures, four
//! slower than the other four, it gives 0.14, but only 2 of 70 orders are as extreme. Because many
//! series are tested, p is corrected with Holm's method (Scand. J. Statist. 6, 1979: 65). The
//! random numbers are the same in each run, so that an answer can be repeated.

use std::collections::BTreeMap;

use super::answer::{Answer, Value};

/// Number of random orders per series.
const ORDERS: usize = 9_999;

/// Significance level for all series together: one in twenty fleets without a change has a
/// significant one.
const LEVEL: f64 = 0.05;

/// Minimum number of captures for a significant change: for seven captures, 2 of 35 orders are as
/// extreme as a clean step, which is above the level. Shorter series are not tested, so that they
/// do not count in the correction.
const AT_LEAST: usize = 8;

/// Columns that identify a series, in both answers.
const KEYS: [&str; 6] = ["board", "cpu_model", "model", "weights_hash", "threads", "device"];

/// The answer with `p` of each row, and `stands`: `slower`, `faster`, or nothing if the change is
/// not significant.
pub(super) fn with_significance(mut answer: Answer, series: &Answer) -> Answer {
    let mut speeds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in &series.rows {
        speeds.entry(key(series, row)).or_default().extend(series.get(row, "tokens_per_s").number());
    }
    let long: Vec<Option<&[f64]>> = answer
        .rows
        .iter()
        .map(|row| speeds.get(&key(&answer, row)).map(Vec::as_slice).filter(|s| s.len() >= AT_LEAST))
        .collect();
    let mut tested = holm(&long.iter().flatten().map(|s| chance(s)).collect::<Vec<_>>()).into_iter();
    let p: Vec<Option<f64>> = long.iter().map(|s| s.and_then(|_| tested.next())).collect();
    let stands: Vec<Value> = answer
        .rows
        .iter()
        .zip(&p)
        .map(|(row, p)| match (answer.get(row, "change_share").number(), p) {
            (Some(change), Some(p)) if *p < LEVEL => {
                Value::Text(if change < 0.0 { "slower" } else { "faster" }.to_owned())
            }
            _ => Value::Null,
        })
        .collect();
    // Before the long columns that identify a series.
    let at = answer.column("pettitt_k").map_or(answer.columns.len(), |i| i + 1);
    answer.columns.splice(at..at, ["p".to_owned(), "stands".to_owned()]);
    for ((row, p), stands) in answer.rows.iter_mut().zip(p).zip(stands) {
        row.splice(at..at, [p.map_or(Value::Null, Value::Float), stands]);
    }
    answer
}

fn key(answer: &Answer, row: &[Value]) -> String {
    KEYS.map(|k| format!("{:?}", answer.get(row, k))).join("\0")
}

/// Probability that a random order has a change as large as this one.
fn chance(values: &[f64]) -> f64 {
    let mut ranks = twice_ranks(values);
    let seen = statistic(&ranks);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let as_large = (0..ORDERS)
        .filter(|_| {
            random.shuffle(&mut ranks);
            statistic(&ranks) >= seen
        })
        .count();
    (1 + as_large) as f64 / (1 + ORDERS) as f64
}

/// Twice the ranks. They are integers also for equal values, which share the mean of their ranks.
fn twice_ranks(values: &[f64]) -> Vec<i64> {
    let below = |v: f64| values.iter().filter(|w| **w < v).count() as i64;
    let alike = |v: f64| values.iter().filter(|w| **w == v).count() as i64;
    values.iter().map(|v| 2 * below(*v) + alike(*v) + 1).collect()
}

/// The largest |U_k|, from twice the ranks.
fn statistic(twice_ranks: &[i64]) -> i64 {
    let n = twice_ranks.len() as i64;
    let mut sum = 0;
    let splits = twice_ranks.iter().zip(1..).map(|(rank, k)| {
        sum += rank;
        (sum - k * (n + 1)).abs()
    });
    splits.max().unwrap_or(0)
}

/// Holm's step-down: the smallest p times the number of series, the next one times one less, and
/// none below the previous one.
fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least = 0.0_f64;
    for (done, i) in order.into_iter().enumerate() {
        least = least.max((p[i] * (p.len() - done) as f64).min(1.0));
        adjusted[i] = least;
    }
    adjusted
}

/// xorshift64 (Marsaglia, J. Stat. Software 8, 2003: 14).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The upper half has better randomness; n is far below 2^32.
        (((self.0 >> 32) * n as u64) >> 32) as usize
    }

    /// Fisher-Yates shuffle.
    fn shuffle(&mut self, values: &mut [i64]) {
        for i in (1..values.len()).rev() {
            values.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by hand: U = 2·Σr − k·9 is -7, -12, -15, -16, -15 … for 1 2 3 4 5 6 7 8. 2 of the
    /// 70 ways to choose the first four reach 16. That is possible at k = 4 only, because |U_k| is
    /// at most k·(8 − k).
    #[test]
    fn the_chance_of_a_clean_step_is_two_in_seventy() {
        let step = [10.0, 10.1, 10.2, 10.3, 12.0, 12.1, 12.2, 12.3];
        assert_eq!(statistic(&twice_ranks(&step)), 16);
        assert!((chance(&step) - 2.0 / 70.0).abs() < 0.005, "{}", chance(&step));
    }

    #[test]
    fn like_values_share_their_ranks_and_change_nothing() {
        assert_eq!(twice_ranks(&[5.0, 1.0, 5.0]), [5, 2, 5]);
        assert_eq!(chance(&[3.0; 20]), 1.0);
        assert_eq!(chance(&[]), 1.0);
    }

    #[test]
    fn many_series_need_more_by_holm() {
        assert_eq!(holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
        assert_eq!(holm(&[0.6, 0.9]), [1.0, 1.0]);
    }

    /// Of 400 fleets with one series and no change, about one in twenty may have a significant one:
    /// 20, with a deviation of 4.4.
    #[test]
    fn noise_is_a_change_as_often_as_it_may_be() {
        let mut random = Random(7);
        let changes = (0..400).filter(|_| {
            let noise: Vec<f64> = (0..12).map(|_| random.below(1 << 20) as f64).collect();
            chance(&noise) < LEVEL
        });
        let changes = changes.count();
        assert!((5..=36).contains(&changes), "{changes}");
    }
}
