//! Start probes only, filters, the controller, and the time that probes add: unknown figures are
//! not shown as numbers.

use profinfer_analysis::Analysis;
use profinfer_analysis::bound::Kind;
use profinfer_analysis::budget::Class;
use profinfer_analysis::findings::{Findings, Requirement};
use profinfer_analysis::health::{Remark, Severity};
use profinfer_analysis::ladder::{LadderSums, Question, StepKind};
use profinfer_analysis::phase::Phase;
use profinfer_trace::model::*;
use profinfer_views::{chrome, dag, dot, perfetto, report, terminal};
use serde_json::Value;

use crate::models::duty;
use crate::models::planted::{self, DELAY, TOKENS};
use crate::models::rows;
use crate::replay::sums_are_exact;
use crate::views::bytes;

/// The session without end probes: a span extends to the thread's next start, the last one to the
/// end of the graph.
fn without_ends(mut m: Model) -> Model {
    m.capture.ends = Ends::None;
    for i in 0..m.spans.len() {
        m.spans.work_ns[i] += u64::from(m.spans.wait_ns[i]);
        m.spans.wait_ns[i] = WAIT_UNKNOWN;
    }
    m
}

#[test]
fn without_ends_work_and_wait_are_one_class_and_no_wait_is_told() {
    let m = without_ends(planted::tokens(0, 0, 0, false));
    let a = Analysis::compute(&m);
    for t in &a.budget.tokens {
        assert_eq!(t.wall.total(), t.time_ns);
        // 250 of the graph minus 10 before its first operator; the probes take 3 of these.
        assert_eq!((t.wall.get(Class::WorkAndWait), t.wall.get(Class::BetweenOperators)), (237, 10));
        assert_eq!((t.wall.get(Class::Work), t.wall.wait()), (0, 0));
    }
    let decode = a.budget.phase(Phase::Decode).unwrap();
    assert_eq!(decode.work.iter().map(|w| w.ns).sum::<u64>(), 237 * TOKENS);
    for t in &decode.threads {
        assert_eq!((t.parts.total(), t.parts.get(Class::Work), t.parts.wait()), (t.time_ns, 0, 0));
    }
    assert!(
        a.op.types.iter().all(|t| t.wait_ns.is_none()) && a.op.operators.iter().all(|o| o.wait_ns.is_none())
    );
    assert!(a.thread.iter().all(|t| t.wait_ns.is_none() && t.decode_wait_ns.is_none()));
    assert!(a.module.modules.iter().all(|s| s.wait_ns.is_none()));
    assert!(a.dag.iter().flat_map(|d| &d.nodes).all(|n| n.wait_ns.is_none()));
    assert!(a.bound.iter().all(|b| b.by != Kind::Synchronisation));
    // Rules that need work separate from wait report that; others do not.
    let needs_ends = |code: &str, m: &Model| {
        let f = Findings::compute(m, &Analysis::compute(m));
        f.not_known.iter().any(|(r, missing)| r.code == code && missing.contains(&Requirement::Ends))
    };
    for code in ["preempted", "few_threads", "mixed_cores", "passive_wait", "kernels", "paging"] {
        assert!(needs_ends(code, &m), "{code}");
        assert!(!needs_ends(code, &planted::tokens(0, 0, 0, false)), "{code}");
    }
    assert!(!needs_ends("sampling", &m) && !needs_ends("bandwidth", &m));
    assert!(a.health.remarks.contains(&Remark::WithoutEnds));
    let text = String::from_utf8(bytes(terminal::terminal, &m)).unwrap();
    assert!(text.contains("mean + wait"), "{text}");
}

/// Only the products were captured.
fn products() -> Model {
    only_products(planted::tokens(0, 0, 0, false))
}

