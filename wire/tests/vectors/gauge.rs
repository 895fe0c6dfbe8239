//! The examples of gauges.

use profinfer_wire::gauges::{GaugeSample, Gauges};
use profinfer_wire::record::Record;
use profinfer_wire::record::gauge::{Gauge, GaugeBatch, GaugeKind, GaugeUnit};

/// Values of four gauges: a frequency, a temperature below zero, a node that could not be read,
/// bytes.
pub(super) fn samples() -> [GaugeSample; 4] {
    let sample = |id, value| GaugeSample { id, value };
    [
        sample(0, Some(1_800_000_000)),
        sample(1, Some(-5_000)),
        sample(2, None),
        sample(63, Some(0x12_3456_7890)),
    ]
}

pub(super) fn packed_samples() -> Vec<u8> {
    let mut bytes = [0; 256];
    let len = samples().iter().fold(0, |at, s| s.encode(&mut bytes, at).expect("room"));
    bytes[..len].to_vec()
}

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let gauge = Gauge {
        id: 0,
        name: "CPU frequency policy0",
        kind: GaugeKind::Frequency,
        unit: GaugeUnit::Hertz,
        source: "/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq",
        period_ms: 100,
        attached: true,
        note: "",
    };
    check("gauge", &Record::Gauge(gauge));
    let samples = packed_samples();
    let batch = GaugeBatch { at_ns: 2_500_000_000, count: 4, bytes: &samples };
    check("gauge batch", &Record::GaugeBatch(batch));
}

#[test]
fn packed_samples_decode_to_what_was_packed() {
    let bytes = packed_samples();
    assert_eq!(Gauges::new(4, &bytes).collect::<Vec<_>>(), samples());
    for cut in 0..bytes.len() {
        let mut short = Gauges::new(4, &bytes[..cut]);
        assert!(short.by_ref().count() < 4 && short.failed);
    }
    // A number that no gauge can have.
    assert_eq!(Gauges::new(1, &[0x80, 0x80, 0x08]).next(), None);
}
