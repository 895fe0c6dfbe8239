//! Verdicts.

use profinfer_analysis::compare::{Choices, Code, Comparison, DISTURBED, Method, Note, Run, Thing};
use profinfer_trace::model::ThreadState;
use profinfer_trace::test_support::random::Random;
use profinfer_views::words::compare as words;

use super::{compare, model_of, run_of, runs};
use crate::models::planted::{self, Plant, each};

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// Four runs on each side, made in turn: all pairwise differences are known.
#[test]
fn of_four_and_four_the_interval_is_of_ranks() {
    let c = compare(&runs(&[0, 1, 2, 3]), &runs(&[45, 46, 47, 48]));
    assert_eq!(c.verdict.code, Code::Slower);
    let (low, high) = c.verdict.interval.unwrap();
    assert!(near(low, 495.0 / 453.0 - 1.0) && near(high, 498.0 / 450.0 - 1.0), "{low} {high}");
    let mut ratios: Vec<f64> =
        (495..499).flat_map(|b| (450..454).map(move |a| f64::from(b) / f64::from(a))).collect();
    ratios.sort_by(f64::total_cmp);
    assert!(near(c.verdict.shift.unwrap(), (ratios[7] * ratios[8]).sqrt() - 1.0));
    assert!(matches!(c.verdict.method, Some(Method::Ranks { coverage }) if near(coverage, 1.0 - 2.0 / 70.0)));
    // Reversed.
    let c = compare(&runs(&[45, 46, 47, 48]), &runs(&[0, 1, 2, 3]));
    assert_eq!(c.verdict.code, Code::Faster);
    assert!(near(c.verdict.interval.unwrap().0, 450.0 / 498.0 - 1.0));
}

#[test]
fn no_difference_is_said_with_its_bound() {
    let c = compare(&runs(&[0, 2, 4, 6]), &runs(&[1, 3, 5, 7]));
    assert_eq!(c.verdict.code, Code::NoDifferenceBeyond);
    let bound = 457.0 / 450.0 - 1.0;
    assert!(near(c.verdict.bound().unwrap(), bound));
    assert!(words::verdict(&c).starts_with("No difference beyond ±1.6 %"), "{}", words::verdict(&c));
    // A smaller difference matters: the interval is beyond it and excludes 0.
    let strict = Choices { practical: 0.01, ..Choices::default() };
    let c = Comparison::new(&runs(&[0, 2, 4, 6]), &runs(&[1, 3, 5, 7]), strict);
    assert_eq!(c.verdict.code, Code::Undecided);
}

/// A single run has no spread, so only a change far beyond the assumed spread is a difference.
#[test]
fn one_and_one_tell_only_what_exceeds_the_spread_by_far() {
    // 6.7 % is less than the spread between sessions of the same setup.
    let c = compare(&[run_of(0)], &[run_of(30)]);
    assert_eq!(c.verdict.code, Code::TooFewRuns);
    assert!(near(c.verdict.shift.unwrap(), 480.0 / 450.0 - 1.0));
    // These tokens do not vary, so the interval comes from the spread alone.
    let (low, high) = c.verdict.interval.unwrap();
    assert!(
        near(low, 480.0 / 450.0 / 1.078 - 1.0) && near(high, 480.0 / 450.0 * 1.078 - 1.0),
        "{low} {high}"
    );
    // 10 % would exceed the spread, but not also the smallest difference that matters: 1.1 / 1.078
    // is 1.0204, so this is just enough.
    assert_eq!(compare(&[run_of(0)], &[run_of(44)]).verdict.code, Code::TooFewRuns);
    assert_eq!(compare(&[run_of(0)], &[run_of(45)]).verdict.code, Code::Slower);
    // 1 - 1.078 * 450 / 500 is 3 %.
    assert_eq!(compare(&[run_of(50)], &[run_of(0)]).verdict.code, Code::Faster);
    // A board whose spread is known to be smaller.
    let known = Choices { spread: 0.005, ..Choices::default() };
    assert_eq!(Comparison::new(&[run_of(0)], &[run_of(30)], known).verdict.code, Code::Slower);
    assert_eq!(Comparison::new(&[run_of(0)], &[run_of(1)], known).verdict.code, Code::NoDifferenceBeyond);
}

