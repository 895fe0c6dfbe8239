//! A chart of one series as SVG: a point per capture, a line for the median of each build.

use std::fmt::Write;

use super::series::Series;
use super::text;

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 24.0;

pub(super) fn of(series: &Series) -> String {
    let points = &series.points;
    let speeds = || points.iter().map(|p| p.speed);
    let (low, high) = (speeds().fold(f64::INFINITY, f64::min), speeds().fold(f64::NEG_INFINITY, f64::max));
    // Noise of one percent must not fill the height.
    let room = ((high - low) * 0.1).max(high.abs() * 0.025).max(f64::MIN_POSITIVE);
    let (floor, ceiling) = ((low - room).max(0.0_f64.min(low)), high + room);
    let step = (WIDTH - LEFT - RIGHT) / points.len().max(1) as f64;
    let x = |i: usize| LEFT + (i as f64 + 0.5) * step;
    let y = |speed: f64| {
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - (speed - floor) / (ceiling - floor)).clamp(0.0, 1.0)
    };
    let mut svg =
        format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">", text(&series.title));
    for value in [low, high] {
        if value == high && high - low < room {
            continue;
        }
        let at = y(value);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text x=\"{}\" y=\"{:.1}\" class=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 4.0,
            text(&crate::ask::Value::Float(value).shown())
        );
    }
    if let Some(before) = series.change.filter(|n| *n < points.len()) {
        let at = LEFT + before as f64 * step;
        let _ = write!(
            svg,
            "<line class=\"change\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{}\"/>",
            HEIGHT - BOTTOM
        );
    }
    for (first, last) in builds(series) {
        let mut of_build: Vec<f64> = points[first..=last].iter().map(|p| p.speed).collect();
        of_build.sort_by(f64::total_cmp);
        let n = of_build.len();
        let at = y((of_build[(n - 1) / 2] + of_build[n / 2]) / 2.0);
        let (from, to) = (x(first) - step * 0.4, x(last) + step * 0.4);
        let _ = write!(
            svg,
            "<line class=\"build\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"><title>{}</title></line>",
            text(&points[first].engine)
        );
    }
    for (i, point) in points.iter().enumerate() {
        let shown = crate::ask::Value::Float(point.speed).shown();
        let about = text(&format!("{} · {} · {shown} tokens/s", point.date, point.engine));
        let _ = write!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.6\"><title>{about}</title></circle>",
            x(i),
            y(point.speed)
        );
    }
    if let (Some(first), Some(last)) = (points.first(), points.last()) {
        let base = HEIGHT - 6.0;
        let _ = write!(svg, "<text x=\"{LEFT}\" y=\"{base}\">{}</text>", text(&first.date));
        if first.date != last.date {
            let _ = write!(
                svg,
                "<text x=\"{}\" y=\"{base}\" class=\"end\">{}</text>",
                WIDTH - RIGHT,
                text(&last.date)
            );
        }
    }
    svg + "</svg>"
}

/// First and last capture of each stretch with one build.
fn builds(series: &Series) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (i, point) in series.points.iter().enumerate() {
        match found.last_mut() {
            Some((first, last)) if series.points[*first].engine == point.engine => *last = i,
            _ => found.push((i, i)),
        }
    }
    found
}
