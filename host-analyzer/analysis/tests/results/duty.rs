//! Some tokens traced: the same figures per token as with all of them, and intervals that show the
//! uncertainty.

use profinfer_analysis::Analysis;
use profinfer_analysis::budget::Class;
use profinfer_analysis::duty::Coverage;
use profinfer_analysis::duty::estimate::ratio;
use profinfer_analysis::findings::Findings;
use profinfer_analysis::phase::Phase;
use profinfer_trace::model::*;

use crate::models::duty::thin;
use crate::models::planted::{self, Plant, TOKENS};
use profinfer_trace::test_support::random::Random;
use profinfer_trace::test_support::tables::{self as synthetic, Spec};

/// Two bursts of two out of forty tokens.
fn planted_thin(mut m: Model) -> Model {
    thin(&mut m, &[10..12, 30..32]);
    m
}

#[test]
fn calls_are_whole_untraced_or_at_an_edge() {
    let m = planted_thin(planted::tokens(0, 0, 0, false));
    let a = Analysis::compute(&m);
    let tracing = &a.phases.tracing;
    let rows = |wanted: Traced| -> Vec<usize> {
        (0..TOKENS as usize).filter(|i| tracing.llama_calls[*i] == wanted).collect()
    };
    assert_eq!(rows(Traced::Whole), [10, 11, 30, 31]);
    assert_eq!(rows(Traced::Edge), [9, 12, 29, 32]);
    assert_eq!(tracing.bursts[9..13], [None, Some(0), Some(0), None]);
    assert_eq!(tracing.bursts[31], Some(1));
    let coverage = Coverage { calls: 40, traced: 4, untraced: 32, edge: 4, bursts: 2 };
    assert_eq!(a.capture.part(Phase::Decode), Some(&coverage));
    assert_eq!(a.token.calls[10].op_wall_ns, Some(140));
    assert_eq!(a.token.calls[9].op_wall_ns, None);
    // Without switches all tokens are traced, and the coverage is complete.
    let a = Analysis::compute(&planted::tokens(0, 0, 0, false));
    assert!(a.phases.tracing.llama_calls.iter().all(|t| *t == Traced::Whole));
    assert_eq!((a.capture.part(Phase::Decode), a.capture.everything(), a.op_estimate.len()), (None, true, 0));
}

#[test]
fn tokens_that_are_alike_give_the_figures_of_all_of_them() {
    let full = Analysis::compute(&planted::tokens(0, 0, 0, false));
    let part = Analysis::compute(&planted_thin(planted::tokens(0, 0, 0, false)));
    // The budget of a token, by class.
    let a_token = |a: &Analysis| {
        let decode = a.budget.phase(Phase::Decode).unwrap().clone();
        Class::ALL.map(|class| decode.wall.get(class) as f64 / decode.calls as f64)
    };
    // The very first call has no application before it.
    let [full_token, part_token] = [a_token(&full), a_token(&part)];
    for (class, (f, p)) in Class::ALL.into_iter().zip(full_token.iter().zip(part_token)) {
        let expected = if class == Class::Application { 50.0 } else { *f };
        assert_eq!(p, expected, "{class:?}");
    }
    assert_eq!(part.budget.phase(Phase::Decode).unwrap().calls, 4);
    assert_eq!(part.budget.phase(Phase::Decode).unwrap().all_calls, 40);
    // Types: the same means and shares. Two bursts are too few for an interval.
    for ((f, p), e) in full.op.types.iter().zip(&part.op.types).zip(&part.op_estimate) {
        assert_eq!((&f.op, f.executions, f.share), (&p.op, p.executions * 10, p.share));
        assert_eq!(f.wall_ns, p.wall_ns * 10);
        let share = e.share.unwrap();
        assert_eq!((share.value, share.interval), (p.share, None));
        assert_eq!(e.wall_per_call.unwrap().value, f.wall_ns as f64 / 40.0);
        assert_eq!(e.wall_per_execution.unwrap().value, f.wall_ns as f64 / f.executions as f64);
    }
    assert_eq!(part.op_estimate.len(), full.op.types.len());
    // What a token reads, and in which time.
    let [f, p] = [&full, &part].map(|a| a.roof.decode.unwrap());
    assert_eq!((f.bytes_per_token, f.bytes_per_s), (p.bytes_per_token, p.bytes_per_s));
    assert_eq!((f.tokens, p.tokens), (40, 4));
    // The share of the calls' time in operators.
    let in_operators = |a: &Analysis| {
        let d = &a.token.decode;
        d.op_wall_ns.unwrap() as f64 / d.traced_time_ns as f64
    };
    assert_eq!(in_operators(&full), in_operators(&part));
    assert_eq!(full.token.decode.tokens_per_s, part.token.decode.tokens_per_s);
}

#[test]
fn an_untraced_token_keeps_its_time_and_has_no_class_of_operators() {
    let m = planted_thin(planted::tokens(0, 0, 0, false));
    let a = Analysis::compute(&m);
    for t in &a.budget.tokens {
        assert_eq!(t.wall.total(), t.time_ns);
        let graphs = t.wall.get(Class::NotTraced);
        let traced = [10, 11, 30, 31].contains(&t.call);
        assert_eq!((t.traced, graphs), (traced, if traced { 0 } else { 250 }));
        assert_eq!(t.wall.get(Class::GraphPreparation), 150);
        assert_eq!(t.wall.get(Class::Work) > 0, traced);
    }
    // The sums over types equal those over the traced tokens, on each thread too.
    let decode = a.budget.phase(Phase::Decode).unwrap();
    assert_eq!(decode.wall.get(Class::NotTraced), 0);
    assert_eq!((decode.time_ns, decode.wall.total()), (4 * 450, 4 * 450));
    assert_eq!(decode.work.iter().map(|w| w.ns).sum::<u64>(), decode.wall.get(Class::Work));
    assert!(decode.threads.iter().all(|t| t.parts.total() == t.time_ns && t.time_ns == 4 * 450));
}

