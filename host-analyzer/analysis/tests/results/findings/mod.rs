//! Findings: a planted cause is found with its gain, without it it is ruled out by a number, and
//! there is no verdict on unrecorded data.

mod builds;
mod clocks;
mod consistent;
mod cpus;
mod drafts;
mod housekeeping;
mod memory;
mod noise;
mod parts;
mod requests;
mod sleep;
mod workloads;

use profinfer_analysis::Analysis;
use profinfer_analysis::findings::{Confidence, Evidence, Findings, RULES, Remedy, Requirement, Value};
use profinfer_trace::model::*;

use crate::models::planted::{self, DELAY, TOKENS, disturbed, tokens};
use crate::models::small::{self, PID};
use crate::replay::questions::sample;

fn findings(m: &Model) -> Findings {
    Findings::compute(m, &Analysis::compute(m))
}

/// The main thread makes its first call 1,000 ns after the start. From 200 on it is in `state` for 500 ns.
fn delayed_start(m: &mut Model, state: ThreadState) {
    let main = m.threads.find_or_add(PID);
    m.threads.describe(main, PID, Text::default());
    let wait = if state == ThreadState::Preempted { 500 } else { 0 };
    let sample = |at_ns, moment, run, wait| StartSample {
        pid: PID,
        exec_ns: 0,
        ..sample(at_ns, moment, run, wait, 0, 0)
    };
    m.start_ups =
        vec![sample(0, StartMoment::Sample, 0, 0), sample(1_000, StartMoment::FirstCall, 500, wait)];
    planted::state(m, main.0, 200, 500, state);
}

/// The result of a rule.
#[derive(Debug, PartialEq)]
enum Answer {
    /// With the ends of the gain, ns; 0 and 0 if it promises nothing.
    Found(u64, u64),
    RuledOut,
    Noisy,
    NotKnown(Vec<Requirement>),
    /// The rule does not apply.
    Silent,
}

fn answer(m: &Model, code: &str) -> Answer {
    let f = findings(m);
    let among = |rows: &[(&profinfer_analysis::findings::Rule, Vec<Evidence>)]| {
        rows.iter().find(|(rule, _)| rule.code == code).map(|(_, evidence)| {
            assert!(!evidence.is_empty(), "{code}");
        })
    };
    let found = f.found.iter().find(|f| f.rule.code == code);
    let not_known = f.not_known.iter().find(|(rule, _)| rule.code == code);
    match (found, among(&f.ruled_out), among(&f.noisy), not_known) {
        (Some(f), None, None, None) => f.gain().map_or(Answer::Found(0, 0), |g| {
            assert!(!f.found.evidence.is_empty());
            Answer::Found(g.low_ns, g.high_ns)
        }),
        (None, Some(()), None, None) => Answer::RuledOut,
        (None, None, Some(()), None) => Answer::Noisy,
        (None, None, None, Some((_, missing))) => Answer::NotKnown(missing.clone()),
        (None, None, None, None) => Answer::Silent,
        more => panic!("{code} has several answers: {more:?}"),
    }
}

/// Evidence of a rule, whatever its verdict.
fn evidence(m: &Model, code: &str, key: &str) -> Option<Value> {
    let f = findings(m);
    let found = f.found.iter().map(|f| (f.rule, &f.found.evidence));
    let others = f.ruled_out.iter().chain(&f.noisy).map(|(rule, evidence)| (*rule, evidence));
    let all = found.chain(others).find(|(rule, _)| rule.code == code)?.1;
    all.iter().find(|e| e.key == key).map(|e| e.value.clone())
}

fn remedy(m: &Model, code: &str) -> Remedy {
    findings(m).found.into_iter().find(|f| f.rule.code == code).unwrap().found.remedy
}

fn confidence(m: &Model, code: &str) -> Confidence {
    findings(m).found.into_iter().find(|f| f.rule.code == code).unwrap().found.confidence
}

fn tell(m: &mut Model, at_ns: u64, scope: FactScope, name: &str, value: FactValue) {
    let name = m.texts.intern(name);
    m.facts.rows.push(Fact { at_ns, scope, name, value });
    m.facts.rows.sort_by_key(|fact| fact.at_ns);
}

/// A numeric fact, recorded at the beginning.
pub(crate) fn number(m: &mut Model, scope: FactScope, name: &str, value: u64) {
    tell(m, 0, scope, name, FactValue::Number(value));
}

/// A fact that is a text.
pub(crate) fn text(m: &mut Model, scope: FactScope, name: &str, value: &str) {
    let value = m.texts.intern(value);
    tell(m, 0, scope, name, FactValue::Text(value));
}

