//! The slowdown by tracing, measured from traced and untraced neighbours.

use profinfer_analysis::Analysis;
use profinfer_analysis::duty::{Measured, Slowdown};
use profinfer_analysis::health::Remark;
use profinfer_analysis::ladder::{Question, StepKind};
use profinfer_analysis::phase::Phases;
use profinfer_analysis::replay::Replay;
use profinfer_trace::model::*;

use crate::models::duty::{TIMES, TOKEN_NS, Times, thin, timed};
use crate::models::planted;

fn slowdown(m: &Model) -> Slowdown {
    Slowdown::compute(m, &Phases::compute(m), &Replay::default(), None)
}

fn measured(m: &Model) -> Measured {
    match slowdown(m) {
        Slowdown::Measured(measured) => measured,
        other => panic!("{other:?}"),
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

#[test]
fn without_noise_it_is_what_was_planted() {
    let m = measured(&timed(&TIMES, 1));
    assert!(near(m.slowdown, 0.05) && near(m.low, 0.05) && near(m.high, 0.05), "{m:?}");
    // A tenth of the tokens.
    assert_eq!((m.bursts, m.traced, m.untraced), (20, 80, 20 * 2 * 4));
    assert!(near(m.of_all_tokens, 0.05 * 80.0 / 800.0), "{m:?}");
}

#[test]
fn growth_with_the_position_is_taken_out() {
    // In the 40 tokens from burst to burst a token grows by 4 %, in total by 80 %.
    let m = measured(&timed(&Times { growth: TOKEN_NS / 1_000.0, ..TIMES }, 1));
    assert!(near(m.slowdown, 0.05) && near(m.low, 0.05) && near(m.high, 0.05), "{m:?}");
}

#[test]
fn the_machine_s_weather_is_in_both_of_a_pair() {
    let m = measured(&timed(&Times { weather: 0.05, ..TIMES }, 1));
    assert!((m.slowdown - 0.05).abs() < 0.005, "{m:?}");
}

#[test]
fn its_interval_holds_in_95_of_100_draws() {
    let draws = 400;
    let times = Times { noise: 0.03, weather: 0.03, growth: TOKEN_NS / 2_000.0, ..TIMES };
    let holds = (1..=draws).filter(|seed| {
        let m = measured(&timed(&times, *seed));
        m.low <= 0.05 && 0.05 <= m.high
    });
    let holds = holds.count();
    // By order statistics it is at least 95 %: 95.9 for twenty bursts. The standard error of 400
    // draws is 1 %.
    assert!((372..=396).contains(&holds), "{holds}");
    // And it is no wider than necessary: the noise of a pair is about 2.5 %, that of the median of
    // twenty 0.7 %.
    let m = measured(&timed(&times, 7));
    assert!(m.high - m.low < 0.05, "{m:?}");
}

#[test]
fn bursts_without_neighbours_on_both_sides_are_no_pair() {
    let mut m = timed(&TIMES, 1);
    // A prompt after the first two bursts: the tokens after it belong to another text.
    let behind = m.llama_calls.start_ns.len() / 10;
    m.llama_calls.n_tokens[65] = 16;
    assert_eq!(behind, 80);
    // The second burst has rows 60 to 63; the edge is row 64, and the prompt follows.
    assert_eq!(measured(&m).bursts, 19);
}

#[test]
fn edges_longer_than_a_burst_are_passed_over() {
    let mut m = timed(&TIMES, 1);
    let tokens = |n: f64| (n * TOKEN_NS) as u64;
    m.duty.switches.iter_mut().filter(|s| !s.on && s.began_ns > 0).for_each(|s| s.done_ns += tokens(9.5));
    m.duty.switches.iter_mut().filter(|s| s.on).for_each(|s| s.began_ns -= tokens(5.5));
    let m = measured(&m);
    assert!(near(m.slowdown, 0.05), "{m:?}");
    assert_eq!((m.bursts, m.traced, m.untraced), (20, 80, 20 * 2 * 4));
}

/// A pause of five tokens in one of ten at the edge.
#[test]
fn what_switching_costs_is_told_apart_and_is_in_all_tokens() {
    let mut m = timed(&TIMES, 1);
    let tokens = |n: f64| (n * TOKEN_NS) as u64;
    m.duty.switches.iter_mut().filter(|s| !s.on && s.began_ns > 0).for_each(|s| s.done_ns += tokens(9.5));
    let traced = Phases::compute(&m).tracing.llama_calls;
    let edges: Vec<usize> = (0..traced.len()).filter(|i| traced[*i] == Traced::Edge).collect();
    // After each burst.
    for pause in edges.chunk_by(|a, b| a + 1 == *b).filter(|edge| edge.len() > 2) {
        m.llama_calls.duration_ns[pause[0]] += tokens(5.0);
    }
    let measured = measured(&m);
    let e = measured.edges.unwrap();
    let each = edges.len() as f64 / 20.0;
    assert!(near(e.slowdown, 5.0 / each) && near(e.extra_ns / TOKEN_NS, 5.0), "{e:?} of {each}");
    let all = (0.05 * 80.0 + 5.0 * 20.0) / (traced.len() - 1) as f64;
    assert!(near(measured.slowdown, 0.05) && near(measured.of_all_tokens, all), "{measured:?}, {all}");
}

#[test]
fn too_few_bursts_and_none_are_an_estimate_or_unknown() {
    let mut m = timed(&Times { tokens: 5 * 40, ..TIMES }, 1);
    assert_eq!(slowdown(&m), Slowdown::Unknown);
    m = planted::tokens(0, 0, 0, false);
    m.health.probe_cost = Some(ProbeCost { pairs: 9, pair_ns: 2, inside_ns: 1 });
    // The step of the probes in the ladder.
    let a = Analysis::compute(&m);
    let ladder = a.ladder.of(Question::Decode).unwrap();
    let step = ladder.share(ladder.sum(|kind| kind == StepKind::Probes));
    let Some((traced, all)) = a.cost.slowdown.estimated_shares() else { panic!("{:?}", a.cost.slowdown) };
    assert!(step > 0.0 && near(traced, step) && near(all, step), "{step} {traced} {all}");
    // For the traced ones alone it is the same. They are 4 of 39.
    thin(&mut m, &[10..12, 30..32]);
    let a = Analysis::compute(&m);
    let Some((traced, all)) = a.cost.slowdown.estimated_shares() else { panic!("{:?}", a.cost.slowdown) };
    assert!((traced - step).abs() < step * 0.1 && near(all, traced * 4.0 / 39.0), "{traced} {all}");
    m.health.probe_cost = None;
    assert_eq!(Analysis::compute(&m).cost.slowdown, Slowdown::Unknown);
}

#[test]
fn a_measured_slowdown_takes_the_place_of_the_estimate() {
    let mut m = timed(&TIMES, 1);
    m.health.probe_cost = Some(ProbeCost { pairs: 9, pair_ns: 2_000, inside_ns: 1_000 });
    let a = Analysis::compute(&m);
    assert_eq!(a.cost.decode_slowdown, None);
    assert!(matches!(a.cost.slowdown, Slowdown::Measured(_)));
    assert!(a.health.remarks.iter().any(|r| matches!(r, Remark::Slowdown(_))));
}
