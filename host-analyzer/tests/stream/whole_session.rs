//! A session with a few records in the middle, undamaged on its way: what the tests of single records need.

use host_analyzer::model::{DamageKind, Model};

use crate::read;
use crate::synth::bytes::{frame, hello};
use crate::synth::records::{self, Record};

/// The model of a stream with these records between its first and its last one.
pub(crate) fn model(middle: &[Record]) -> Model {
    let mut all = vec![records::session(1_000)];
    all.extend(middle.iter().cloned());
    all.push(records::end(9_000, 0, all.len() as u32));
    let mut bytes = hello(1);
    for (seq, (kind, payload)) in (0..).zip(&all) {
        bytes.extend(frame(*kind, seq, payload));
    }
    read(&bytes, 7).unwrap()
}

/// What was found damaged, and how often.
pub(crate) fn damage(model: &Model) -> Vec<(DamageKind, u64)> {
    model.health.damage.iter().map(|d| (d.kind, d.count)).collect()
}