#[test]
fn runs_of_one_side_that_lie_far_apart_count_for_the_spread() {
    let c = compare(&runs(&[0, 90]), &runs(&[100, 102]));
    assert!(
        matches!(c.verdict.method, Some(Method::Spread { between, seen: true, .. }) if near(between, 540.0 / 450.0 - 1.0)),
        "{:?}",
        c.verdict
    );
    assert_eq!(c.verdict.code, Code::TooFewRuns);
}

/// One of forty tokens that takes very long moves the mean and not the median.
#[test]
fn a_tail_is_said_and_no_single_pair_decides_by_it() {
    let tail =
        Run::compute(&each(|i| Plant { before: if i == 20 { 20_000 } else { 0 }, ..Plant::default() }));
    let c = compare(&[run_of(0)], &[tail]);
    assert_eq!(c.verdict.code, Code::TooFewRuns);
    let mean = 20_000.0 / 37.0 / 450.0;
    assert!(
        c.notes
            .iter()
            .any(|n| matches!(n, Note::Tail { mean: m, median } if near(*m, mean) && near(*median, 0.0))),
        "{:?}",
        c.notes
    );
}

#[test]
fn runs_that_others_disturb_tell_nothing_alone_and_something_in_numbers() {
    let disturbed = Run::compute(&planted::disturbed());
    let c = compare(&[run_of(0)], &[disturbed]);
    assert_eq!(c.verdict.code, Code::TooFewRuns);
    assert!(
        c.notes.iter().any(|n| matches!(n, Note::Disturbed { share, few: true } if *share > DISTURBED)),
        "{:?}",
        c.notes
    );
    // Many runs decide, and the note stays.
    let many: Vec<Run> = (0..4)
        .map(|n| {
            let mut m = planted::disturbed();
            m.session.start_unix_ns = n;
            Run::compute(&m)
        })
        .collect();
    let c = compare(&runs(&[0, 1, 2, 3]), &many);
    assert_eq!(c.verdict.code, Code::Slower);
    assert!(c.notes.iter().any(|n| matches!(n, Note::Disturbed { few: false, .. })), "{:?}", c.notes);
    let several = |n: u64| {
        let mut m = planted::tokens(planted::DELAY, 0, n, true);
        let at = m.llama_calls.start_ns[20] + 50;
        planted::state(&mut m, 1, at, planted::DELAY, ThreadState::Preempted);
        Run::compute(&m)
    };
    let b: Vec<Run> = (0..4).map(several).collect();
    assert_eq!(compare(&runs(&[0, 1, 2, 3]), &b).verdict.code, Code::Slower);
}

/// Two thousand times four and four runs of the same setup: at most 5 % are called different, and
/// with the exact 2/70 about 3 %.
#[test]
fn of_one_thing_few_are_called_different() {
    let mut random = Random(1);
    let mut next = |spread: u64| random.below(spread);
    // Runs differ by up to 40 %, a few by 400 %.
    let pool: Vec<Run> =
        (0..200).map(|i| run_of(if i % 17 == 0 { next(1_800) } else { next(180) })).collect();
    let mut different = 0;
    for _ in 0..2_000 {
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < 8 {
            let i = next(200) as usize;
            if !chosen.contains(&i) {
                chosen.push(i);
            }
        }
        let side = |of: &[usize]| of.iter().map(|i| pool[*i].clone()).collect::<Vec<_>>();
        let code = compare(&side(&chosen[..4]), &side(&chosen[4..])).verdict.code;
        different += usize::from(matches!(code, Code::Faster | Code::Slower));
    }
    assert!((20..=100).contains(&different), "{different} of 2000");
}

