//! Cost of a kind of operator: a fixed time per node, time by its work, and time per output value.
//!
//! The line `a + b x + c y` is fitted to the nodes of the recordings. No coefficient is negative.
//! Each node counts by its relative error, because a token has large and small nodes. The nodes of
//! a recording count by the similarity of its model to the target.

/// A node of a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Its work: bytes or operations.
    pub x: f64,
    /// Output values: a product has a start and an end for each of its rows. 0 where they are not
    /// distinguished.
    pub y: f64,
    /// ns.
    pub ns: f64,
    /// Weight in the fit.
    pub weight: f64,
}

/// A cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Line {
    /// Per node, ns.
    pub fixed_ns: f64,
    /// Per unit of `x`, ns.
    pub ns_per_x: f64,
    /// Per output value, ns.
    pub ns_per_y: f64,
}

/// Smallest ratio of the largest to the smallest `x` that determines the coefficients separately.
const SPAN: f64 = 1.5;

/// Sets of coefficients to try: `x` alone, and more. Another coefficient must reduce the squares by
/// [`MIN_GAIN_SHARE`].
const PARTS: [&[usize]; 5] = [&[1], &[0], &[0, 1], &[1, 2], &[0, 1, 2]];

/// Least reduction of the sum of squares by another coefficient, as a share.
const MIN_GAIN_SHARE: f64 = 0.05;

impl Line {
    /// The line through nodes; `None` without nodes. Nodes of about equal size do not determine the
    /// fixed time. It is then `fixed_ns`, limited to half of their mean time.
    #[must_use]
    pub fn through(points: &[Point], fixed_ns: f64) -> Option<Self> {
        let good =
            |p: &&Point| p.ns > 0.0 && p.weight > 0.0 && p.x >= 0.0 && p.ns.is_finite() && p.x.is_finite();
        let points: Vec<&Point> = points.iter().filter(good).collect();
        if points.is_empty() {
            return None;
        }
        let (least, most) =
            points.iter().fold((f64::MAX, 0.0_f64), |(low, high), p| (low.min(p.x), high.max(p.x)));
        if most <= 0.0 {
            return Some(Self { fixed_ns: mean(&points, |p| p.ns), ..Self::default() });
        }
        if most < least * SPAN {
            let fixed_ns = fixed_ns.min(mean(&points, |p| p.ns) / 2.0).max(0.0);
            return Some(Self { fixed_ns, ns_per_x: slope(&points, fixed_ns), ns_per_y: 0.0 });
        }
        let mut best: Option<(f64, Self)> = None;
        for parts in PARTS {
            let Some(line) = fitted(&points, parts) else { continue };
            let squares = mean(&points, |p| (line.ns(p.x, p.y) / p.ns - 1.0).powi(2)).max(1e-12);
            if best.is_none_or(|(least, _)| squares < least * (1.0 - MIN_GAIN_SHARE)) {
                best = Some((squares, line));
            }
        }
        best.map(|(_, line)| line.with_sum_of(&points))
    }

    /// The same line, scaled so that all nodes together take their measured time. Relative errors
    /// of noisy times are smallest below their mean.
    fn with_sum_of(self, points: &[&Point]) -> Self {
        let ratio = mean(points, |p| p.ns) / mean(points, |p| self.ns(p.x, p.y));
        if !ratio.is_finite() {
            return self;
        }
        let Self { fixed_ns, ns_per_x, ns_per_y } = self;
        Self { fixed_ns: fixed_ns * ratio, ns_per_x: ns_per_x * ratio, ns_per_y: ns_per_y * ratio }
    }

    /// The cost of a node with work `x` and `y` output values, ns.
    #[must_use]
    pub fn ns(&self, x: f64, y: f64) -> f64 {
        self.fixed_ns + self.ns_per_x * x + self.ns_per_y * y
    }
}

