//! What a reader gets of files of other versions.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use profinfer_schema::{EndingCode, Missing, MissingKind, Phase, Remedy, Slowdown, Summary};
use serde_json::{Value, from_value, json, to_value};

fn empty() -> Value {
    to_value(Summary::default()).unwrap()
}

#[test]
fn unknown_texts_are_kept() {
    for text in ["decode", "transcribe"] {
        let phase: Phase = from_value(json!(text)).unwrap();
        assert_eq!(phase == Phase::Newer(text.to_owned()), text == "transcribe");
        assert_eq!(to_value(phase).unwrap(), text);
    }
}

#[test]
fn unknown_kinds_are_read() {
    assert_eq!(from_value::<Slowdown>(json!({"kind": "guessed", "by": [1]})).unwrap(), Slowdown::Newer);
    assert_eq!(from_value::<Remedy>(json!({"kind": "pray", "to": "x"})).unwrap(), Remedy::Newer);
    let missing = json!({"kind": "time", "name": 5});
    let read: Missing = from_value(missing.clone()).unwrap();
    assert_eq!(read.kind, MissingKind::Newer("time".to_owned()));
    assert_eq!(to_value(read).unwrap(), missing);
}

#[test]
fn further_fields_are_passed_over_and_the_mark_of_a_draft_may_be_absent() {
    let mut summary = empty();
    summary["session"]["later"] = json!({"a": [null]});
    summary["ending"]["code"] = json!("vanished");
    summary.as_object_mut().unwrap().remove("draft");
    let summary: Summary = from_value(summary).unwrap();
    assert!(summary.draft);
    assert_eq!(summary.ending.code, EndingCode::Newer("vanished".to_owned()));
}

#[test]
fn a_required_field_that_is_absent_is_named() {
    let mut summary = empty();
    summary["health"]["spans"].as_object_mut().unwrap().remove("received");
    let error = from_value::<Summary>(summary).unwrap_err().to_string();
    assert!(error.contains("received"), "{error}");
}
