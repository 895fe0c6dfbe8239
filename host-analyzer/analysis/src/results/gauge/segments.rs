//! Values between two samples.

use profinfer_trace::model::{Gauge, GaugeUnit};

/// A value that applies from `start_ns` to `end_ns`; the last sample's segment has no length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// ns.
    pub start_ns: u64,
    /// ns.
    pub end_ns: u64,
    /// Value in the gauge's unit; for bytes, bytes per second.
    pub value: f64,
}

/// A value applies until the next sample, for two periods at most: later samples were lost, or
/// could not be read. Byte counters continue meanwhile, so their rate is known between any two
/// values.
#[must_use]
pub fn segments(gauge: &Gauge) -> Vec<Segment> {
    let rows: Vec<(u64, Option<i64>)> =
        gauge.at_ns.iter().copied().zip(gauge.values.iter().copied()).collect();
    if gauge.unit == GaugeUnit::Bytes {
        return rates(&rows);
    }
    let longest = gauge.period_ns.saturating_mul(2);
    let of = |(i, (at, value)): (usize, &(u64, Option<i64>))| {
        let value = (*value)? as f64;
        let next = rows.get(i + 1).map_or(*at, |(next, _)| *next);
        Some(Segment { start_ns: *at, end_ns: next.min(at.saturating_add(longest)), value })
    };
    rows.iter().enumerate().filter_map(of).collect()
}

fn rates(rows: &[(u64, Option<i64>)]) -> Vec<Segment> {
    let known: Vec<(u64, i64)> = rows.iter().filter_map(|(at, value)| Some((*at, (*value)?))).collect();
    let of = |w: &[(u64, i64)]| {
        let ns = w[1].0 - w[0].0;
        let bytes = w[1].1.checked_sub(w[0].1).filter(|b| *b >= 0)?;
        (ns > 0).then(|| Segment { start_ns: w[0].0, end_ns: w[1].0, value: bytes as f64 * 1e9 / ns as f64 })
    };
    known.windows(2).filter_map(of).collect()
}
