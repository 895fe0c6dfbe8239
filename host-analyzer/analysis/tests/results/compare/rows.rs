//! The split of the change.

use profinfer_analysis::compare::{Choices, Comparison, Leaf, Level, Row, Run};
use profinfer_analysis::ladder::StepKind;
use profinfer_analysis::module::Module;
use profinfer_analysis::replay::Cause;

use super::{compare, run_of, runs};
use crate::models::duty::thin;
use crate::models::planted::{Plant, each};
use crate::replay::insert::{Place, stop};
use crate::replay::recording;
use profinfer_trace::model::{Model, Sched, SpanId};
use profinfer_trace::test_support::tables::{Spec, model};

fn level(c: &Comparison, level: Level) -> Vec<&Row> {
    c.rows.iter().filter(|r| r.level == level).collect()
}

/// Each level sums to both sides' times to the nanosecond, and each row to those below it.
fn sums(c: &Comparison) {
    let token = c.unit_ns().unwrap();
    for l in Level::ALL {
        let sum = [0, 1].map(|side: usize| level(c, l).iter().map(|r| r.side_ns[side]).sum::<i64>());
        assert_eq!(sum, token, "{l:?}");
    }
    for (side, figures) in c.sides.iter().enumerate() {
        assert!((figures.mean_ns().unwrap() - token[side] as f64).abs() <= 0.5, "side {side}");
    }
    for step in level(c, Level::Step) {
        let below = level(c, Level::Tensor).into_iter().filter(|r| r.step == step.step);
        assert_eq!(below.map(Row::change_ns).sum::<i64>(), step.change_ns());
    }
}

/// The steps that changed, with their change, ns.
fn changed(c: &Comparison) -> Vec<(StepKind, i64)> {
    let rows = level(c, Level::Step).into_iter().filter(|r| r.change_ns() != 0);
    rows.map(|r| (r.step, r.change_ns())).collect()
}

#[test]
fn time_between_calls_is_the_applications_and_nothing_else_changes() {
    let c = compare(&runs(&[0, 1, 2, 3]), &runs(&[45, 46, 47, 48]));
    sums(&c);
    // 451.5 and 496.5 ns, rounded.
    assert_eq!(c.unit_ns(), Some([452, 497]));
    assert_eq!(changed(&c), [(StepKind::Application, 45)]);
    let rows = level(&c, Level::Step);
    assert!((rows[0].p.unwrap() - 2.0 / 70.0).abs() < 1e-12);
    assert!(rows[1..].iter().all(|r| (r.p.unwrap() - 1.0).abs() < 1e-12 && r.stands == Some(false)));
    // 2/70 is more than 5 % divided by the number of rows.
    assert_eq!(rows[0].stands, Some(false));
    let (a, b): (Vec<u64>, Vec<u64>) = ((0..8).collect(), (45..53).collect());
    let c = compare(&runs(&a), &runs(&b));
    assert_eq!(level(&c, Level::Step)[0].stands, Some(true));
}

/// The worker has 30 ns more work in its first operator. The other thread could do half of it, so
/// half is an uneven split.
#[test]
fn work_is_found_at_its_operator() {
    let slow = Run::compute(&each(|_| Plant { work: 30, ..Plant::default() }));
    let c = Comparison::new(&[run_of(0)], &[slow], Choices { spread: 0.0, ..Choices::default() });
    sums(&c);
    assert_eq!(c.unit_ns(), Some([450, 480]));
    let operators: Vec<_> = level(&c, Level::Tensor)
        .iter()
        .filter(|r| r.change_ns() != 0 && !r.op.is_empty())
        .map(|r| (r.op.clone(), r.tensor.clone(), r.change_ns()))
        .collect();
    assert_eq!(operators, [("MUL_MAT".to_owned(), "Qcur".to_owned(), 15)]);
    assert_eq!(changed(&c), [(StepKind::AboveFloor, 15), (StepKind::Imbalance, 15)]);
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
    assert_eq!((c.sides[0].runs[0].calls, c.unit_ns()), (20, Some([450, 500])));
    sums(&c);
    // Too few of them: all tokens count, and no operator is known of most.
    let mut few = each(|_| Plant::default());
    thin(&mut few, std::slice::from_ref(&(10..14)));
    let c = compare(&[Run::compute(&few)], &[traced(0)]);
    assert!(!c.selection.traced);
    sums(&c);
    let operators = level(&c, Level::Operator).into_iter().filter(|r| r.step == StepKind::AboveFloor);
    let known: i64 = operators.filter(|r| !r.op.is_empty()).map(|r| r.side_ns[0]).sum();
    assert!(known * 5 < c.unit_ns().unwrap()[0], "{:?}", c.rows);
}

