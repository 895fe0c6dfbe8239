//! Damage, summed by kind.

use profinfer_wire::frame::FrameError;

use crate::decode;
use crate::model::{Damage, DamageKind};

/// The sums.
#[derive(Debug, Default)]
pub(super) struct Damages(Vec<Damage>);

impl Damages {
    pub(super) fn add(&mut self, kind: DamageKind, count: u64, bytes: u64, offset: u64) {
        match self.0.iter_mut().find(|d| d.kind == kind) {
            Some(d) => {
                d.count = d.count.saturating_add(count);
                d.bytes = d.bytes.saturating_add(bytes);
                d.first_offset = d.first_offset.min(offset);
            }
            None => self.0.push(Damage { kind, count, bytes, first_offset: offset }),
        }
    }

    /// Whether records were lost. Damaged bytes need not have been a record: a lost frame leaves a gap in the numbers.
    pub(super) fn records_lost(&self) -> bool {
        use DamageKind::{Gap, Malformed, UnknownKind, Unresolved};
        self.0.iter().any(|d| matches!(d.kind, Gap | Malformed | UnknownKind | Unresolved))
    }

    /// Worst first: by lost bytes, then by number.
    pub(super) fn sorted(mut self) -> Vec<Damage> {
        self.0.sort_by_key(|d| (std::cmp::Reverse((d.bytes, d.count)), d.kind));
        self.0
    }
}

/// From the decoder's kind of damage to the model's.
pub(super) const fn kind(kind: decode::DamageKind) -> DamageKind {
    match kind {
        decode::DamageKind::Hello => DamageKind::Hello,
        decode::DamageKind::Overlong => DamageKind::Overlong,
        decode::DamageKind::Frame(FrameError::Cobs) => DamageKind::Cobs,
        decode::DamageKind::Frame(FrameError::Short) => DamageKind::Short,
        decode::DamageKind::Frame(FrameError::Length) => DamageKind::Length,
        decode::DamageKind::Frame(FrameError::Checksum) => DamageKind::Checksum,
        decode::DamageKind::Gap => DamageKind::Gap,
        decode::DamageKind::Repeated => DamageKind::Repeated,
        decode::DamageKind::Malformed(_) => DamageKind::Malformed,
        decode::DamageKind::UnknownKind(_) => DamageKind::UnknownKind,
    }
}
