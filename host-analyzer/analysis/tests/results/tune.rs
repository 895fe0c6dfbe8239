//! Measured settings: the recommendation, for models whose tokens are known to the nanosecond.

use profinfer_analysis::compare::Choices;
use profinfer_analysis::tune::{PRACTICAL, Setting, Standing, Trial, Tuning};
use profinfer_trace::model::{Gauge, GaugeKind, GaugeUnit, Level, Model};
use profinfer_views as views;
use profinfer_views::words::tune as words;
use serde_json::Value;

use crate::models::planted::{Plant, each};

/// A run of tokens of 450 ns and `more`.
fn model(more: u64, began: u64) -> Model {
    let mut m = each(|_| Plant { before: more, ..Plant::default() });
    m.session.start_unix_ns = began;
    m
}

/// A setting with this many threads, and the additional time of its runs.
fn setting(threads: u32, more: [u64; 4]) -> Setting {
    let trials =
        more.iter().zip(0..).map(|(m, i)| Trial::compute(&model(*m, i * 100 + u64::from(threads)))).collect();
    Setting { name: format!("t{threads}"), threads: Some(threads), cpus: None, trials }
}

fn choices() -> Choices {
    Choices { practical: PRACTICAL, ..Choices::default() }
}

fn standings(tuning: &Tuning) -> Vec<Standing> {
    tuning.tried.iter().map(|t| t.as_ref().unwrap().standing).collect()
}

/// Tokens of 450 to 453 ns with four threads. Three threads take 1 % more, at most 2 %; two take a
/// tenth more.
#[test]
fn the_fewest_threads_that_are_as_fast() {
    let settings = [
        setting(2, [45, 46, 47, 48]),
        setting(3, [3, 4, 5, 6]),
        setting(4, [0, 1, 2, 3]),
        setting(8, [2, 3, 4, 5]),
    ];
    let tuning = Tuning::compute(&settings, choices());
    assert_eq!(standings(&tuning), [Standing::Slower, Standing::AsFast, Standing::Fastest, Standing::AsFast]);
    assert_eq!((tuning.fastest, tuning.choice, &tuning.open[..]), (Some(2), Some(1), &[][..]));
    let three = tuning.tried[1].as_ref().unwrap();
    // The lower of the middle two of 453, 454, 455, 456.
    assert_eq!(three.token_ns, 454);
    let (low, high) = three.interval.unwrap();
    assert!((low - 0.0).abs() < 1e-9 && (high - 6.0 / 450.0).abs() < 1e-9, "{low} {high}");
    let said = words::advice(&tuning, &settings);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("Use t3: 2202643 t/s, within 3.0 % of the fastest (t4, "), "{said:?}");
}

/// Runs with a large spread decide nothing about two threads: the setting is named, and not
/// recommended.
#[test]
fn what_is_not_decided_is_said() {
    let settings = [setting(2, [2, 40, 3, 42]), setting(4, [0, 1, 2, 3])];
    let tuning = Tuning::compute(&settings, choices());
    assert_eq!(standings(&tuning), [Standing::Undecided, Standing::Fastest]);
    assert_eq!((tuning.choice, &tuning.open[..]), (Some(1), &[0][..]));
    assert!(words::advice(&tuning, &settings)[1].starts_with("Inconclusive for t2:"));
    // With one run each the spread between sessions is more than what matters.
    let single = settings.map(|s| Setting { trials: s.trials[..1].to_vec(), ..s });
    assert_eq!(standings(&Tuning::compute(&single, choices())), [Standing::Undecided, Standing::Fastest]);
}

#[test]
fn other_work_is_not_recommended() {
    let of_duty = |threads: u32, duty_permille: u16, more: u64| {
        let trial = |i: u64| {
            let mut m = model(more, i * 10 + u64::from(threads));
            m.session.levels = vec![Level::Token];
            m.capture.duty_permille = duty_permille;
            Trial::compute(&m)
        };
        let trials = (0..4).map(trial).collect();
        Setting { name: format!("t{threads}"), threads: Some(threads), cpus: None, trials }
    };
    let settings = [of_duty(1, 500, 0), of_duty(4, 1000, 1)];
    let tuning = Tuning::compute(&settings, choices());
    assert_eq!(tuning.fastest, Some(0));
    assert_eq!(standings(&tuning), [Standing::Fastest, Standing::OtherWork]);
    assert!(words::advice(&tuning, &settings)[1].starts_with("t4 did other work"));
    assert!(Tuning::compute(&[Setting::default()], choices()).choice.is_none());
}

/// Settings with one and with two power sensors, each of which always shows 2 W.
fn powered() -> [Setting; 2] {
    let gauge = |name: &str, kind, unit, value: i64| Gauge {
        name: name.to_owned(),
        kind,
        unit,
        source: String::new(),
        period_ns: 1000,
        attached: true,
        note: String::new(),
        at_ns: (0..200).map(|i| i * 1000).collect(),
        values: vec![Some(value); 200],
    };
    let with = |power: usize| {
        let mut m = model(0, 0);
        for i in 0..power {
            m.gauges.push(gauge(&format!("rail {i}"), GaugeKind::Power, GaugeUnit::Microwatts, 2_000_000));
        }
        m.gauges.push(gauge("CPU", GaugeKind::Frequency, GaugeUnit::Hertz, 1_800_000_000));
        let trials = vec![Trial::compute(&m)];
        Setting { name: format!("t{power}"), threads: Some(4), cpus: Some("4-7".to_owned()), trials }
    };
    [with(1), with(2)]
}

/// The same, as they are written.
pub(crate) fn written() -> Vec<u8> {
    let settings = powered();
    let mut bytes = Vec::new();
    views::tune::json(None, Some((&Tuning::compute(&settings, choices()), &settings)), &mut bytes).unwrap();
    bytes
}

/// A sensor that always shows 2 W: 2 W · 450 ns is 0.9 µJ. Two sensors may be parts of each other.
#[test]
fn energy_of_a_token() {
    let settings = powered();
    let tuning = Tuning::compute(&settings, choices());
    let bytes = written();
    let json: Value = serde_json::from_slice(&bytes).unwrap();
    let row = &json["settings"][0];
    assert!((row["joules_per_token"].as_f64().unwrap() - 9e-7).abs() < 1e-12, "{row:#}");
    assert_eq!(row["power"][0]["mean"], 2.0);
    assert_eq!(row["clocks"][0]["mean"], 1.8e9);
    assert_eq!((&row["cpus"], &row["threads"]), (&"4-7".into(), &4.into()));
    assert_eq!(json["settings"][1]["joules_per_token"], Value::Null);
    let mut shown = Vec::new();
    views::terminal::tune::tune(&tuning, &settings, 120, &mut shown).unwrap();
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("CPU 1800 MHz") && shown.contains("rail 0 2.00 W"), "{shown}");
}
