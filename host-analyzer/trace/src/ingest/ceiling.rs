//! Ceilings: converts the agent's lists to numbers.

use profinfer_wire::record::ceiling as wire;

use super::damage::Damages;
use crate::model::{
    Ceiling, CeilingKind, CeilingLoad, CeilingPoint, CeilingSource, DamageKind, Doubt, Model,
};

/// Most CPUs of one ceiling; the agent has the same limit.
const MOST_CPUS: usize = 1024;

/// Most ceilings: far more than the largest machine has sets of CPUs, and few enough for a linear
/// search per record.
const MOST: usize = 4096;

/// Most points of a ceiling. The agent sends fewer: it doubles the working set up to 2 GB.
const MOST_POINTS: usize = 64;

/// Adds a ceiling. It replaces an earlier one of the same kind, CPUs and way. An invalid list of
/// CPUs is damage.
pub(super) fn add(model: &mut Model, r: &wire::Ceiling<'_>, offset: u64, damages: &mut Damages) {
    let Some(cpus) = cpus(r.cpus) else {
        damages.add(DamageKind::Malformed, 1, 0, offset);
        return;
    };
    // Without repetitions there are no figures. The minimum is not above the maximum.
    let [min, median, max] = match r.repeats {
        0 => [0; 3],
        _ => {
            let mut figures = [r.min, r.median, r.max];
            figures.sort_unstable();
            figures
        }
    };
    let ceiling = Ceiling {
        kind: r.kind.into(),
        core: r.core.to_owned(),
        cpus,
        how: r.how.to_owned(),
        repeats: r.repeats,
        median,
        min,
        max,
        note: r.note.to_owned(),
        points: Vec::new(),
        load: None,
        source: CeilingSource::Recording,
    };
    put(model, ceiling, offset, damages);
}

/// Adds a point to its ceiling. It replaces an earlier one of the same working set. A point without
/// repetitions is damage.
pub(super) fn add_point(model: &mut Model, r: &wire::CeilingPoint<'_>, offset: u64, damages: &mut Damages) {
    let Some(cpus) = cpus(r.cpus).filter(|_| r.repeats > 0) else {
        damages.add(DamageKind::Malformed, 1, 0, offset);
        return;
    };
    let mut figures = [r.min, r.median, r.max];
    figures.sort_unstable();
    let [min, median, max] = figures;
    let point = CeilingPoint {
        working_set_bytes: r.working_set_bytes,
        repeats: r.repeats,
        median,
        min,
        max,
        doubts: doubts(r.doubts),
        end: r.end.into(),
    };
    let kind: CeilingKind = r.kind.into();
    let of_it = |c: &Ceiling| c.kind == kind && c.cpus == cpus && c.how == r.how;
    let Some(ceiling) = model.ceilings.iter_mut().find(|c| of_it(c)) else {
        // The ceiling's frame was lost.
        let ceiling = Ceiling {
            kind,
            core: r.core.to_owned(),
            cpus,
            how: r.how.to_owned(),
            repeats: r.repeats,
            median,
            min,
            max,
            note: String::new(),
            points: vec![point],
            load: None,
            source: CeilingSource::Recording,
        };
        put(model, ceiling, offset, damages);
        return;
    };
    let at = ceiling.points.partition_point(|p| p.working_set_bytes < point.working_set_bytes);
    if at == ceiling.points.len() {
        (ceiling.repeats, ceiling.median, ceiling.min, ceiling.max) = (r.repeats, median, min, max);
    }
    let known = ceiling.points.len();
    match ceiling.points.get_mut(at).filter(|p| p.working_set_bytes == point.working_set_bytes) {
        Some(same) => *same = point,
        None if known < MOST_POINTS => ceiling.points.insert(at, point),
        None => damages.add(DamageKind::Malformed, 1, 0, offset),
    }
}

/// Adds who held the CPUs to its ceiling. Without the ceiling, whose frame was lost, it has no
/// meaning.
pub(super) fn add_load(model: &mut Model, r: &wire::CeilingLoad<'_>, offset: u64, damages: &mut Damages) {
    let Some(cpus) = cpus(r.cpus) else {
        damages.add(DamageKind::Malformed, 1, 0, offset);
        return;
    };
    let kind: CeilingKind = r.kind.into();
    if let Some(c) = model.ceilings.iter_mut().find(|c| c.kind == kind && c.cpus == cpus && c.how == r.how) {
        c.load = Some(CeilingLoad {
            wall_ns: r.wall_ns,
            others_ns: r.others_ns,
            pid: r.pid,
            name: r.name.to_owned(),
            pid_ns: r.pid_ns,
        });
    }
}

fn put(model: &mut Model, ceiling: Ceiling, offset: u64, damages: &mut Damages) {
    match model.ceilings.iter().position(|c| c.same_as(&ceiling)) {
        Some(earlier) => {
            let Ceiling { points, load, .. } = std::mem::replace(&mut model.ceilings[earlier], ceiling);
            (model.ceilings[earlier].points, model.ceilings[earlier].load) = (points, load);
        }
        None if model.ceilings.len() < MOST => model.ceilings.push(ceiling),
        None => damages.add(DamageKind::Malformed, 1, 0, offset),
    }
}

/// Parses `0-3,6`, sorted and without duplicates; empty for none.
fn cpus(list: &str) -> Option<Vec<u16>> {
    let mut cpus = Vec::new();
    for part in list.split(',').filter(|_| !list.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (from.parse::<u16>().ok()?, to.parse::<u16>().ok()?);
        // The length of the list limits the memory, not the numbers in it.
        if from > to || cpus.len() + usize::from(to - from) >= MOST_CPUS {
            return None;
        }
        cpus.extend(from..=to);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// One doubt per known bit, and one for all unknown bits.
fn doubts(bits: u32) -> Vec<Doubt> {
    let known = [(wire::doubt::UNSTABLE, Doubt::Unstable), (wire::doubt::ENGINE_RAN, Doubt::EngineRan)];
    let others = known.iter().fold(bits, |rest, (bit, _)| rest & !bit);
    let named = known.into_iter().filter(|(bit, _)| bits & bit != 0).map(|(_, doubt)| doubt);
    named.chain((others != 0).then_some(Doubt::Unknown)).collect()
}
