//! Differences are found, unknown properties are reported, and different work is refused.

use profinfer_analysis::compare::{Choices, Code, Comparison, Found, Item, Kind, Note, Run, Thing, Value};
use profinfer_trace::model::*;
use profinfer_views::words::compare as words;

use super::{compare, model_of, run_of};

fn item(c: &Comparison, thing: Thing) -> &Item {
    c.gate.iter().find(|i| i.key.thing == thing).unwrap()
}

fn with(change: impl Fn(&mut Model)) -> Run {
    let mut m = model_of(0);
    change(&mut m);
    Run::compute(&m)
}

fn fact(m: &mut Model, scope: FactScope, name: &str, value: &str) {
    let (name, value) = (m.texts.intern(name), FactValue::Text(m.texts.intern(value)));
    m.facts.rows.push(Fact { at_ns: 1, scope, name, value });
}

#[test]
fn another_type_of_one_weight_is_other_work() {
    let other = || {
        with(|m| {
            let dtype = m.texts.intern("q4_0");
            m.topologies.rows[0].nodes[5].dtype = dtype;
        })
    };
    let c = compare(&[run_of(0)], &[other()]);
    assert_eq!(c.verdict.code, Code::DifferentWork);
    assert!(c.rows.is_empty() && c.verdict.shift.is_none());
    let weights = item(&c, Thing::Weights);
    assert!(weights.other_work() && weights.kind == Kind::Work);
    assert_eq!(weights.only_in(0).into_iter().collect::<Vec<_>>(), ["wq q8_0 64×64×1×1"]);
    assert_eq!(weights.only_in(1).into_iter().collect::<Vec<_>>(), ["wq q4_0 64×64×1×1"]);
    assert_eq!(
        words::item(weights),
        "weights of the model: only A: wq q8_0 64×64×1×1; only B: wq q4_0 64×64×1×1"
    );
    assert!(words::verdict(&c).contains("(weights of the model)"));
    // It comes first.
    assert_eq!(c.gate[0].key.thing, Thing::Weights);
    let asked = Choices { different_work: true, ..Choices::default() };
    let c = Comparison::new(&[run_of(0)], &[other()], asked);
    assert_eq!(c.verdict.code, Code::TooFewRuns);
    assert!(c.notes.contains(&Note::DifferentWork) && !c.rows.is_empty());
}

#[test]
fn one_run_of_a_side_with_other_work_is_enough() {
    let other = with(|m| m.topologies.rows[0].nodes[5].ne = [64, 32, 1, 1]);
    let c = compare(&[run_of(0), other], &[run_of(0)]);
    assert_eq!((c.verdict.code, item(&c, Thing::Weights).found), (Code::DifferentWork, Found::Mixed));
}

#[test]
fn what_nobody_knows_is_neither_the_same_nor_different() {
    let cut = with(|m| m.topologies.rows[0].complete = false);
    let c = compare(&[run_of(0)], &[cut]);
    let weights = item(&c, Thing::Weights);
    assert_eq!((weights.found, &weights.values[1][0]), (Found::Unknown, &Value::Unknown));
    assert_ne!(c.verdict.code, Code::DifferentWork);
    assert!(words::names(&c.gate, Found::Unknown).contains(&"weights of the model".to_owned()));
}

#[test]
fn more_probes_are_other_work() {
    let levels = |levels: &[Level]| with(|m| m.session.levels = levels.to_vec());
    let (all, some) =
        (levels(&[Level::Token, Level::Graph, Level::Op]), levels(&[Level::Token, Level::Graph]));
    let c = compare(&[all], &[some]);
    assert_eq!(c.verdict.code, Code::DifferentWork);
    assert_eq!(item(&c, Thing::Capture).only_in(0).into_iter().collect::<Vec<_>>(), ["level operator"]);
}

#[test]
fn surroundings_are_named_and_not_refused() {
    let pid = 7;
    let of = |command: &str, variable: &str, threads: u32| {
        let mut m = model_of(0);
        m.session.processes.push(Process {
            pid,
            name: "engine".to_owned(),
            command: command.to_owned(),
            engine_version: "b1".to_owned(),
        });
        fact(&mut m, FactScope::Process(pid), "env.OMP_WAIT_POLICY", variable);
        let read = m.texts.intern("environment.read");
        m.facts.rows.push(Fact {
            at_ns: 1,
            scope: FactScope::Process(pid),
            name: read,
            value: FactValue::Number(1),
        });
        if threads == 1 {
            // The worker's spans are the second half of each graph call's.
            m.spans.thread.iter_mut().for_each(|t| *t = ThreadId(0));
        }
        Run::compute(&m)
    };
    let c = compare(&[of("engine -t 2", "active", 2)], &[of("engine -t 1", "passive", 1)]);
    assert_ne!(c.verdict.code, Code::DifferentWork);
    let different: Vec<Thing> =
        c.gate.iter().filter(|i| i.found == Found::Different).map(|i| i.key.thing).collect();
    assert_eq!(different, [Thing::Command, Thing::Threads, Thing::Environment]);
    assert_eq!(item(&c, Thing::EngineVersion).found, Found::Same);
    assert_eq!(words::item(item(&c, Thing::Threads)), "threads: A 2, B 1");
    assert_eq!(
        words::item(item(&c, Thing::Environment)),
        "environment: A OMP_WAIT_POLICY=active, B OMP_WAIT_POLICY=passive"
    );
}

/// A clock that is one percent lower is noise, three percent are reported. Several runs with
/// variation differ only where their ranges are apart.
#[test]
fn measurements_differ_by_more_than_their_scatter() {
    let clock = |hertz: f64| {
        with(|m| {
            m.gauges.push(Gauge {
                name: "cpu".to_owned(),
                kind: GaugeKind::Frequency,
                unit: GaugeUnit::Hertz,
                source: String::new(),
                period_ns: 100,
                attached: true,
                note: String::new(),
                at_ns: vec![1_000, 10_000],
                values: vec![Some(hertz as i64); 2],
            });
        })
    };
    let found = |a: &[f64], b: &[f64]| {
        let side = |hertz: &[f64]| hertz.iter().map(|h| clock(*h)).collect::<Vec<_>>();
        item(&compare(&side(a), &side(b)), Thing::Clock).found
    };
    assert_eq!(found(&[1.800e9], &[1.785e9]), Found::Same);
    assert_eq!(found(&[1.800e9], &[1.740e9]), Found::Different);
    assert_eq!(found(&[1.800e9, 1.700e9], &[1.750e9]), Found::Mixed);
    assert_eq!(found(&[1.800e9, 1.700e9], &[1.500e9, 1.600e9]), Found::Different);
}
