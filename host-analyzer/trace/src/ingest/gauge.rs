//! Gauges: assigns each sample to its gauge, in order of time.

use std::collections::BTreeMap;

use profinfer_wire::record::gauge as wire;

use super::damage::Damages;
use crate::model::{DamageKind, Gauge};

/// Collects gauges and samples, which may come in any order.
#[derive(Debug, Default)]
pub(super) struct Gauges {
    gauges: BTreeMap<u16, Gauge>,
    /// Time (ns), gauge, value, offset of the record.
    samples: Vec<(u64, u16, Option<i64>, u64)>,
}

impl Gauges {
    /// A gauge that comes again replaces the earlier one.
    pub(super) fn gauge(&mut self, r: &wire::Gauge<'_>) {
        let gauge = Gauge {
            name: r.name.to_owned(),
            kind: r.kind.into(),
            unit: r.unit.into(),
            source: r.source.to_owned(),
            period_ns: u64::from(r.period_ms) * 1_000_000,
            attached: r.attached,
            note: r.note.to_owned(),
            at_ns: Vec::new(),
            values: Vec::new(),
        };
        self.gauges.insert(r.id, gauge);
    }

    pub(super) fn batch(&mut self, r: &wire::GaugeBatch<'_>, offset: u64, damages: &mut Damages) {
        let mut samples = r.samples();
        self.samples.extend(samples.by_ref().map(|s| (r.at_ns, s.id, s.value, offset)));
        if samples.failed {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
    }

    /// All gauges in order of their numbers. Samples of a missing gauge are damage.
    pub(super) fn finish(mut self, damages: &mut Damages) -> Vec<Gauge> {
        self.samples.sort_by_key(|s| s.0);
        for (at_ns, id, value, offset) in self.samples {
            match self.gauges.get_mut(&id) {
                Some(gauge) => {
                    gauge.at_ns.push(at_ns);
                    gauge.values.push(value);
                }
                None => damages.add(DamageKind::Unresolved, 1, 0, offset),
            }
        }
        self.gauges.into_values().collect()
    }
}