fn only_products(mut m: Model) -> Model {
    let all = m.spans.len() as u64;
    let s = &mut m.spans;
    let kept: Vec<bool> = s.node.iter().map(|n| n.0 == 0).collect();
    rows::keep_spans(s, &kept);
    // Another operator was in between, so the wait is unknown.
    s.wait_ns.fill(WAIT_UNKNOWN);
    let (text, place) = ("MUL_MAT".to_owned(), FilterPlace::Kernel);
    m.capture.filters = vec![Filter { on: FilterOn::Op, text, place, refused: None }];
    let n = m.spans.len() as u64;
    m.health.spans_received = n;
    m.health.ledger = Some(Ledger {
        span_starts: all,
        span_ends: all,
        spans_sent: n,
        spans_filtered: all - n,
        ..Ledger::default()
    });
    m
}

/// The time of graphs some of whose operators are unknown, or whose operators have no ends, is not recorded,
/// unless the scheduler level shows what it is.
#[test]
fn ladders_of_a_part_of_the_operators_sum_to_the_time() {
    for delay in [0, DELAY] {
        let plain = || if delay > 0 { planted::disturbed() } else { planted::tokens(0, 0, 0, false) };
        let sessions =
            [(without_ends(plain()), Requirement::Ends), (only_products(plain()), Requirement::AllOperators)];
        for (m, missing) in sessions {
            sums_are_exact(&m);
            let a = Analysis::compute(&m);
            let ladder = a.ladder.of(Question::Decode).unwrap();
            let sum = |of: &dyn Fn(StepKind) -> bool| ladder.sum(of).unsigned_abs();
            let known = |k| matches!(k, StepKind::Caused(_) | StepKind::SmallCauses | StepKind::NotRecorded);
            // 250 of the graph. The first token warms up.
            assert_eq!(sum(&known), (250 + delay) * (TOKENS - 1), "{ladder:?}");
            let of_operators =
                [StepKind::Floor, StepKind::AboveFloor, StepKind::Imbalance, StepKind::Unexplained];
            assert_eq!(sum(&|k| of_operators.contains(&k)), 0, "{ladder:?}");
            let mut sums = LadderSums::default();
            sums.add(&m, &a.phases, &a.replay);
            let of_parts = sums.of(ladder.pid).into_iter().find(|(q, _)| *q == Question::Decode).unwrap().1;
            assert_eq!(of_parts.measured_ns, ladder.measured_ns);
            assert_eq!(of_parts.steps().iter().map(|(_, ns)| ns).sum::<u64>(), ladder.measured_ns);
            let f = Findings::compute(&m, &a);
            assert!(f.ruled_out.iter().all(|(rule, _)| !rule.requires.contains(&missing)));
        }
    }
}

#[test]
fn what_a_filter_left_out_is_neither_lost_nor_0() {
    let m = products();
    let a = Analysis::compute(&m);
    assert_eq!((a.health.spans.left_out, a.health.spans.unaccounted), (Some(160), Some(0)));
    assert!(a.health.remarks.contains(&Remark::LeftOut { spans: 160 }));
    assert!(a.health.remarks.iter().all(|r| r.severity() != Severity::Loss));
    // 100 of 250 ns of the graph, not the share of all captured operators.
    let [product] = a.op.types.as_slice() else { panic!("{:?}", a.op.types) };
    assert_eq!((product.wall_ns, product.share), (100 * TOKENS, 0.4));
    assert!((a.module.modules.iter().map(|s| s.share).sum::<f64>() - 0.4).abs() < 1e-12);
    // A token's time is complete: 250 of the graph, 100 of these for the product with its probe.
    // The rest is unknown.
    for t in &a.budget.tokens {
        assert_eq!(t.wall.total(), t.time_ns);
        assert_eq!((t.wall.get(Class::Work), t.wall.get(Class::BetweenOperators)), (99, 0));
        assert_eq!((t.wall.get(Class::NotTraced), t.wall.get(Class::Unknown)), (150, 0));
    }
    let decode = a.budget.phase(Phase::Decode).unwrap();
    assert!(decode.threads.iter().all(|t| t.parts.get(Class::Unknown) == 0 && t.parts.total() == t.time_ns));
    // Figures of all operators are not derived from some.
    assert!(a.roof.decode.is_none() && a.dag.iter().all(|d| d.path.is_none()));
    let f = Findings::compute(&m, &a);
    let needs_all = |code: &str| {
        f.not_known.iter().any(|(r, missing)| r.code == code && missing.contains(&Requirement::AllOperators))
    };
    assert!(["preempted", "migrations", "bandwidth", "context_growth"].into_iter().all(needs_all));
    assert!(!needs_all("sampling") && !needs_all("splits"));
}

