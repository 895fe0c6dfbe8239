//! Gauges: values of a board's sensors outside the cores, read several times per second.

use serde::{Deserialize, Serialize};

use crate::gauges::Gauges;

/// Most gauges in one session.
pub const MAX_GAUGES: usize = 64;

/// What a gauge measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// Unit of a gauge's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// Format of a sensor's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GaugeParse {
    /// One integer.
    Integer,
    /// One integer in thousands of the unit: cpufreq's kHz.
    Thousands,
    /// One integer, with or without a `%` after it.
    Percent,
    /// `37@528000000Hz`: a load in percent and the frequency that it belongs to, which is not read.
    LoadAtFrequency,
    /// `NPU load:  Core0:  0%, Core1:  0%, Core2:  0%,`: one gauge per core.
    RknpuLoad,
}

/// One gauge, read or not. Sent again with the reason when its sensor fails later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gauge<'a> {
    /// Its number in batches.
    pub id: u16,
    /// Name for people: the request's name and the sensor's (`CPU frequency policy0`).
    pub name: &'a str,
    /// What it measures.
    pub kind: GaugeKind,
    /// Unit of its values.
    pub unit: GaugeUnit,
    /// The file, or PMU/event; the request's path if no sensor was found.
    pub source: &'a str,
    /// Time between two samples, ms.
    pub period_ms: u32,
    /// Whether it is read.
    pub attached: bool,
    /// Why it is not read, or why values are absent.
    pub note: &'a str,
}

/// Values of gauges at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GaugeBatch<'a> {
    /// When the first of them was read, ns.
    pub at_ns: u64,
    /// Number of samples.
    pub count: u16,
    /// The samples, see [`crate::gauges`].
    pub bytes: &'a [u8],
}

impl<'a> GaugeBatch<'a> {
    /// Decodes the samples.
    #[must_use]
    pub const fn samples(&self) -> Gauges<'a> {
        Gauges::new(self.count, self.bytes)
    }
}
