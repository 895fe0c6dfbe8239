//! From a board's sensors to requests.

use profinfer_wire::record::control::{GaugeRequest, GaugeSource};
use profinfer_wire::record::gauge::{GaugeKind, GaugeParse, GaugeUnit};

use crate::board::Board;
use crate::sensor::{Kind, Parse, Sensor, SensorUnit};

impl Board {
    /// The gauges to request: one for each sensor, and for a PMU one for each event. `period_ms` is
    /// the time between two samples, ms.
    #[must_use]
    pub fn gauge_plan(&self, period_ms: u32) -> Vec<GaugeRequest<'_>> {
        self.uncore.iter().flat_map(|sensor| sensor.requests(period_ms)).collect()
    }
}

impl Sensor {
    fn requests(&self, period_ms: u32) -> Vec<GaugeRequest<'_>> {
        let request = |source| GaugeRequest {
            name: &self.name,
            kind: kind(self.kind),
            unit: unit(self.unit),
            source,
            period_ms,
        };
        let parse = self.parse.map_or(GaugeParse::Integer, |p| parse(p, self.unit));
        let file = self.path.iter().map(|path| request(GaugeSource::File { path, parse }));
        let pmu = self.pmu.iter();
        let events =
            pmu.flat_map(|pmu| self.events.iter().map(|e| request(GaugeSource::Pmu { pmu, event: e })));
        file.chain(events).collect()
    }
}

const fn kind(kind: Kind) -> GaugeKind {
    match kind {
        Kind::Frequency => GaugeKind::Frequency,
        Kind::Temperature => GaugeKind::Temperature,
        Kind::Load => GaugeKind::Load,
        Kind::Ddr => GaugeKind::Ddr,
        Kind::Power => GaugeKind::Power,
    }
}

const fn unit(unit: SensorUnit) -> GaugeUnit {
    match unit {
        SensorUnit::Hertz | SensorUnit::Kilohertz => GaugeUnit::Hertz,
        SensorUnit::Millidegrees => GaugeUnit::Millidegrees,
        SensorUnit::Percent => GaugeUnit::Percent,
        SensorUnit::Bytes => GaugeUnit::Bytes,
        SensorUnit::Microwatts => GaugeUnit::Microwatts,
    }
}

/// A sensor in kHz is an integer, otherwise the profile was refused.
const fn parse(parse: Parse, unit: SensorUnit) -> GaugeParse {
    match (parse, unit) {
        (Parse::Integer, SensorUnit::Kilohertz) => GaugeParse::Thousands,
        (Parse::Integer, _) => GaugeParse::Integer,
        (Parse::Percent, _) => GaugeParse::Percent,
        (Parse::LoadAtFrequency, _) => GaugeParse::LoadAtFrequency,
        (Parse::RknpuLoad, _) => GaugeParse::RknpuLoad,
    }
}
