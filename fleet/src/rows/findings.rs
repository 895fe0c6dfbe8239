//! A row for each rule's verdict.

use serde_json::Value;

use super::column::{Cell, Column, columns};
use crate::summary::list;

/// The columns, after the keys. `verdict` is the list in which it stands.
pub(super) const COLUMNS: &[Column] = columns! {
    verdict: String = nothing,
    code: String = "code",
    title: String = "title",
    sentence: String = "sentence",
    confidence: String = "confidence",
    gain_of: String = "gain.of",
    gain_low_ns: i64 = "gain.low_ns",
    gain_high_ns: i64 = "gain.high_ns",
    remedy: String = "remedy.kind",
};

const VERDICTS: [&str; 4] = ["found", "ruled_out", "noisy", "not_known"];

pub(super) fn rows(summary: &Value) -> Vec<Vec<Cell>> {
    let of = |verdict: &'static str, finding: &Value| {
        let own = COLUMNS[1..].iter().map(|c| (c.of)(finding));
        std::iter::once(Cell::Text(verdict.to_owned())).chain(own).collect()
    };
    let all =
        VERDICTS.iter().flat_map(|v| list(summary, &format!("findings.{v}")).iter().map(move |f| (*v, f)));
    all.map(|(verdict, finding)| of(verdict, finding)).collect()
}

fn nothing(_: &Value) -> Option<String> {
    None
}
