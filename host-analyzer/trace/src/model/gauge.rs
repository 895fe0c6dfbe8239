//! Gauges: values of the board's sensors outside the cores.

/// What a gauge measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GaugeKind {
    /// A clock.
    Frequency,
    /// A temperature.
    Temperature,
    /// Utilisation of a device.
    Load,
    /// Memory traffic.
    Ddr,
    /// Electrical power.
    Power,
}

impl GaugeKind {
    /// Name in views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frequency => "frequency",
            Self::Temperature => "temperature",
            Self::Load => "load",
            Self::Ddr => "ddr",
            Self::Power => "power",
        }
    }
}

/// Unit of a gauge's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GaugeUnit {
    /// Hz.
    Hertz,
    /// 1/1000 °C.
    Millidegrees,
    /// Percent.
    Percent,
    /// Bytes since the session began.
    Bytes,
    /// 1/1000000 W.
    Microwatts,
}

/// One gauge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gauge {
    /// Name for people.
    pub name: String,
    /// What it measures.
    pub kind: GaugeKind,
    /// Unit of its values.
    pub unit: GaugeUnit,
    /// The file, or PMU/event.
    pub source: String,
    /// Time between two samples, ns.
    pub period_ns: u64,
    /// Whether it was read.
    pub attached: bool,
    /// Why it was not, or why values are absent.
    pub note: String,
    /// Times of its samples, ns, in order.
    pub at_ns: Vec<u64>,
    /// Values, with the same rows; `None` where the node could not be read.
    pub values: Vec<Option<i64>>,
}
