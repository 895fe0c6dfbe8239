//! Rows of malformed summaries.

use profinfer_schema::{Call, Damage, Operator, Phase, Summary};

use super::*;

#[test]
fn a_summary_of_nothing_has_a_row_of_nothing() {
    let rows = Rows::from_summary(&Summary::default(), None);
    // A session without a start time gets the first day.
    assert_eq!(rows.partition.path(), "board=unknown/engine=unknown/model=unknown/date=1970-01-01");
    assert_eq!(rows.table(Table::Captures).len(), 1);
    assert!(rows.table(Table::Operators).is_empty());
    for table in Table::ALL {
        assert!(bytes(&rows, table).is_ok_and(|b| b.starts_with(b"PAR1")), "{table:?}");
    }
}

#[test]
fn values_that_do_not_fit_are_absent_and_extremes_stay() {
    let mut hostile = Summary::default();
    hostile.session.board = "../..".to_owned();
    hostile.session.start_unix_ns = i64::MAX as u64;
    hostile.session.duration_ns = u64::MAX;
    hostile.operators.push(Operator { wall_ns: u64::MAX, share: 1e308, ..Operator::default() });
    let phase = Phase::Decode;
    hostile.tokens.calls.push(Call { phase, duration_ns: u64::MAX, ..Call::default() });
    hostile.health.damaged = vec![Damage { count: u64::MAX, ..Damage::default() }; 2];
    let rows = Rows::from_summary(&hostile, Some("a"));
    assert!(rows.partition.path().starts_with("board=..!2F../engine=unknown/model=unknown/date=2262-04-11"));
    let captures = rows.table(Table::Captures).remove(0);
    let column = |name: &str| Table::Captures.schema().index_of(name).expect("a column");
    for name in ["duration_ns", "decode_p99_ns", "damaged"] {
        assert_eq!(captures[column(name)], Cell::Null, "{name}");
    }
    for table in Table::ALL {
        assert!(bytes(&rows, table).is_ok(), "{table:?}");
    }
}

#[test]
fn the_id_is_of_the_recording_and_the_digest_of_the_rows() {
    let made = |start_unix_ns, mbu| {
        let mut summary = Summary::default();
        summary.session.start_unix_ns = start_unix_ns;
        summary.findings.headline.mbu = mbu;
        Rows::from_summary(&summary, None)
    };
    let [one, newer, other] = [made(5, Some(0.5)), made(5, Some(0.6)), made(6, None)];
    assert_eq!(one.id, newer.id);
    assert_ne!(one.digest, newer.digest);
    assert_ne!(one.id, other.id);
}
