//! The reported power agrees with simulated comparisons.

use profinfer_analysis::compare::{Power, RunFigures, Side, shift};
use profinfer_trace::test_support::random::Random;

/// Runs whose means have these logarithms, around ten milliseconds.
fn side(logs: impl IntoIterator<Item = f64>) -> Side {
    let run = |log: f64| RunFigures {
        calls: 40,
        units: 40,
        mean_size: 1.0,
        mean_ns: 1e7 * log.exp(),
        median_ns: 10_000_000,
        half_share: None,
        disturbed_share: None,
        mean_position: None,
    };
    Side { runs: logs.into_iter().map(run).collect() }
}

/// Two sides of `n` runs whose pooled standard deviation is `scatter`: half of the runs are above
/// the mean, half below.
fn scattered(n: usize, scatter: f64) -> [Side; 2] {
    let away = scatter * ((n - 1) as f64 / n as f64).sqrt();
    [(); 2].map(|()| side((0..n).map(|i| if i % 2 == 0 { away } else { -away })))
}

/// Share of 2,000 simulated comparisons with that shift that detect it.
fn told(n: usize, scatter: f64, by: f64) -> f64 {
    let mut random = Random(7);
    let mut one = |mean: f64| (0..n).map(|_| mean + scatter * random.normal()).collect::<Vec<f64>>();
    let found = (0..2000).filter(|_| {
        let (a, b) = (one(0.0), one(by));
        shift(&a, &b).and_then(|s| s.interval).is_some_and(|i| i.low > 0.0)
    });
    found.count() as f64 / 2000.0
}

#[test]
fn of_a_difference_as_stated_four_in_five_are_told() {
    for n in [4, 6, 8, 12, 20] {
        let scatter = 0.013;
        let power = Power::compute(&scattered(n, scatter), 0.02).unwrap();
        assert!((power.scatter.ln_1p() - scatter).abs() < 1e-9, "{n}: {power:?}");
        let share = told(n, scatter, power.told.unwrap().ln_1p());
        assert!((0.75..=0.85).contains(&share), "{n}: {share} are told of {power:?}");
    }
}

#[test]
fn so_many_runs_as_stated_tell_what_matters() {
    for scatter in [0.008, 0.013, 0.02, 0.03] {
        let n = Power::compute(&scattered(4, scatter), 0.02).unwrap().runs.unwrap();
        let share = told(n, scatter, 1.02_f64.ln());
        assert!((0.7..=0.9).contains(&share) || n == 4 && share > 0.8, "{scatter}: {n} runs tell {share}");
    }
    // A board on which a run's mean varies by half would need thousands.
    assert_eq!(Power::compute(&scattered(4, 0.5), 0.02).unwrap().runs, None);
}

#[test]
fn of_few_or_equal_runs_nothing_is_stated() {
    assert_eq!(Power::compute(&[side([0.0]), side([0.1])], 0.02), None);
    assert_eq!(Power::compute(&[side([0.0; 4]), side([0.1; 4])], 0.02), None);
    // The variation is known from the one side that has two runs, but no interval is exact.
    let few = Power::compute(&[side([0.01, -0.01]), side([0.0])], 0.02).unwrap();
    assert!((few.scatter.ln_1p() - 0.02_f64 / 2.0_f64.sqrt()).abs() < 1e-9);
    assert_eq!(few.told, None);
}
