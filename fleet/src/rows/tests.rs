//! Rows of summaries that are not as they should be.

use serde_json::json;

use super::*;

#[test]
fn a_summary_of_nothing_has_a_row_of_nothing() {
    let rows = Rows::of(&json!({"schema": 2, "session": {}}), None);
    assert_eq!(rows.partition.path(), "board=unknown/engine=unknown/model=unknown/date=unknown");
    assert_eq!(rows.table(Table::Captures).len(), 1);
    assert!(rows.table(Table::Operators).is_empty());
    for table in Table::ALL {
        assert!(bytes(&rows, table).is_ok_and(|b| b.starts_with(b"PAR1")), "{table:?}");
    }
}

#[test]
fn values_of_another_kind_are_absent_and_extremes_stay() {
    let hostile = json!({"schema": 2, "engines": 7, "operators": [null, [], {"wall_ns": "x", "layer": -1, "share": 1e308}],
        "session": {"board": "../..", "start_unix_ns": i64::MAX, "duration_ns": u64::MAX, "processes": [3]},
        "tokens": {"calls": [{"phase": "decode", "status": 0, "duration_ns": i64::MIN}]},
        "health": {"damaged": [{"count": i64::MAX}, {"count": i64::MAX}]}});
    let rows = Rows::of(&hostile, Some("a"));
    assert!(rows.partition.path().starts_with("board=..!2F../engine=unknown/model=unknown/date=2262-04-11"));
    assert_eq!(rows.table(Table::Operators).len(), 3);
    for table in Table::ALL {
        assert!(bytes(&rows, table).is_ok(), "{table:?}");
    }
}

#[test]
fn the_id_is_of_the_recording_and_the_digest_of_the_rows() {
    let one = json!({"schema": 2, "session": {"start_unix_ns": 5}, "findings": {"headline": {"mbu": 0.5}}});
    let newer = json!({"schema": 2, "session": {"start_unix_ns": 5}, "findings": {"headline": {"mbu": 0.6}}});
    let other = json!({"schema": 2, "session": {"start_unix_ns": 6}});
    let [one, newer, other] = [one, newer, other].map(|s| Rows::of(&s, None));
    assert_eq!(one.id, newer.id);
    assert_ne!(one.digest, newer.digest);
    assert_ne!(one.id, other.id);
}
