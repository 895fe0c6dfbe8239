//! Ceilings: from the agent's lists to numbers.

use profinfer_wire::record::ceiling as wire;

use super::damage::Damages;
use crate::model::{Ceiling, CeilingKind, DamageKind, Model};

/// Most CPUs of one ceiling, as many as agents measure on.
const MOST_CPUS: usize = 1024;

/// Most ceilings: far more than the largest machine has sets of CPUs, and few enough to look through for each one that comes.
const MOST: usize = 4096;

/// Adds one. One of the same kind, on the same CPUs, by the same way replaces the earlier one. A list of CPUs that is none is
/// damage.
pub(super) fn add(model: &mut Model, r: &wire::Ceiling<'_>, offset: u64, damages: &mut Damages) {
    let Some(cpus) = cpus(r.cpus) else {
        damages.add(DamageKind::Malformed, 1, 0, offset);
        return;
    };
    // Figures of no repetition are none, and the least is not above the most.
    let [min, median, max] = match r.repeats {
        0 => [0; 3],
        _ => {
            let mut figures = [r.min, r.median, r.max];
            figures.sort_unstable();
            figures
        }
    };
    let ceiling = Ceiling {
        kind: kind(r.kind),
        core: r.core.to_owned(),
        cpus,
        how: r.how.to_owned(),
        repeats: r.repeats,
        median,
        min,
        max,
        note: r.note.to_owned(),
    };
    let same = |c: &Ceiling| c.kind == ceiling.kind && c.cpus == ceiling.cpus && c.how == ceiling.how;
    match model.ceilings.iter().position(same) {
        Some(earlier) => model.ceilings[earlier] = ceiling,
        None if model.ceilings.len() < MOST => model.ceilings.push(ceiling),
        None => damages.add(DamageKind::Malformed, 1, 0, offset),
    }
}

/// Reads `0-3,6`, in order and each once; empty for none.
fn cpus(list: &str) -> Option<Vec<u16>> {
    let mut cpus = Vec::new();
    for part in list.split(',').filter(|_| !list.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (from.parse::<u16>().ok()?, to.parse::<u16>().ok()?);
        // What is in the list bounds the memory, not what it claims.
        if from > to || cpus.len() + usize::from(to - from) >= MOST_CPUS {
            return None;
        }
        cpus.extend(from..=to);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

const fn kind(kind: wire::CeilingKind) -> CeilingKind {
    match kind {
        wire::CeilingKind::Read => CeilingKind::Read,
        wire::CeilingKind::Copy => CeilingKind::Copy,
        wire::CeilingKind::Int8 => CeilingKind::Int8,
        wire::CeilingKind::F32 => CeilingKind::F32,
        wire::CeilingKind::F16 => CeilingKind::F16,
        wire::CeilingKind::Barrier => CeilingKind::Barrier,
        wire::CeilingKind::WakeUp => CeilingKind::WakeUp,
    }
}
