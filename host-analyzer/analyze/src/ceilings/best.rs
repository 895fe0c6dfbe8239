//! The best of several measurements. A ceiling is a maximum: a neighbour, heat or a lower clock
//! only ever lowers a rate, so the higher one is nearer to the truth, whoever held the CPUs.

use profinfer_trace::model::{Ceiling, CeilingKind, CeilingPoint, CeilingSource, CeilingUnit, CurveEnd};

/// Adds what is better in `new`, measured in a session that began at `unix_ns`. Doubtful figures
/// are not added, and no curve whose largest working set is doubtful: what remains of it would stand
/// for larger working sets. Returns whether anything changed.
pub(super) fn add(kept: &mut Vec<Ceiling>, new: &Ceiling, unix_ns: u64) -> bool {
    let new = Ceiling { source: CeilingSource::Kept { unix_ns }, note: String::new(), ..new.clone() };
    let mut points = points(&new);
    let Some(last) = points.last().filter(|last| last.doubts.is_empty()).cloned() else { return false };
    points.retain(|p| p.doubts.is_empty());
    let new = figures(Ceiling { points, ..new }, &last);
    let Some(old) = kept.iter_mut().find(|c| c.same_as(&new)) else {
        kept.push(new);
        return true;
    };
    let mut changed = false;
    for point in &new.points {
        let at = old.points.partition_point(|p| p.working_set_bytes < point.working_set_bytes);
        match old.points.get_mut(at).filter(|p| p.working_set_bytes == point.working_set_bytes) {
            Some(same) if better(new.kind, point.median, same.median) => *same = point.clone(),
            Some(_) => continue,
            None => old.points.insert(at, point.clone()),
        }
        changed = true;
        // What is known about the measurement is that of the figures: the largest working set.
        if at + 1 == old.points.len() {
            (old.load, old.source) = (new.load.clone(), new.source);
            *old = figures(old.clone(), point);
        }
    }
    changed
}

/// Whether a ceiling is better than another of its kind.
pub(super) const fn faster(ceiling: &Ceiling, than: &Ceiling) -> bool {
    better(ceiling.kind, ceiling.median, than.median)
}

const fn better(kind: CeilingKind, figure: u64, than: u64) -> bool {
    match kind.unit() {
        CeilingUnit::Nanoseconds => figure < than,
        CeilingUnit::BytesPerSecond | CeilingUnit::OpsPerSecond => figure > than,
    }
}

/// The points of a ceiling. Older agents send figures without points.
fn points(c: &Ceiling) -> Vec<CeilingPoint> {
    if !c.points.is_empty() {
        return c.points.clone();
    }
    let point = CeilingPoint {
        working_set_bytes: 0,
        repeats: c.repeats,
        median: c.median,
        min: c.min,
        max: c.max,
        doubts: c.doubts().to_vec(),
        end: CurveEnd::Open,
    };
    if c.measured() && c.median > 0 { vec![point] } else { Vec::new() }
}

fn figures(c: Ceiling, p: &CeilingPoint) -> Ceiling {
    Ceiling { repeats: p.repeats, median: p.median, min: p.min, max: p.max, ..c }
}
