//! Damage, summed by kind.

use profinfer_wire::frame::FrameError;

use crate::decode;
use crate::model::{Damage, DamageKind, MAX_SKIPPED, Skipped};

/// The sums.
#[derive(Debug, Default)]
pub(super) struct Damages {
    kinds: Vec<Damage>,
    skipped: Vec<Skipped>,
}

impl Damages {
    pub(super) fn add(&mut self, kind: DamageKind, count: u64, bytes: u64, offset: u64) {
        match self.kinds.iter_mut().find(|d| d.kind == kind) {
            Some(d) => {
                d.count = d.count.saturating_add(count);
                d.bytes = d.bytes.saturating_add(bytes);
                d.first_offset = d.first_offset.min(offset);
            }
            None => self.kinds.push(Damage { kind, count, bytes, first_offset: offset }),
        }
    }

    /// Adds damage from the decoder.
    pub(super) fn found(&mut self, damage: &decode::Damage) {
        self.add(kind(damage.kind), damage.count, damage.bytes, damage.offset);
        if let decode::DamageKind::UnknownKind(kind) = damage.kind {
            self.skip(kind, damage.count);
        }
    }

    fn skip(&mut self, kind: u16, count: u64) {
        if let Some(s) = self.skipped.iter_mut().find(|s| s.kind == kind) {
            s.count = s.count.saturating_add(count);
        } else if self.skipped.len() < MAX_SKIPPED {
            self.skipped.push(Skipped { kind, count });
        }
    }

    /// Whether records were lost. Damaged bytes alone do not prove it: a lost frame leaves a gap in
    /// the numbers.
    pub(super) fn records_lost(&self) -> bool {
        use DamageKind::{Gap, Malformed, UnknownKind, Unresolved};
        self.kinds.iter().any(|d| matches!(d.kind, Gap | Malformed | UnknownKind | Unresolved))
    }

    /// Sorted worst first, by lost bytes, then by number; and the skipped kinds.
    pub(super) fn sorted(mut self) -> (Vec<Damage>, Vec<Skipped>) {
        self.kinds.sort_by_key(|d| (std::cmp::Reverse((d.bytes, d.count)), d.kind));
        (self.kinds, self.skipped)
    }
}

/// Converts the decoder's kind of damage to the model's.
const fn kind(kind: decode::DamageKind) -> DamageKind {
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
