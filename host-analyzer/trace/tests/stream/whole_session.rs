//! A session with a few records in the middle, undamaged: the base of the tests of single records.

use profinfer_trace::model::{DamageKind, Model};

use crate::read;
use profinfer_trace::test_support::bytes::{frame, hello};
use profinfer_trace::test_support::records::{self, Record};

/// The model of a stream with these records between its first and its last one.
pub(crate) fn model(middle: &[Record]) -> Model {
    let end = records::end(9_000, 0, middle.len() as u32 + 1);
    without_end(&[middle, &[end]].concat())
}

/// The same without the last one.
pub(crate) fn without_end(middle: &[Record]) -> Model {
    let all = [&[records::session(1_000)], middle].concat();
    let mut bytes = hello(1);
    for (seq, (kind, payload)) in (0..).zip(&all) {
        bytes.extend(frame(*kind, seq, payload));
    }
    read(&bytes, 7).unwrap()
}

/// Kinds and numbers of damage.
pub(crate) fn damage(model: &Model) -> Vec<(DamageKind, u64)> {
    model.health.damage.iter().map(|d| (d.kind, d.count)).collect()
}
