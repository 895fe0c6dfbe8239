//! Sensors outside the cores: frequencies, temperatures, loads, memory traffic, power.

use serde::Deserialize;

use crate::Provenance;

/// A source that is read while a session runs: a file, or a PMU that counts for the whole system.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sensor {
    /// Name, for people and tracks.
    pub name: String,
    /// What it measures.
    pub kind: Kind,
    /// File on the board; `*` is allowed, and every file that matches is read. A sensor has either
    /// `path` or `pmu`.
    #[serde(default)]
    pub path: Option<String>,
    /// PMU's name in /sys/bus/event_source/devices.
    #[serde(default)]
    pub pmu: Option<String>,
    /// Events of that PMU, as its folder `events` names them.
    #[serde(default)]
    pub events: Vec<String>,
    /// Unit of the values.
    pub unit: SensorUnit,
    /// Format of the file; not for a PMU, which has its own `scale` files.
    #[serde(default)]
    pub parse: Option<Parse>,
    /// Where its facts come from.
    pub provenance: Provenance,
}

/// What a sensor measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A clock.
    Frequency,
    /// A temperature.
    Temperature,
    /// Utilisation of a device, percent.
    Load,
    /// Memory traffic.
    Ddr,
    /// Electrical power.
    Power,
}

/// Unit of a sensor's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SensorUnit {
    /// Hz.
    Hertz,
    /// 1000 Hz, the unit of cpufreq.
    Kilohertz,
    /// 1/1000 °C, the unit of the thermal zones.
    Millidegrees,
    /// Percent.
    Percent,
    /// Bytes.
    Bytes,
    /// 1/1000000 W, the unit of hwmon.
    Microwatts,
}

/// Format of a sensor's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parse {
    /// One integer.
    Integer,
    /// One integer, with or without a `%` after it.
    Percent,
    /// `37@528000000Hz`: a load in percent and the frequency that it belongs to.
    LoadAtFrequency,
    /// `NPU load:  Core0:  0%, Core1:  0%, Core2:  0%,`: one value per core.
    RknpuLoad,
}
