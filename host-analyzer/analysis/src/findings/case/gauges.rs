//! Sensor values during the judged calls.

use super::Case;
use profinfer_trace::model::{Gauge, GaugeKind};

impl Case<'_> {
    /// Mean of all gauges of a kind from one time to another, ns from the start of the session.
    pub(in crate::findings) fn gauge_mean(&self, kind: GaugeKind, from: u64, to: u64) -> Option<f64> {
        let start = self.model.session.start_ns;
        let time = (start.saturating_add(from), start.saturating_add(to));
        mean(self.model.gauges.iter().filter(|g| g.kind == kind), time)
    }

    /// Mean clock of the CPUs from the first judged call to the last, Hz; `None` where no such sensor was read.
    /// The name is that of the CPU sensors in the profiles.
    pub(in crate::findings) fn clock(&self) -> Option<f64> {
        let cpu = |g: &&Gauge| g.kind == GaugeKind::Frequency && g.source.contains("/cpufreq/");
        let times = self.calls.times(self.model);
        let (first, last) = (times.first()?, times.last()?);
        mean(self.model.gauges.iter().filter(cpu), (first.0, last.1))
    }
}

/// Mean of the gauges' values from one time to another, ns of the session's clock; `None` without
/// values.
fn mean<'a>(gauges: impl Iterator<Item = &'a Gauge>, (from, to): (u64, u64)) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0_u64);
    for (at, value) in gauges.flat_map(|g| g.at_ns.iter().zip(&g.values)) {
        if let Some(value) = value.filter(|_| (from..=to).contains(at)) {
            sum += value as f64;
            n += 1;
        }
    }
    (n > 0).then(|| sum / n as f64)
}