/// A kernel counter that rises by `by` while tokens are generated.
fn rises(m: &mut Model, name: &str, by: u64) {
    let (first, last) = (m.llama_calls.start_ns[1], *m.llama_calls.start_ns.last().unwrap());
    for (at, value) in [(first, 5), (last, 5 + by)] {
        tell(m, at, FactScope::Process(PID), name, FactValue::Number(value));
    }
}

pub(crate) const PROCESS: FactScope = FactScope::Process(PID);

fn found(f: &Findings) -> Vec<&'static str> {
    f.found.iter().map(|f| f.rule.code).collect()
}

#[test]
fn a_planted_delay_is_promised_back() {
    let f = findings(&disturbed());
    let preempted = f.found.iter().find(|f| f.rule.code == "preempted").unwrap();
    let gain = preempted.gain().unwrap();
    assert!(gain.low_ns <= DELAY && DELAY <= gain.high_ns, "{gain:?}");
    assert!(gain.low_ns >= DELAY / 2 && gain.high_ns <= DELAY * 3 / 2, "{gain:?}");
    let (token, speeds) = (f.headline.token_ns.unwrap(), gain.speeds().unwrap());
    let at = |ns: u64| 1e9 / (token - ns) as f64;
    assert_eq!((speeds.low, speeds.likely), (at(gain.low_ns), Some(at(gain.likely_ns))));
    assert_eq!(speeds.high, Some(at(gain.high_ns)));
}

#[test]
fn the_agent_is_no_other_task_where_its_process_is_recorded() {
    let mut m = disturbed();
    let pid = m.sched.tasks[0].pid;
    assert!(found(&findings(&m)).contains(&"preempted"));
    m.session.agent_pid = Some(pid + 1);
    assert!(found(&findings(&m)).contains(&"preempted"));
    m.session.agent_pid = Some(pid);
    assert!(!found(&findings(&m)).contains(&"preempted"));
    // Its process for the output of the program that it started.
    m.session.agent_pid = Some(pid + 1);
    m.sched.tasks[0].name = m.texts.intern("profinfer-tee");
    assert!(!found(&findings(&m)).contains(&"preempted"));
    // Recordings made before 2026-11-26 do not have its process; a thread of it may have a name of its own.
    for (name, command) in [("profinfer-agent", ""), ("hold", "/tmp/profinfer-agent record --name nodes")] {
        let mut m = disturbed();
        m.sched.tasks[0].name = m.texts.intern(name);
        m.sched.tasks[0].command = m.texts.intern(command);
        assert!(!found(&findings(&m)).contains(&"preempted"), "{name}");
        assert_eq!(Analysis::compute(&m).sched.interference[0].agent, Some(true), "{name}");
    }
}

#[test]
fn without_it_it_is_ruled_out_and_without_the_level_it_is_not_known() {
    let mut m = tokens(0, 0, 0, false);
    let missing =
        |f: &Findings, code: &str| f.not_known.iter().find(|(r, _)| r.code == code).map(|(_, m)| m.clone());
    assert_eq!(missing(&findings(&m), "preempted"), Some(vec![Requirement::Level("sched")]));
    m.sched.recorded = true;
    let f = findings(&m);
    assert!(f.ruled_out.iter().any(|(rule, evidence)| rule.code == "preempted" && !evidence.is_empty()));
    assert!(!found(&f).contains(&"preempted"));
}

#[test]
fn too_few_tokens_are_not_enough_for_anything() {
    let f = findings(&small::model());
    assert_eq!(found(&f), [""; 0]);
    // What needs no data beyond the calls can be ruled out.
    assert!(f.ruled_out.iter().all(|(rule, _)| rule.requires.is_empty()));
    assert!(!f.not_known.is_empty());
    assert!(f.headline.tokens < TOKENS);
}

#[test]
fn rules_have_codes_of_their_own_and_texts() {
    for (i, rule) in RULES.iter().enumerate() {
        assert!(RULES[i + 1..].iter().all(|other| other.code != rule.code), "{}", rule.code);
        let texts = [rule.title, rule.question, rule.condition, rule.formula, rule.remedy, rule.source];
        assert!(texts.iter().all(|text| text.len() > 10), "{}", rule.code);
    }
}

/// `docs/findings.md` is generated: with PROFINFER_WRITE_DOCS set it is written, otherwise
/// compared.
#[test]
fn the_page_of_findings_is_that_of_the_rules() {
    let mut page = Vec::new();
    profinfer_views::rules::page(None, &mut page).unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/findings.md");
    if std::env::var_os("PROFINFER_WRITE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    let same = kept.as_bytes() == page;
    assert!(
        same,
        "docs/findings.md is not that of the rules: write it with `analyze findings > docs/findings.md`"
    );
}
