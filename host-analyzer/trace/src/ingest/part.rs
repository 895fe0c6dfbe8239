//! Parts of batches: unpacked on arrival, sorted at the end.

use std::collections::HashMap;

use profinfer_wire::parts::Part;
use profinfer_wire::record::part::{PartBatch, PartLoss};

use super::damage::Damages;
use crate::model::totals::Totals;
use crate::model::{DamageKind, Health, LlamaCallId, PartLedger, Parts};

/// Parts in order of arrival, with the number of their call and their offset in the stream.
#[derive(Debug, Default)]
pub(super) struct Batches {
    parts: Vec<(u32, Part, u64)>,
    /// Tokens of all of them.
    received: u64,
    ledger: Option<PartLedger>,
}

impl Batches {
    pub(super) fn add(&mut self, r: &PartBatch<'_>, offset: u64, damages: &mut Damages) {
        let mut parts = r.parts();
        for part in &mut parts {
            self.received = self.received.saturating_add(part.n.into());
            self.parts.push((r.decode, part, offset));
        }
        if parts.failed {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
    }

    pub(super) fn loss(&mut self, r: &PartLoss) {
        self.ledger = Some(PartLedger::read(&r.fields()));
    }

    /// Fills the table. Parts of a missing call are left out. A call that was running when the
    /// session ended has no record; a call whose record was lost is counted as lost. A token that
    /// comes twice is damage.
    pub(super) fn finish(
        self,
        calls: &HashMap<u32, LlamaCallId>,
        out: &mut Parts,
        health: &mut Health,
        damages: &mut Damages,
    ) {
        health.parts = self.ledger.map(|l| PartLedger { received: self.received, ..l });
        health.parts_received = self.received;
        let known = |(call, part, offset)| calls.get(&call).map(|id| (*id, part, offset));
        let mut rows: Vec<(LlamaCallId, Part, u64)> = self.parts.into_iter().filter_map(known).collect();
        rows.sort_by_key(|(id, part, _)| (*id, part.first));
        let mut before: Option<(LlamaCallId, u32)> = None;
        for (id, part, offset) in rows {
            if before.is_some_and(|(call, end)| call == id && part.first < end) {
                damages.add(DamageKind::Unresolved, 1, 0, offset);
                continue;
            }
            before = Some((id, part.first.saturating_add(part.n)));
            out.decode.push(id);
            out.first.push(part.first);
            out.n.push(part.n);
            out.seq.push(part.seq);
            out.n_seq.push(part.n_seq);
            out.pos.push(part.pos);
            out.same.push(part.same);
            out.outputs.push(part.outputs);
        }
    }
}
