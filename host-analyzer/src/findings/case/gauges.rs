//! What the board's sensors said while tokens were decoded.

use super::Case;
use crate::model::GaugeKind;

impl Case<'_> {
    /// Mean of all gauges of a kind from one time to another, ns from the start of the session.
    pub(in crate::findings) fn gauge_mean(&self, kind: GaugeKind, from: u64, to: u64) -> Option<f64> {
        let start = self.model.session.start_ns;
        let (from, to) = (start.saturating_add(from), start.saturating_add(to));
        let (mut sum, mut n) = (0.0, 0_u64);
        for gauge in self.model.gauges.iter().filter(|g| g.kind == kind) {
            for (at, value) in gauge.at_ns.iter().zip(&gauge.values) {
                if let Some(value) = value.filter(|_| (from..=to).contains(at)) {
                    sum += value as f64;
                    n += 1;
                }
            }
        }
        (n > 0).then(|| sum / n as f64)
    }

    /// Mean clock of the CPUs while tokens were decoded, Hz; `None` where no such sensor was read. The sensors of the CPUs are called
    /// so in the profiles.
    pub(in crate::findings) fn decode_clock(&self) -> Option<f64> {
        let (from, to) = self.decode_time();
        let cpu = self
            .model
            .gauges
            .iter()
            .filter(|g| g.kind == GaugeKind::Frequency && g.source.contains("/cpufreq/"));
        let (mut sum, mut n) = (0.0, 0_u64);
        for (at, value) in cpu.flat_map(|g| g.at_ns.iter().zip(&g.values)) {
            if let Some(value) = value.filter(|_| (from..=to).contains(at)) {
                sum += value as f64;
                n += 1;
            }
        }
        (n > 0).then(|| sum / n as f64)
    }
}
