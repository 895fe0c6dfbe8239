//! Rank statistics and blocking.

use profinfer_analysis::compare::{distribution, half_width, least_p, p_value, shift, stand};

use super::random::series;
use profinfer_trace::test_support::random::Random;

/// By going through every order of the values: how often each U.
fn enumerated(m: usize, n: usize) -> Vec<f64> {
    let mut counts = vec![0.0; m * n + 1];
    for order in 0_u32..1 << (m + n) {
        if order.count_ones() as usize != n {
            continue;
        }
        // A set bit is a value of the second sample; it is larger than the first sample's before it.
        let (mut of_first, mut u) = (0, 0);
        for at in 0..m + n {
            if order >> at & 1 == 1 { u += of_first } else { of_first += 1 }
        }
        counts[u] += 1.0;
    }
    let all: f64 = counts.iter().sum();
    counts.iter().map(|c| c / all).collect()
}

#[test]
fn the_distribution_of_u_is_that_of_every_order() {
    for (m, n) in [(1, 1), (2, 3), (4, 4), (5, 3), (4, 6), (6, 6)] {
        let (got, want) = (distribution(m, n), enumerated(m, n));
        assert_eq!(got.len(), want.len());
        assert!(got.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-12), "{m} and {n}: {got:?}, {want:?}");
    }
}

/// Printed tables of the two-sided test at 5 % give for equal numbers of values the largest U that is rejected.
#[test]
fn critical_values_are_those_of_the_tables() {
    for (n, critical) in
        [(4, 0), (5, 2), (6, 5), (7, 8), (8, 13), (9, 17), (10, 23), (12, 37), (15, 64), (20, 127)]
    {
        let u = distribution(n, n);
        let two_sided = |most: usize| 2.0 * u[..=most].iter().sum::<f64>();
        assert!(two_sided(critical) <= 0.05 && two_sided(critical + 1) > 0.05, "{n}");
    }
    // Three and three can never reach 5 %, four and four can.
    assert!((least_p(3, 3) - 0.1).abs() < 1e-12 && (least_p(4, 4) - 2.0 / 70.0).abs() < 1e-12);
}

#[test]
fn p_values_by_hand() {
    let (a, b) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
    assert!((p_value(&a, &b) - 2.0 / 70.0).abs() < 1e-12);
    assert!((p_value(&b, &a) - 2.0 / 70.0).abs() < 1e-12);
    // One pair the other way round: two orders of 70 on each side are as extreme.
    assert!((p_value(&[1.0, 2.0, 3.0, 5.0], &[4.0, 6.0, 7.0, 8.0]) - 4.0 / 70.0).abs() < 1e-12);
    // Ties count against a difference: all alike is no evidence, and one tie at the border is as that pair the other way round.
    assert!((p_value(&[1.0; 4], &[1.0; 4]) - 1.0).abs() < 1e-12);
    assert!((p_value(&[1.0, 2.0, 3.0, 4.0], &[4.0, 6.0, 7.0, 8.0]) - 4.0 / 70.0).abs() < 1e-12);
    assert!((p_value(&[], &[1.0]) - 1.0).abs() < 1e-12);
}

/// With four and four the interval is from the least difference of a pair to the largest, and covers 1 - 2/70.
#[test]
fn the_shift_by_hand() {
    let found = shift(&[10.0, 11.0, 12.0, 14.0], &[20.0, 21.0, 22.0, 23.0]).unwrap();
    let interval = found.interval.unwrap();
    // Differences: 10 9 8 6, 11 10 9 7, 12 11 10 8, 13 12 11 9; in order 6 7 8 8 9 9 9 10 | 10 10 11 11 11 12 12 13.
    assert!((found.estimate - 10.0).abs() < 1e-12);
    assert!((interval.low - 6.0).abs() < 1e-12 && (interval.high - 13.0).abs() < 1e-12);
    assert!((interval.coverage - (1.0 - 2.0 / 70.0)).abs() < 1e-12);
    assert!(shift(&[1.0; 3], &[2.0; 3]).unwrap().interval.is_none());
    assert!(shift(&[], &[2.0]).is_none());
    // Five and five: U <= 2 is rejected, so the third least and the third largest difference.
    let (a, b) = ([0.0, 1.0, 2.0, 3.0, 4.0], [100.0, 110.0, 120.0, 130.0, 140.0]);
    let interval = shift(&a, &b).unwrap().interval.unwrap();
    assert!((interval.low - 98.0).abs() < 1e-12 && (interval.high - 138.0).abs() < 1e-12, "{interval:?}");
}

/// The example of Benjamini and Hochberg's paper: of 15 p-values four stand at 5 %.
#[test]
fn many_rows_as_in_the_paper() {
    let p = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
        0.6528, 0.7590, 1.0,
    ];
    assert_eq!(stand(&p, 0.05), [vec![true; 4], vec![false; 11]].concat());
    let backwards: Vec<f64> = p.iter().rev().copied().collect();
    assert_eq!(stand(&backwards, 0.05), [vec![false; 11], vec![true; 4]].concat());
    assert!(stand(&[], 0.05).is_empty());
}

/// Of AR(1) series the variance of the mean is known: the interval covers the true mean about as often as it says, and is not much
/// wider than need be. That of independent values would cover 46 % of the AR(0.8) series.
#[test]
fn blocking_covers_the_mean_of_series_with_memory() {
    const TIMES: usize = 2000;
    let mut random = Random(2_026);
    for (n, memory) in
        [(100, 0.0), (400, 0.0), (100, 0.5), (200, 0.5), (200, 0.8), (300, 0.8), (500, 0.8), (1000, 0.9)]
    {
        let (mut covered, mut width) = (0, 0.0);
        for _ in 0..TIMES {
            let series = series(&mut random, n, memory);
            let mean = series.iter().sum::<f64>() / n as f64;
            let half = half_width(&series).unwrap();
            covered += usize::from(mean.abs() <= half);
            width += half / TIMES as f64;
        }
        let known = 1.96 / (1.0 - memory) / (n as f64).sqrt();
        let (coverage, width) = (covered as f64 / TIMES as f64, width / known);
        println!("{n} values, memory {memory}: covers {coverage:.3}, {width:.2} as wide");
        assert!((0.90..=0.999).contains(&coverage), "{n} values, memory {memory}: covers {coverage}");
        assert!(width < 2.0, "{n} values, memory {memory}: {width} as wide as need be");
    }
}

#[test]
fn blocking_of_few_values_and_of_a_straight_line() {
    assert_eq!(half_width(&[1.0; 7]), None);
    // A context that grows makes tokens longer, which is no error.
    let line: Vec<f64> = (0..100).map(|i| 1000.0 + 3.0 * f64::from(i)).collect();
    assert!(half_width(&line).unwrap() < 1e-9);
}
