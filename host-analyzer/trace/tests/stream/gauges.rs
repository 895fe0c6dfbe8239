//! Gauges: each sample arrives at its gauge and time; samples without a gauge are damage.

use profinfer_trace::model::{DamageKind, GaugeKind, GaugeUnit};

use crate::whole_session::{damage, model};
use profinfer_trace::test_support::bytes::Fields;
use profinfer_trace::test_support::records::{gauge, gauge_batch};

#[test]
fn gauges_arrive_in_any_order() {
    let mut all = vec![
        gauge(0, "CPU frequency policy0", 0, 0, true, ""),
        gauge(1, "temperature", 1, 1, true, ""),
        gauge(2, "memory traffic", 3, 3, false, "the kernel has no such PMU"),
        gauge_batch(2_000, &[(0, Some(1_800_000_000)), (1, Some(-5_000))]),
        gauge_batch(3_000, &[(0, Some(i64::MAX)), (1, None)]),
        gauge_batch(3_500, &[(1, Some(i64::MIN))]),
    ];
    let first = model(&all);
    assert_eq!(damage(&first), []);
    let [frequency, temperature, traffic] = &*first.gauges else { panic!("{:?}", first.gauges) };
    assert_eq!(
        (frequency.kind, frequency.unit, frequency.period_ns),
        (GaugeKind::Frequency, GaugeUnit::Hertz, 100_000_000)
    );
    assert_eq!(
        (&*frequency.at_ns, &*frequency.values),
        (&[2_000, 3_000][..], &[Some(1_800_000_000), Some(i64::MAX)][..])
    );
    assert_eq!((temperature.kind, temperature.unit), (GaugeKind::Temperature, GaugeUnit::Millidegrees));
    assert_eq!(temperature.at_ns, [2_000, 3_000, 3_500]);
    assert_eq!(temperature.values, [Some(-5_000), None, Some(i64::MIN)]);
    assert_eq!((traffic.kind, traffic.unit, traffic.attached), (GaugeKind::Ddr, GaugeUnit::Bytes, false));
    assert_eq!((traffic.note.as_str(), traffic.values.len()), ("the kernel has no such PMU", 0));
    all.reverse();
    assert_eq!(model(&all).gauges, first.gauges);
    // Sent again, with the reason why values are absent.
    all.push(gauge(1, "temperature", 1, 1, true, "reading it: no"));
    let again = model(&all);
    assert_eq!(
        (again.gauges[1].note.as_str(), &again.gauges[1].values),
        ("reading it: no", &temperature.values)
    );
}

#[test]
fn what_belongs_to_no_gauge_is_damage() {
    let known = gauge(0, "g", 2, 2, true, "");
    let stray = model(&[known.clone(), gauge_batch(2_000, &[(0, Some(1)), (5, Some(2))])]);
    assert_eq!(damage(&stray), [(DamageKind::Unresolved, 1)]);
    assert_eq!(stray.gauges[0].values, [Some(1)]);
    // Three announced samples, of which one and a half are there; and an unknown kind.
    let short = (0x50, Fields::default().uint(2_000).uint(3).bytes(&[1, 2, 1]).0);
    let cut = model(&[known, short]);
    assert_eq!((damage(&cut), &*cut.gauges[0].values), (vec![(DamageKind::Malformed, 1)], &[Some(1)][..]));
    assert_eq!(damage(&model(&[gauge(0, "g", 9, 2, true, "")])), [(DamageKind::Malformed, 1)]);
}
