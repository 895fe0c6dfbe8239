//! Findings: a planted cause is found with its gain, and nothing is said that was not recorded.

use host_analyzer::analyses::Analysis;
use host_analyzer::findings::{Findings, Missing, RULES};
use host_analyzer::model::*;

use crate::models::planted::{DELAY, TOKENS, disturbed, tokens};
use crate::models::small;

fn findings(m: &Model) -> Findings {
    Findings::of(m, &Analysis::of(m))
}

fn found(f: &Findings) -> Vec<&'static str> {
    f.found.iter().map(|f| f.rule.code).collect()
}

#[test]
fn a_planted_delay_is_promised_back() {
    let f = findings(&disturbed());
    let preempted = f.found.iter().find(|f| f.rule.code == "preempted").unwrap();
    let gain = preempted.found.gain.unwrap();
    assert!(gain.low_ns <= DELAY && DELAY <= gain.high_ns, "{gain:?}");
    assert!(gain.low_ns >= DELAY / 2 && gain.high_ns <= DELAY * 3 / 2, "{gain:?}");
    let token = f.headline.token_ns.unwrap() as f64;
    // The gain is rounded to whole nanoseconds.
    let speed = 1e9 / (token - gain.high_ns as f64);
    assert!((gain.high_tokens_per_s.unwrap() / speed - 1.0).abs() < 0.01, "{gain:?}");
}

#[test]
fn without_it_it_is_ruled_out_and_without_the_level_it_is_not_known() {
    let mut m = tokens(0, 0, 0, false);
    let missing =
        |f: &Findings, code: &str| f.not_known.iter().find(|(r, _)| r.code == code).map(|(_, m)| m.clone());
    assert_eq!(missing(&findings(&m), "preempted"), Some(vec![Missing::Level("sched")]));
    m.sched.recorded = true;
    let f = findings(&m);
    assert!(f.ruled_out.iter().any(|(rule, evidence)| rule.code == "preempted" && !evidence.is_empty()));
    assert!(!found(&f).contains(&"preempted"));
}

#[test]
fn too_few_tokens_are_not_enough_for_anything() {
    let f = findings(&small::model());
    assert_eq!(found(&f), [""; 0]);
    assert!(f.ruled_out.is_empty() && !f.not_known.is_empty());
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

/// `docs/findings.md` is generated: with PROFINFER_WRITE_DOCS set it is written, otherwise compared.
#[test]
fn the_page_of_findings_is_that_of_the_rules() {
    let mut page = Vec::new();
    host_analyzer::views::rules::page(None, &mut page).unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/findings.md");
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
