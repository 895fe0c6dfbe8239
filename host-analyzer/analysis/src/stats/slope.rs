//! How much one series follows another, apart from what drifts.

/// A slope with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slope {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

/// Fewest values of a block.
const FEWEST: usize = 8;

/// The slope of y over x, from blocks of consecutive values `(x, y)`. Each block has a separate line
/// over time, which takes up slow changes of both: partial regression (Frisch and Waugh, Econometrica 1, 1933).
/// `None` if the standard deviation of x within blocks is below `least`.
pub(crate) fn slope(values: &[(f64, f64)], block: usize, least: f64) -> Option<Slope> {
    let (mut xx, mut xy, mut freedom) = (0.0, 0.0, -1.0);
    let mut rest = Vec::with_capacity(values.len());
    for block in values.chunks(block.max(FEWEST)).filter(|b| b.len() >= FEWEST) {
        let x = without_line(block.iter().map(|v| v.0));
        let y = without_line(block.iter().map(|v| v.1));
        xx += x.iter().map(|x| x * x).sum::<f64>();
        xy += x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>();
        freedom += block.len() as f64 - 2.0;
        rest.extend(x.into_iter().zip(y));
    }
    if xx <= least.powi(2) * rest.len() as f64 || freedom < 1.0 {
        return None;
    }
    let value = xy / xx;
    let squares: f64 = rest.iter().map(|(x, y)| (y - value * x).powi(2)).sum();
    Some(Slope { value, error: (squares / freedom / xx).sqrt() })
}

/// Values less their least-squares line over their index.
fn without_line(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let n = values.len() as f64;
    let (middle, mean) = ((n - 1.0) / 2.0, values.iter().sum::<f64>() / n);
    let at = |i: usize| i as f64 - middle;
    let (mut tt, mut ty) = (0.0, 0.0);
    for (i, y) in values.iter().enumerate() {
        tt += at(i) * at(i);
        ty += at(i) * (y - mean);
    }
    values.iter().enumerate().map(|(i, y)| y - mean - ty / tt * at(i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y = 3 x, plus another line over time in each block, with x on and off.
    fn planted(noise: f64) -> Vec<(f64, f64)> {
        let of = |i: u32| {
            let x = f64::from(i / 5 % 2);
            let drift = f64::from(i) * 0.5 + f64::from(i / 32) * 40.0;
            (x, 3.0 * x + drift + noise * f64::from(i * 7 % 11) - noise * 5.0)
        };
        (0..128).map(of).collect()
    }

    #[test]
    fn a_drift_is_no_slope() {
        let exact = slope(&planted(0.0), 32, 0.05).expect("it varies");
        assert!((exact.value - 3.0).abs() < 1e-9 && exact.error < 1e-6, "{exact:?}");
        let noisy = slope(&planted(0.1), 32, 0.05).expect("it varies");
        assert!((noisy.value - 3.0).abs() < 3.0 * noisy.error, "{noisy:?}");
        assert!((0.02..0.2).contains(&noisy.error), "{noisy:?}");
    }

    #[test]
    fn a_constant_shows_nothing() {
        let constant: Vec<_> = planted(0.1).into_iter().map(|(_, y)| (1.0, y)).collect();
        assert_eq!(slope(&constant, 32, 0.05), None);
        // A single rise in each block is a line for the most part; few values have none.
        assert_eq!(slope(&planted(0.1)[..7], 32, 0.05), None);
    }
}