/// Stops are inserted into one of two recordings of the same run.
fn stopped(name: &str, places: impl Fn(&Model) -> Vec<Place>) -> (Comparison, u64) {
    let mut m = recording(name);
    m.sched = Sched { recorded: true, ..Sched::default() };
    let a = Run::compute(&m);
    let cost = places(&m).into_iter().map(|place| stop(&mut m, place, 1_000_000)).sum();
    m.session.start_unix_ns += 1;
    let choices = Choices { warm_up: 0, ..Choices::default() };
    (Comparison::new(&[a], &[Run::compute(&m)], choices), cost)
}

/// The step of the stops changes by what they cost, and nothing else by more than rounding.
#[test]
fn stops_between_calls_are_the_step_that_changed() {
    for name in ["demo.pfi", "published/2026-11-23/dense-q8.pfi"] {
        let between = |m: &Model| {
            let calls = &m.llama_calls;
            let single = |i: &usize| calls.n_tokens[*i] == 1 && calls.n_tokens[*i + 1] == 1;
            let mut places: Vec<usize> = (0..calls.len() - 1).filter(single).step_by(3).collect();
            places.reverse();
            places.into_iter().map(Place::BetweenCalls).collect()
        };
        let (c, cost) = stopped(name, between);
        sums(&c);
        let tokens = c.sides[1].runs[0].calls as i64;
        let rows = level(&c, Level::Step);
        assert_eq!(rows[0].step, StepKind::Caused(Cause::Stopped), "{name}");
        assert!((rows[0].change_ns() * tokens - cost as i64).abs() <= tokens, "{name}: {rows:?} {cost}");
        assert!(rows[1..].iter().all(|r| r.change_ns().abs() <= 1), "{name}: {rows:?}");
        let lead = c.lead().unwrap();
        assert_eq!((lead.steps[0].step, lead.side, lead.most), (rows[0].step, 1, true));
    }
}

#[test]
fn stops_in_operators_are_the_step_that_changed() {
    let halfway = |m: &Model| {
        let s = &m.spans;
        let decode = |i: &usize| {
            let call = m.graph_calls.decode[s.graph_call[*i].0 as usize];
            call.is_some_and(|d| m.llama_calls.n_tokens[d.0 as usize] == 1) && s.work_ns[*i] > 1_000
        };
        // One per operator: two stops of one would overlap.
        let mut all: Vec<usize> = (0..s.len()).filter(decode).step_by(41).collect();
        all.sort_by_key(|i| std::cmp::Reverse(s.start_ns[*i]));
        all.dedup_by_key(|i| (s.graph_call[*i], s.node[*i]));
        all.into_iter().map(|i| Place::Operator(SpanId(i as u32), s.work_ns[i] / 2)).collect()
    };
    let (c, cost) = stopped("demo.pfi", halfway);
    sums(&c);
    let rows = level(&c, Level::Step);
    let per_token = cost as f64 / c.sides[1].runs[0].calls as f64;
    let near = |ns: i64, want: f64| (ns as f64 - want).abs() <= per_token * 0.01;
    assert_eq!(rows[0].step, StepKind::Caused(Cause::Stopped));
    assert!(near(rows[0].change_ns(), per_token) && per_token > 1e6, "{rows:?} {per_token}");
    assert!(rows[1..].iter().all(|r| near(r.change_ns(), 0.0)), "{rows:?} {per_token}");
}