#[test]
fn spans_of_a_call_at_an_edge_are_in_no_figure() {
    let mut m = planted::tokens(0, 0, 0, false);
    let full = m.spans.len();
    thin(&mut m, &[10..12, 30..32]);
    // The call at the edge has kept the spans of its last operator.
    let mut edge = planted::tokens(0, 0, 0, false);
    thin(&mut edge, &[9..12, 30..32]);
    edge.duty.switches.clone_from(&m.duty.switches);
    assert_eq!((full, m.spans.len(), edge.spans.len()), (240, 24, 30));
    let [a, b] = [&m, &edge].map(Analysis::compute);
    assert_eq!((a.op.types, a.thread, a.budget), (b.op.types, b.thread, b.budget));
    assert_eq!(a.dag, b.dag);
}

#[test]
fn where_no_token_was_traced_the_budget_says_so() {
    let mut m = planted::tokens(0, 0, 0, false);
    thin(&mut m, &[]);
    let a = Analysis::compute(&m);
    let decode = a.budget.phase(Phase::Decode).unwrap();
    assert_eq!((decode.calls, decode.all_calls, decode.wall.get(Class::NotTraced)), (40, 40, 40 * 250));
    assert_eq!(decode.wall.total(), decode.time_ns);
    assert!(decode.work.is_empty() && a.op.types.is_empty() && a.roof.decode.is_none());
}

#[test]
fn a_tenth_of_tokens_that_differ_is_within_its_interval() {
    let spec = Spec { tokens: 600, seed: 11, ..Spec::default() };
    let full = Analysis::compute(&synthetic::model(&spec));
    let mut m = synthetic::model(&spec);
    let bursts: Vec<_> = (0..12).map(|n| 20 + n * 48..25 + n * 48).collect();
    thin(&mut m, &bursts);
    let part = Analysis::compute(&m);
    let decode = |a: &Analysis| a.op.types.iter().filter(|t| t.phase == Phase::Decode).count();
    assert_eq!(decode(&full), decode(&part));
    let mut missed = 0;
    for (f, e) in full.op.types.iter().filter(|t| t.phase == Phase::Decode).zip(
        part.op.types.iter().zip(&part.op_estimate).filter(|(t, _)| t.phase == Phase::Decode).map(|(_, e)| e),
    ) {
        let (share, call) = (e.share.unwrap(), e.wall_per_call.unwrap());
        let i = share.interval.unwrap();
        missed += u32::from(f.share < i.low || f.share > i.high);
        let i = call.interval.unwrap();
        let per_call = f.wall_ns as f64 / 600.0;
        missed += u32::from(per_call < i.low || per_call > i.high);
        assert!((call.value / per_call - 1.0).abs() < 0.05, "{}", f.op);
    }
    // Of 2 * 8 intervals of 95 %.
    assert!(missed <= 3, "{missed}");
}

#[test]
fn the_interval_over_bursts_holds_in_95_of_100_draws_and_that_over_tokens_does_not() {
    let (mut bursts, mut tokens) = (0, 0);
    let draws = 1_000;
    for seed in 0..draws {
        let mut random = Random(seed + 1);
        // Twelve bursts of ten tokens; the variation between bursts exceeds that within.
        let drawn: Vec<Vec<f64>> = (0..12)
            .map(|_| {
                let weather = 100.0 + 5.0 * random.normal();
                (0..10).map(|_| weather + 2.0 * random.normal()).collect()
            })
            .collect();
        let holds = |clusters: &[(f64, f64)]| {
            let i = ratio(clusters).unwrap().interval.unwrap();
            i.low <= 100.0 && 100.0 <= i.high
        };
        bursts += u64::from(holds(&drawn.iter().map(|b| (b.iter().sum(), 10.0)).collect::<Vec<_>>()));
        tokens += u64::from(holds(&drawn.iter().flatten().map(|t| (*t, 1.0)).collect::<Vec<_>>()));
    }
    // The standard error of a share of 0.95 of a thousand is 0.7 %.
    assert!((930..=970).contains(&bursts), "{bursts}");
    assert!(tokens < 700, "{tokens}");
}

#[test]
fn findings_of_operators_divide_by_the_traced_tokens() {
    // The worker is always late, because it has more work.
    let plant = |_| Plant { work: 100, late: 0, before: 0 };
    let full = planted::each(plant);
    let mut part = planted::each(plant);
    thin(&mut part, &[4..10, 14..20, 24..30]);
    let findings = |m: &Model| Findings::compute(m, &Analysis::compute(m));
    let moves = |m: &Model| {
        let f = findings(m);
        let (_, evidence) = f.ruled_out.iter().find(|(r, _)| r.code == "migrations").unwrap().clone();
        evidence
    };
    assert_eq!(moves(&full), moves(&part));
    assert_eq!(findings(&full).headline.tokens_per_s, findings(&part).headline.tokens_per_s);
    // Six traced tokens are fewer than a burst, which the rule requires.
    let mut few = planted::each(plant);
    thin(&mut few, &[4..7, 14..17]);
    let f = findings(&few);
    let missing = f.not_known.iter().find(|(r, _)| r.code == "migrations").map(|(_, m)| m.clone());
    assert_eq!(missing, Some(vec![profinfer_analysis::findings::Requirement::TracedCalls(8)]));
    assert!(f.not_known.iter().all(|(r, _)| r.code != "sampling"));
}
