//! Gauges over the small session, computed by hand: decode calls run from 3100 to 3500 and from
//! 3600 to 4020.

use profinfer_analysis::Analysis;
use profinfer_analysis::gauge::{Figures, Gauge, Note};
use profinfer_trace::model::{self, GaugeKind, GaugeUnit};

use crate::models::small;

fn analysed(unit: GaugeUnit, period_ns: u64, rows: &[(u64, Option<i64>)]) -> Gauge {
    let mut model = small::model();
    model.gauges.push(model::Gauge {
        name: "gauge".to_owned(),
        kind: GaugeKind::Frequency,
        unit,
        source: String::new(),
        period_ns,
        attached: true,
        note: String::new(),
        at_ns: rows.iter().map(|r| r.0).collect(),
        values: rows.iter().map(|r| r.1).collect(),
    });
    Analysis::compute(&model).gauge.remove(0)
}

fn figures(min: f64, mean: f64, max: f64, covered_ns: u64) -> Option<Figures> {
    Some(Figures { min, mean, max, covered_ns })
}

#[test]
fn means_are_weighted_by_time() {
    let g = analysed(
        GaugeUnit::Hertz,
        1_000,
        &[(2_000, Some(10)), (3_000, Some(20)), (3_300, Some(40)), (4_000, Some(5))],
    );
    assert_eq!((g.samples, g.absent), (4, 0));
    // 1000 at 10, 300 at 20, 700 at 40; the last value applies for no time.
    assert_eq!(g.whole, figures(5.0, (10_000.0 + 6_000.0 + 28_000.0) / 2_000.0, 40.0, 2_000));
    // 200 of the first call at 20, 200 at 40; 400 of the second at 40, then only the last value is
    // known.
    assert_eq!(g.decode, figures(5.0, (4_000.0 + 8_000.0 + 16_000.0) / 800.0, 40.0, 800));
    assert_eq!((g.decode_bytes_per_token, g.decode_tokens), (None, 0));
}

#[test]
fn what_could_not_be_read_or_was_lost_is_not_filled() {
    // Absent from 3200 on; then a gap of 10 periods, for two of which the previous value applies.
    let rows = [(3_100, Some(10)), (3_200, None), (3_300, Some(30)), (3_400, Some(50)), (4_400, Some(90))];
    let g = analysed(GaugeUnit::Percent, 100, &rows);
    assert_eq!((g.samples, g.absent), (4, 1));
    assert_eq!(g.whole, figures(10.0, (1_000.0 + 3_000.0 + 10_000.0) / 400.0, 90.0, 400));
    // In the calls: 100 at 10, 100 at 30, 100 at 50 up to 3500.
    assert_eq!(g.decode, figures(10.0, (1_000.0 + 3_000.0 + 5_000.0) / 300.0, 50.0, 300));
}

#[test]
fn one_value_is_its_own_mean_and_none_is_none() {
    let g = analysed(GaugeUnit::Millidegrees, 100, &[(2_000, Some(46_000))]);
    assert_eq!((g.whole, g.decode), (figures(46_000.0, 46_000.0, 46_000.0, 0), None));
    let g = analysed(GaugeUnit::Millidegrees, 100, &[(2_000, None)]);
    assert_eq!((g.whole, g.decode, g.samples, g.absent), (None, None, 0, 1));
}

#[test]
fn traffic_per_second_and_per_token() {
    // 1 byte per ns up to 3000, 3 bytes per ns up to 3600, then unknown.
    let rows = [(2_000, Some(0)), (3_000, Some(1_000)), (3_300, None), (3_600, Some(2_800))];
    let g = analysed(GaugeUnit::Bytes, 100, &rows);
    assert_eq!(g.unit, "bytes_per_s");
    assert_eq!(g.whole, figures(1e9, 2_800.0 / 1_600.0 * 1e9, 3e9, 1_600));
    // Only the first call is covered throughout: 400 ns, one token.
    assert_eq!((g.decode_bytes_per_token, g.decode_tokens), (Some(1_200.0), 1));
    assert_eq!(g.decode, figures(3e9, 3e9, 3e9, 400));
}

#[test]
fn a_counter_that_never_counts_has_no_figures() {
    let g = analysed(GaugeUnit::Bytes, 100, &[(2_000, Some(0)), (4_000, Some(0))]);
    assert_eq!((g.whole, g.decode, g.decode_bytes_per_token), (None, None, None));
    assert_eq!(g.note, Note::CountedNothing);
}
