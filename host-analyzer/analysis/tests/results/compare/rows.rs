//! The split of the change.

use profinfer_analysis::budget::Class;
use profinfer_analysis::compare::{Choices, Comparison, Level, Row, Run};

use super::{compare, run_of, runs};
use crate::models::duty::thin;
use crate::models::planted::{Plant, each};
use profinfer_trace::test_support::tables::{Spec, model};

fn level(c: &Comparison, level: Level) -> Vec<&Row> {
    c.rows.iter().filter(|r| r.level == level).collect()
}

/// Each level sums to both sides' times to the nanosecond, and each row to those below it.
fn sums(c: &Comparison) {
    let token = c.token_ns().unwrap();
    for l in Level::ALL {
        let sum = [0, 1].map(|side: usize| level(c, l).iter().map(|r| r.side_ns[side]).sum::<i64>());
        assert_eq!(sum, token, "{l:?}");
    }
    for (side, figures) in c.sides.iter().enumerate() {
        assert!((figures.mean_ns().unwrap() - token[side] as f64).abs() <= 0.5, "side {side}");
    }
    for class in level(c, Level::Class) {
        let below = level(c, Level::Tensor).into_iter().filter(|r| r.class == class.class);
        assert_eq!(below.map(Row::change_ns).sum::<i64>(), class.change_ns());
    }
}

#[test]
fn time_between_calls_is_the_applications_and_nothing_else_changes() {
    let c = compare(&runs(&[0, 1, 2, 3]), &runs(&[45, 46, 47, 48]));
    sums(&c);
    // 451.5 and 496.5 ns, rounded.
    assert_eq!(c.token_ns(), Some([452, 497]));
    let changed: Vec<(Class, i64)> = level(&c, Level::Class)
        .iter()
        .filter(|r| r.change_ns() != 0)
        .map(|r| (r.class, r.change_ns()))
        .collect();
    assert_eq!(changed, [(Class::Application, 45)]);
    let rows = level(&c, Level::Class);
    assert!((rows[0].p.unwrap() - 2.0 / 70.0).abs() < 1e-12);
    assert!(rows[1..].iter().all(|r| (r.p.unwrap() - 1.0).abs() < 1e-12 && r.stands == Some(false)));
    // 2/70 is more than 5 % divided by the number of rows.
    assert_eq!(rows[0].stands, Some(false));
    let (a, b): (Vec<u64>, Vec<u64>) = ((0..8).collect(), (45..53).collect());
    let c = compare(&runs(&a), &runs(&b));
    assert_eq!(level(&c, Level::Class)[0].stands, Some(true));
}

/// The worker has 30 ns more work in its first operator. The other thread could do half of it, so
/// half is waiting.
#[test]
fn work_is_found_at_its_operator() {
    let slow = Run::compute(&each(|_| Plant { work: 30, ..Plant::default() }));
    let c = Comparison::new(&[run_of(0)], &[slow], Choices { spread: 0.0, ..Choices::default() });
    sums(&c);
    assert_eq!(c.token_ns(), Some([450, 480]));
    let operators: Vec<_> = level(&c, Level::Tensor)
        .iter()
        .filter(|r| r.change_ns() != 0 && !r.op.is_empty())
        .map(|r| (r.op.clone(), r.tensor.clone(), r.change_ns()))
        .collect();
    assert_eq!(operators, [("MUL_MAT".to_owned(), "Qcur".to_owned(), 15)]);
    let waits: i64 =
        level(&c, Level::Class).iter().filter(|r| r.class.is_wait()).map(|r| r.change_ns()).sum();
    assert_eq!(waits, 15);
}

#[test]
fn sums_hold_of_sessions_as_an_engine_makes_them() {
    for seed in 1..6 {
        let run = |seed, threads| {
            let mut run =
                Run::compute(&model(&Spec { seed, tokens: 24, layers: 3, threads, ..Spec::default() }));
            run.start_unix_ns = seed;
            run
        };
        let c = compare(&[run(seed, 2), run(seed + 10, 2), run(seed + 20, 2)], &[run(seed + 30, 3)]);
        sums(&c);
        assert!(level(&c, Level::Operator).iter().any(|r| r.op == "MUL_MAT"), "{:?}", c.rows);
    }
}

/// Where only some tokens were traced, the figures cover those.
#[test]
fn only_tokens_that_were_traced_count() {
    let traced = |slow: u64| {
        let mut m =
            each(|i| Plant { before: if (10..30).contains(&i) { slow } else { 5_000 }, ..Plant::default() });
        thin(&mut m, std::slice::from_ref(&(10..30)));
        Run::compute(&m)
    };
    let c = Comparison::new(&[traced(0)], &[traced(50)], Choices { spread: 0.0, ..Choices::default() });
    assert!(c.selection.traced);
    // The first of them begins at the end of an excluded call, and is a token like the others.
    assert_eq!((c.sides[0].runs[0].tokens, c.token_ns()), (20, Some([450, 500])));
    sums(&c);
    // Too few of them: all tokens count, and their graphs are unknown.
    let mut few = each(|_| Plant::default());
    thin(&mut few, std::slice::from_ref(&(10..14)));
    let c = compare(&[Run::compute(&few)], &[traced(0)]);
    assert!(!c.selection.traced);
    sums(&c);
    assert!(level(&c, Level::Class).iter().any(|r| r.class == Class::NotTraced));
}
