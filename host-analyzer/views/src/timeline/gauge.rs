//! Gauges as counter tracks, the same in both formats.

use profinfer_analysis::Analysis;
use profinfer_analysis::gauge::segments;
use profinfer_trace::model::{GaugeUnit, Model};

/// Name of the group of all of them.
pub(crate) const GROUP: &str = "board";

/// A value of a counter track.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    /// What the sensor said.
    Whole(i64),
    /// Bytes per second until the next value.
    Rate(f64),
}

/// One track.
pub(crate) struct Track<'a> {
    pub(crate) name: &'a str,
    /// Unit as people write it.
    pub(crate) unit: &'static str,
    /// Time, ns, and value, in order.
    pub(crate) points: Vec<(u64, Number)>,
}

/// The tracks of gauges with figures.
pub(crate) fn tracks<'a>(model: &'a Model, analysis: &'a Analysis) -> impl Iterator<Item = Track<'a>> {
    let with_figures = model.gauges.iter().zip(&analysis.gauge).filter(|(_, row)| row.whole.is_some());
    with_figures.map(|(gauge, row)| {
        let points = match gauge.unit {
            GaugeUnit::Bytes => {
                segments(gauge).into_iter().map(|s| (s.start_ns, Number::Rate(s.value))).collect()
            }
            _ => {
                let rows = gauge.at_ns.iter().zip(&gauge.values);
                rows.filter_map(|(at, value)| Some((*at, Number::Whole((*value)?)))).collect()
            }
        };
        Track { name: &row.name, unit: unit(gauge.unit), points }
    })
}

const fn unit(unit: GaugeUnit) -> &'static str {
    match unit {
        GaugeUnit::Hertz => "Hz",
        GaugeUnit::Millidegrees => "m°C",
        GaugeUnit::Percent => "%",
        GaugeUnit::Bytes => "B/s",
        GaugeUnit::Microwatts => "µW",
    }
}
