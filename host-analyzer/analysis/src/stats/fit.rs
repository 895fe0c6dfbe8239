//! A straight line through medians, with a confidence interval for its slope.
//!
//! Two things make a slope uncertain. Each median has an error, which its order statistics show.
//! The machine may also have been slower for a while, which shows as residuals of the medians
//! around the line. The interval is the wider one of the two.

use crate::stats::student::{NORMAL, student};

/// The values at one x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) median: f64,
    /// Standard error of the median.
    pub(crate) error: f64,
    pub(crate) weight: f64,
}

/// Fewest points for a line: with three, residuals exist.
pub(crate) const MIN_POINTS: usize = 3;

/// Fewest values for a median: its order statistics must show an error.
pub(crate) const MIN_VALUES: usize = 8;

impl Point {
    /// The median of `values`; `None` for too few. Its error is that of the order statistics n/2 ±
    /// 0.98 √n, which cover it with 95 % (binomial distribution, normal approximation). Reorders
    /// `values`.
    pub(crate) fn new(x: u64, values: &mut [u64]) -> Option<Self> {
        if values.len() < MIN_VALUES {
            return None;
        }
        values.sort_unstable();
        let n = values.len() as f64;
        let half = NORMAL / 2.0 * n.sqrt();
        let at = |rank: f64| values[(rank.max(1.0) as usize - 1).min(values.len() - 1)] as f64;
        let (low, high) = (at((n / 2.0 - half).floor()), at((n / 2.0 + half).ceil()));
        // Times are integers, in ns.
        let error = ((high - low) / (2.0 * NORMAL)).max(0.5);
        Some(Self { x: x as f64, median: at((n / 2.0).ceil()), error, weight: n })
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    /// Weighted mean of the points' x.
    x: f64,
    y: f64,
    pub(crate) slope: f64,
    /// 95 % half widths of (value at the mean x, slope), once from the errors of the medians, once
    /// from the residuals.
    errors: (f64, f64),
    scatter: (f64, f64),
}

impl Line {
    /// The line through at least [`MIN_POINTS`] points, each weighted by its number of values.
    pub(crate) fn through(points: &[Point]) -> Option<Self> {
        if points.len() < MIN_POINTS {
            return None;
        }
        let sum = |of: &dyn Fn(&Point) -> f64| points.iter().map(|p| p.weight * of(p)).sum::<f64>();
        let weight = sum(&|_| 1.0);
        let (x, y) = (sum(&|p| p.x) / weight, sum(&|p| p.median) / weight);
        let square = sum(&|p| (p.x - x).powi(2));
        if square <= 0.0 {
            return None;
        }
        let slope = sum(&|p| (p.x - x) * (p.median - y)) / square;
        let variance =
            |part: &dyn Fn(&Point) -> f64| points.iter().map(|p| (part(p) * p.error).powi(2)).sum::<f64>();
        let of_middle = variance(&|p| p.weight / weight).sqrt();
        let of_slope = variance(&|p| p.weight * (p.x - x) / square).sqrt();
        let freedom = points.len() - 2;
        let residual = sum(&|p| (p.median - y - slope * (p.x - x)).powi(2)) / freedom as f64;
        let t = student(freedom);
        Some(Self {
            x,
            y,
            slope,
            errors: (NORMAL * of_middle, NORMAL * of_slope),
            scatter: (t * (residual / weight).sqrt(), t * (residual / square).sqrt()),
        })
    }

    /// Half width of the slope's interval.
    pub(crate) const fn slope_error(&self) -> f64 {
        self.errors.1.max(self.scatter.1)
    }

    /// The value at `x`, and the half width of its interval.
    pub(crate) fn at(&self, x: f64) -> (f64, f64) {
        let distance = x - self.x;
        let half = |(middle, slope): (f64, f64)| middle.hypot(slope * distance);
        (self.y + self.slope * distance, half(self.errors).max(half(self.scatter)))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    fn point(x: f64, median: f64) -> Point {
        Point { x, median, error: 1.0, weight: 10.0 }
    }

    #[test]
    fn a_median_and_its_error() {
        // Ranks 50 ± 9.8 of 100: 40 and 60.
        let mut values: Vec<u64> = (1..=100).map(|v| v * 10).collect();
        let p = Point::new(256, &mut values).unwrap();
        assert_eq!((p.x, p.median, p.weight), (256.0, 500.0, 100.0));
        assert!((p.error - 200.0 / 3.92).abs() < 1e-9);
        assert_eq!(Point::new(256, &mut values[..7]), None);
        assert_eq!(Point::new(1, &mut [5; 8]).unwrap().error, 0.5);
    }

    #[test]
    fn a_line_without_scatter_has_the_medians_errors() {
        let line = Line::through(&[point(0.0, 10.0), point(1.0, 12.0), point(2.0, 14.0)]).unwrap();
        assert_eq!(line.slope, 2.0);
        // The slope is half of the last value minus half of the first.
        assert!((line.slope_error() - 1.96 * 0.5_f64.sqrt()).abs() < 1e-9);
        let (value, half) = line.at(4.0);
        assert_eq!(value, 18.0);
        assert!((half - 1.96 * (1.0_f64 / 3.0 + 9.0 * 0.5).sqrt()).abs() < 1e-9);
        assert_eq!(Line::through(&[point(0.0, 10.0), point(1.0, 12.0)]), None);
        assert_eq!(Line::through(&[point(1.0, 10.0); 3]), None);
    }

    #[test]
    fn scatter_widens_the_interval() {
        let line = Line::through(&[point(0.0, 0.0), point(1.0, 60.0), point(2.0, 0.0)]).unwrap();
        assert_eq!(line.slope, 0.0);
        // Residuals -20, 40, -20: 2400 with one degree of freedom, over a sum of squares of 2.
        assert!((line.slope_error() - 12.706 * 1200.0_f64.sqrt()).abs() < 1e-6);
    }
}
