//! From a board's nodes to wishes.

use profinfer_wire::record::control::{GaugeSource, GaugeWish};
use profinfer_wire::record::gauge::{GaugeKind, GaugeParse, GaugeUnit};

use crate::board::Board;
use crate::node::{Kind, Node, NodeUnit, Parse};

impl Board {
    /// What to sample: every node, a PMU's once for each event.
    #[must_use]
    pub fn gauge_plan(&self, period_ms: u32) -> Vec<GaugeWish<'_>> {
        self.uncore.iter().flat_map(|node| node.wishes(period_ms)).collect()
    }
}

impl Node {
    fn wishes(&self, period_ms: u32) -> Vec<GaugeWish<'_>> {
        let wish = |source| GaugeWish {
            name: &self.name,
            kind: kind(self.kind),
            unit: unit(self.unit),
            source,
            period_ms,
        };
        let parse = self.parse.map_or(GaugeParse::Integer, |p| parse(p, self.unit));
        let file = self.path.iter().map(|path| wish(GaugeSource::File { path, parse }));
        let pmu = self.pmu.iter();
        let events = pmu.flat_map(|pmu| self.events.iter().map(|e| wish(GaugeSource::Pmu { pmu, event: e })));
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

const fn unit(unit: NodeUnit) -> GaugeUnit {
    match unit {
        NodeUnit::Hertz | NodeUnit::Kilohertz => GaugeUnit::Hertz,
        NodeUnit::Millidegrees => GaugeUnit::Millidegrees,
        NodeUnit::Percent => GaugeUnit::Percent,
        NodeUnit::Bytes => GaugeUnit::Bytes,
        NodeUnit::Microwatts => GaugeUnit::Microwatts,
    }
}

/// A node in kHz is an integer; the profile was refused otherwise.
const fn parse(parse: Parse, unit: NodeUnit) -> GaugeParse {
    match (parse, unit) {
        (Parse::Integer, NodeUnit::Kilohertz) => GaugeParse::Thousands,
        (Parse::Integer, _) => GaugeParse::Integer,
        (Parse::Percent, _) => GaugeParse::Percent,
        (Parse::LoadAtFrequency, _) => GaugeParse::LoadAtFrequency,
        (Parse::RknpuLoad, _) => GaugeParse::RknpuLoad,
    }
}