/// The verdict of few runs is about these, and names the program that is to blame.
#[test]
fn few_runs_are_said_with_the_cause() {
    let slower = words::verdict(&compare(&[run_of(0)], &[run_of(900)]));
    assert!(slower.starts_with("B is slower: 1.35 µs vs 450 ns per token (3.0×; "), "{slower}");
    assert!(slower.contains("±7.8 % run-to-run variation assumed"), "{slower}");
    assert!(
        slower.ends_with(" One run each; the difference is in sampling and application (+900 ns)."),
        "{slower}"
    );
    // Disturbed runs decide nothing.
    let disturbed = super::rows::with_programs(&[("python3", 900), ("make", 90)]);
    let said = words::verdict(&compare(
        &[super::rows::with_programs(&[("make", 80)])],
        &[Run { scheduler: true, ..disturbed }],
    ));
    assert!(said.starts_with("B was slower: 1.44 µs vs 530 ns per token (2.7×; "), "{said}");
    let cause = "One run each; the cause is other programs in B (+910 ns), most of all python3 (+900 ns).";
    assert!(said.contains(cause), "{said}");
    let unclear = words::verdict(&compare(&[run_of(0)], &[run_of(30)]));
    assert!(unclear.starts_with("Too few runs to tell: 480 vs 450 ns per token (+6.7 %; "), "{unclear}");
    let faster = words::verdict(&compare(&[run_of(900)], &[run_of(0)]));
    assert!(faster.starts_with("B is faster: 450 ns vs 1.35 µs per token (-67 %; "), "{faster}");
}

/// No text uses the word significant.
#[test]
fn nothing_is_called_significant() {
    let all = [
        compare(&[run_of(0)], &[run_of(30)]),
        compare(&[run_of(0)], &[run_of(100)]),
        compare(&runs(&[0, 1, 2, 3]), &runs(&[45, 46, 47, 48])),
        compare(&runs(&[0, 2, 4, 6]), &runs(&[1, 3, 5, 7])),
    ];
    for c in &all {
        let mut said = words::verdict(c);
        c.notes.iter().for_each(|n| said += &words::note(n, c.question));
        assert!(!said.is_empty() && !said.contains("significan"), "{said}");
    }
}

#[test]
fn what_else_a_reader_should_know() {
    let code = |c: &Comparison| c.notes.iter().map(words::note_code).collect::<Vec<_>>();
    // All of A before all of B.
    assert!(code(&compare(&runs(&[0, 1]), &runs(&[2, 3]))).contains(&"not_in_turn"));
    assert!(!code(&compare(&runs(&[0, 3]), &runs(&[1, 2]))).contains(&"not_in_turn"));
    assert!(!code(&compare(&[run_of(0)], &[run_of(1)])).contains(&"not_in_turn"));
    // With four and four runs no row can be significant among several; with eight and eight one
    // can.
    assert!(code(&compare(&runs(&[0, 2, 4, 6]), &runs(&[1, 3, 5, 7]))).contains(&"rows_need_runs"));
    let (a, b): (Vec<u64>, Vec<u64>) = (0..16).partition(|i| i % 2 == 0);
    assert!(!code(&compare(&runs(&a), &runs(&b))).contains(&"rows_need_runs"));
    // An outlier run.
    assert!(code(&compare(&runs(&[0, 1, 2, 3]), &runs(&[0, 1, 2, 900]))).contains(&"runs"));
    // Only some of the tokens at the same positions, and none.
    let shifted = |by: u32| {
        let mut m = model_of(0);
        m.graph_calls.n_past.iter_mut().flatten().for_each(|n| *n += by);
        Run::compute(&m)
    };
    let c = compare(&[run_of(0)], &[shifted(10)]);
    assert_eq!(c.selection.positions, Some((13, 39)));
    assert_eq!([0, 1].map(|side: usize| c.sides[side].runs[0].calls), [27, 27]);
    let c = compare(&[run_of(0)], &[shifted(100)]);
    assert_eq!((c.verdict.code, code(&c)), (Code::DifferentWork, vec!["no_common_positions"]));
    assert!(c.gate.iter().any(|i| i.key.thing == Thing::Prompt && i.found.code() == "different"));
}