/// Every table with shares names their base.
#[test]
fn tables_with_shares_say_what_the_filters_left_out() {
    let mut m = planted::tokens(0, 0, 0, false);
    // Independent of line breaks.
    let said = |m: &Model| {
        let text = String::from_utf8(bytes(terminal::terminal, m)).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    const NOTE: &str = "only operators on thread first; everything else was left out and is not 0";
    assert!(!said(&m).contains(NOTE));
    let (on, text, place) = (FilterOn::Thread, "first".to_owned(), FilterPlace::Kernel);
    m.capture.filters = vec![Filter { on, text, place, refused: None }];
    // Below the operators, and below the threads.
    assert_eq!(said(&m).matches(NOTE).count(), 2, "{}", said(&m));
}

#[test]
fn nodes_that_were_left_out_are_marked_in_graphs() {
    let nodes = |m: &Model| -> Vec<(u32, bool)> {
        Analysis::compute(m).dag[0]
            .nodes
            .iter()
            .map(|n| (n.index, n.not_captured))
            .filter(|(_, left_out)| *left_out)
            .collect()
    };
    // The two norms; not the view, which never runs, nor leafs. The product after the first norm
    // runs in the norm's kernel, which is unknown when the norm was excluded.
    assert_eq!(nodes(&products()), [(2, true), (3, true), (4, true)]);
    assert_eq!(nodes(&planted::tokens(0, 0, 0, false)), []);
    // No token was traced.
    let mut m = planted::tokens(0, 0, 0, false);
    duty::thin(&mut m, &[]);
    assert_eq!(nodes(&m), [(0, true), (2, true), (3, true), (4, true)]);
    let json: Value = serde_json::from_slice(&bytes(dag::dag, &products())).unwrap();
    assert_eq!(json["graphs"][0]["nodes"][4]["not_captured"], true);
    assert_eq!(json["graphs"][0]["nodes"][4]["wall_ns"], Value::Null);
    let dot = String::from_utf8(bytes(dot::dot, &products())).unwrap();
    assert_eq!(dot.matches("not captured").count(), 3, "{dot}");
}

#[test]
fn operators_whose_probe_is_more_than_a_tenth_of_them_are_marked() {
    let mut m = planted::tokens(0, 0, 0, false);
    m.health.probe_cost = Some(ProbeCost { pairs: 9, pair_ns: 6, inside_ns: 3 });
    let biased = |m: &Model| -> Vec<(String, Option<u64>, bool)> {
        Analysis::compute(m).op.types.iter().map(|t| (t.op.clone(), t.median_ns, t.biased)).collect()
    };
    // A product takes 100 ns, a norm 20.
    let expected = [("MUL_MAT".to_owned(), Some(100), false), ("RMS_NORM".to_owned(), Some(20), true)];
    assert_eq!(biased(&m), expected);
    let text = String::from_utf8(bytes(terminal::terminal, &m)).unwrap();
    assert!(
        text.contains("the probes add 3 ns to each run, more than a tenth of the median of RMS_NORM"),
        "{text}"
    );
    m.health.probe_cost = Some(ProbeCost { pairs: 9, pair_ns: 6, inside_ns: 2 });
    assert!(biased(&m).iter().all(|(.., biased)| !biased));
}

/// Begin, end and name of the slices of a track of timeline.json, ns from the file's start.
fn slices(json: &Value, track: &str) -> Vec<(u64, u64, String)> {
    let events = json["traceEvents"].as_array().unwrap();
    let named = |e: &&Value| e["name"] == "thread_name" && e["args"]["name"] == track;
    let tid = &events.iter().find(named).unwrap()["tid"];
    let ns = |e: &Value| (e["ts"].as_f64().unwrap() * 1e3).round() as u64;
    let of =
        |ph: &str| -> Vec<&Value> { events.iter().filter(|e| e["ph"] == ph && e["tid"] == *tid).collect() };
    let name = |e: &Value| e["name"].as_str().unwrap().to_owned();
    of("B").iter().zip(of("E")).map(|(b, e)| (ns(b), ns(e), name(b))).collect()
}

#[test]
fn switches_and_steps_are_tracks_of_the_timelines() {
    let m = duty::everything();
    let json: Value = serde_json::from_slice(&bytes(chrome::chrome, &m)).unwrap();
    // Token i begins at 1000 + 450 i, the session at 500. Probes are inserted during token 9, in
    // place for 10 and 11, and removed when 12 begins.
    let start = |token: u64| 500 + 450 * token;
    let end = start(39) + 400;
    let slice = |from, to, name: &str| (from, to, name.to_owned());
    let expected = [
        slice(start(9) + 1, start(10) - 1, "putting in"),
        slice(start(10) - 1, start(12), "on"),
        slice(start(12), start(12) + 1, "taking out"),
        slice(start(29) + 1, start(30) - 1, "putting in"),
        slice(start(30) - 1, start(32), "on"),
        slice(start(32), start(32) + 1, "taking out"),
    ];
    assert_eq!(slices(&json, "operator probes"), expected);
    let expected = [slice(4_500, 14_500, "duty 10 %"), slice(14_500, end, "duty 30 %")];
    assert_eq!(slices(&json, "controller"), expected);
    let step = json["traceEvents"].as_array().unwrap().iter().find(|e| e["name"] == "duty 10 %").unwrap();
    assert_eq!(step["args"]["reason"], "4.20 t/s, below 5.00");
    // The page and the Perfetto file have the same words.
    let packed = crate::sched::unpacked(&bytes(perfetto::perfetto, &m));
    let has = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|w| w == text.as_bytes());
    assert!(
        ["operator probes", "controller", "duty 30 %", "6.10 t/s, above 5.00"]
            .iter()
            .all(|t| has(&packed, t))
    );
    assert!(!bytes(report::report, &m).is_empty());
    // A recording without switches has no such track.
    let plain = bytes(perfetto::perfetto, &planted::tokens(0, 0, 0, false));
    assert!(!has(&plain, "operator probes") && !has(&plain, "controller"));
}