/// Least squares of relative errors with only these coefficients; `None` where one would be
/// negative, or the nodes do not determine them.
fn fitted(points: &[&Point], parts: &[usize]) -> Option<Line> {
    // For (a + b x + c y - t)/t: columns 1/t, x/t and y/t, and 1 on the right.
    let column = |p: &Point, part: usize| [1.0, p.x, p.y][part] / p.ns;
    let n = parts.len();
    let mut rows = [[0.0_f64; 4]; 3];
    for (i, row) in parts.iter().zip(rows.iter_mut()) {
        for (j, cell) in parts.iter().zip(row.iter_mut()) {
            *cell = points.iter().map(|p| p.weight * column(p, *i) * column(p, *j)).sum();
        }
        row[3] = points.iter().map(|p| p.weight * column(p, *i)).sum();
    }
    // Normalise the columns, so that units do not decide what is small.
    let scale: Vec<f64> = (0..n).map(|i| rows[i][i].sqrt()).collect();
    for i in 0..n {
        for j in 0..n {
            rows[i][j] /= scale[i] * scale[j];
        }
        rows[i][3] /= scale[i];
    }
    for i in 0..n {
        // A column that is almost a linear combination of the others adds no information.
        if rows[i][i].is_nan() || rows[i][i] <= 1e-9 {
            return None;
        }
        for k in (0..n).filter(|k| *k != i) {
            let factor = rows[k][i] / rows[i][i];
            let pivot = rows[i];
            rows[k].iter_mut().zip(pivot).for_each(|(cell, of)| *cell -= factor * of);
        }
    }
    let mut found = [0.0; 3];
    for (i, part) in parts.iter().enumerate() {
        found[*part] = rows[i][3] / rows[i][i] / scale[i];
    }
    let [fixed_ns, ns_per_x, ns_per_y] = found;
    found.iter().all(|v| v.is_finite() && *v >= 0.0).then_some(Line { fixed_ns, ns_per_x, ns_per_y })
}

fn mean(points: &[&Point], of: impl Fn(&Point) -> f64) -> f64 {
    let weight: f64 = points.iter().map(|p| p.weight).sum();
    points.iter().map(|p| p.weight * of(p)).sum::<f64>() / weight
}

/// Time per `x` beyond a fixed time, from the sums over all nodes, so that large nodes dominate.
fn slope(points: &[&Point], fixed_ns: f64) -> f64 {
    let x = mean(points, |p| p.x);
    if x > 0.0 { mean(points, |p| (p.ns - fixed_ns).max(0.0)) / x } else { 0.0 }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    fn points(of: &[(f64, f64)]) -> Vec<Point> {
        of.iter().map(|(x, ns)| Point { x: *x, y: 0.0, ns: *ns, weight: 1.0 }).collect()
    }

    fn near(line: Option<Line>, fixed: f64, per_x: f64) {
        let line = line.unwrap();
        assert!((line.fixed_ns - fixed).abs() < 1e-6 && (line.ns_per_x - per_x).abs() < 1e-9, "{line:?}");
    }

    #[test]
    fn a_line_is_found_again() {
        near(Line::through(&points(&[(0.0, 7.0), (10.0, 27.0), (100.0, 207.0)]), 0.0), 7.0, 2.0);
        // Equal sizes: 6, less the given fixed time of 1, leaves half a nanosecond per unit.
        near(Line::through(&points(&[(10.0, 6.0), (10.0, 6.0)]), 1.0), 1.0, 0.5);
        // The given fixed time is limited to half.
        near(Line::through(&points(&[(10.0, 6.0)]), 100.0), 3.0, 0.3);
        near(Line::through(&points(&[(0.0, 4.0), (0.0, 6.0)]), 100.0), 5.0, 0.0);
        assert_eq!(Line::through(&points(&[(1.0, 0.0), (1.0, f64::NAN)]), 0.0), None);
    }

    #[test]
    fn no_part_is_negative() {
        // Steeper than proportional: only the total is preserved, 102 at 11.
        near(Line::through(&points(&[(1.0, 2.0), (10.0, 100.0)]), 0.0), 0.0, 102.0 / 11.0);
        // Falling.
        near(Line::through(&points(&[(1.0, 10.0), (10.0, 5.0)]), 0.0), 7.5, 0.0);
    }

    /// 5 per node, 2 per byte, 3 per row.
    #[test]
    fn rows_are_told_from_bytes() {
        let of = |(x, y): (f64, f64)| Point { x, y, ns: 5.0 + 2.0 * x + 3.0 * y, weight: 1.0 };
        let points = [(10.0, 1.0), (20.0, 1.0), (40.0, 4.0), (15.0, 5.0), (100.0, 2.0)].map(of);
        let line = Line::through(&points, 0.0).unwrap();
        near(Some(line), 5.0, 2.0);
        assert!((line.ns_per_y - 3.0).abs() < 1e-6, "{line:?}");
    }

    /// Nodes without a fixed time, some of which take twice as long: relative errors alone would
    /// give 1.2 for each.
    #[test]
    fn all_nodes_together_take_as_long_as_they_did() {
        let line =
            Line::through(&points(&[(1.0, 1.0), (1.0, 2.0), (10.0, 10.0), (10.0, 20.0)]), 0.0).unwrap();
        assert!((2.0 * (line.ns(1.0, 0.0) + line.ns(10.0, 0.0)) - 33.0).abs() < 1e-9, "{line:?}");
    }

    #[test]
    fn nearer_recordings_count_more() {
        let mut points = points(&[(10.0, 10.0), (10.0, 20.0)]);
        points[1].weight = 3.0;
        near(Line::through(&points, 0.0), 0.0, 1.75);
    }
}