/// Makes each token longer by a part of `ns`.
fn longer(run: &mut Run, part: Leaf, ns: i64) {
    let leaf = u32::try_from(run.leaves.len()).unwrap();
    run.leaves.push(part);
    for token in &mut run.calls {
        token.parts.push((leaf, ns));
        token.time_ns += ns.unsigned_abs();
    }
}

/// A run in whose tokens these programs had a CPU, for so long.
pub(super) fn with_programs(programs: &[(&str, i64)]) -> Run {
    let mut run = run_of(0);
    for (name, ns) in programs {
        let step = StepKind::Caused(Cause::Program(run.programs.id(name)));
        longer(&mut run, Leaf { step, module: None, op: String::new(), tensor: String::new() }, *ns);
    }
    run
}

/// The numbers of programs differ between recordings; their names do not.
#[test]
fn programs_are_the_same_by_name() {
    let a = with_programs(&[("make", 100), ("sh", 1)]);
    let b = with_programs(&[("python3", 900), ("make", 40), ("ls", 2)]);
    let c = compare(&[a], &[b]);
    sums(&c);
    let of_programs = level(&c, Level::Step).into_iter().filter_map(|r| {
        let name = c.programs.name(r.step.program()?);
        Some((name, r.side_ns))
    });
    assert_eq!(of_programs.collect::<Vec<_>>(), [("python3", [0, 900]), ("make", [100, 40])]);
    // Those below 0.5 % on both sides are one row.
    let small = level(&c, Level::Step).into_iter().find(|r| r.step == StepKind::SmallCauses);
    assert_eq!(small.map(|r| r.side_ns), Some([1, 2]));
    let lead = c.lead().unwrap();
    assert_eq!((lead.change_ns, lead.side, lead.most, lead.steps.len()), (900, 1, true, 1));
}

/// A token in which these operators of a module took so long more.
fn with_operators(operators: &[(Module, &str, i64)]) -> Run {
    let mut run = run_of(0);
    for (module, op, ns) in operators {
        let (module, tensor) = (Some(*module), "node".to_owned());
        longer(&mut run, Leaf { step: StepKind::AboveFloor, module, op: (*op).to_owned(), tensor }, *ns);
    }
    run
}

/// One version computes linear attention by many operators, the other by one. Its row has the change,
/// and no operator of one side alone is named for it.
#[test]
fn one_operator_is_compared_with_the_several_that_it_replaces() {
    let several = [("MUL", 90), ("SUM_ROWS", 60), ("MUL_MAT", 150), ("CUMSUM", 40)];
    let mut a = several.map(|(op, ns)| (Module::Recurrent, op, ns)).to_vec();
    a.push((Module::Ffn, "MUL_MAT", 100));
    let b = [(Module::Recurrent, "GATED_DELTA_NET", 800), (Module::Ffn, "MUL_MAT", 140)];
    let c = compare(&[with_operators(&a)], &[with_operators(&b)]);
    sums(&c);
    let of = |wanted: Module| {
        let row = level(&c, Level::Module).into_iter().find(|r| r.module == Some(wanted));
        row.map(|r| (r.side_ns, r.op.as_str()))
    };
    assert_eq!(of(Module::Recurrent), Some(([340, 800], "")));
    assert_eq!(of(Module::Ffn), Some(([100, 140], "")));
    // Rows of operators are of all modules.
    let products = level(&c, Level::Operator).into_iter().find(|r| r.op == "MUL_MAT").unwrap();
    assert_eq!((products.module, products.change_ns()), (None, 140 - 250));
    let lead = c.lead().unwrap();
    assert_eq!((lead.change_ns, lead.module.and_then(|r| r.module)), (500, Some(Module::Recurrent)));
    assert!(lead.operator.is_none(), "{:?}", lead.operator);
}
