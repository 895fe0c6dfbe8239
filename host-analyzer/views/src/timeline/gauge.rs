//! Gauges as counters.

use profinfer_analysis::Analysis;
use profinfer_analysis::gauge::segments;
use profinfer_trace::model::{GaugeUnit, Model};

/// Name of the group of all counters.
pub(super) const GROUP: &str = "board";

/// A value of a counter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    /// What the sensor returned.
    Integer(i64),
    /// Bytes per second until the next value.
    Rate(f64),
}

/// The values of one gauge.
pub(super) struct Counter<'a> {
    pub(super) name: &'a str,
    /// Unit as people write it.
    pub(super) unit: &'static str,
    /// Time in ns of the session's clock, and value, in order.
    pub(super) points: Vec<(u64, Number)>,
}

/// The gauges that have figures.
pub(super) fn counters<'a>(model: &'a Model, analysis: &'a Analysis) -> Vec<Counter<'a>> {
    let with_figures = model.gauges.iter().zip(&analysis.gauge).filter(|(_, row)| row.whole.is_some());
    let counter = |(gauge, row): (&profinfer_trace::model::Gauge, &'a profinfer_analysis::gauge::Gauge)| {
        let points = match gauge.unit {
            GaugeUnit::Bytes => {
                segments(gauge).into_iter().map(|s| (s.start_ns, Number::Rate(s.value))).collect()
            }
            _ => {
                let rows = gauge.at_ns.iter().zip(&gauge.values);
                rows.filter_map(|(at, value)| Some((*at, Number::Integer((*value)?)))).collect()
            }
        };
        Counter { name: &row.name, unit: unit(gauge.unit), points }
    };
    with_figures.map(counter).collect()
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