#[test]
fn health_lists_what_is_in_force_and_what_is_not() {
    let a = Analysis::compute(&duty::everything());
    let lines = profinfer_views::words::health::lines(&a.health);
    for part in [
        "not in force: --ends none: counters need both ends",
        "not in force: --requests 3-5: it cannot be observed",
        "filter: only operators of decode token 1-400; other operators have no probe",
        "part: figures of operators come from 4 of 40 decode calls (4 more at the edges of bursts are left out)",
        "controller: 2 changes of the duty: at 4.50 µs to 10 % from 100 %: 4.20 t/s, below 5.00; at 14.5 µs to 30 % from \
         10 %: 6.10 t/s, above 5.00",
    ] {
        assert!(lines.iter().any(|line| line.contains(part)), "{part}: {lines:#?}");
    }
    let plain = Analysis::compute(&planted::tokens(0, 0, 0, false));
    assert!(
        plain.health.remarks.iter().all(|r| !matches!(r, Remark::PartOfTokens(_) | Remark::Controller(_)))
    );
}

#[test]
fn tables_of_the_terminal_say_how_many_tokens_they_are_from() {
    let text = String::from_utf8(bytes(terminal::terminal, &duty::everything())).unwrap();
    assert!(
        text.contains("from 4 of 40 tokens in 2 bursts; sums cover these only and are not scaled"),
        "{text}"
    );
    assert!(text.contains("95 %"), "{text}");
    // Operators take 140 of the 400 ns of a traced call.
    assert!(text.contains("35.0 %"), "{text}");
}
