//! The least time of the operators: each at the limit of the board that bounds it, at the model's
//! working set.

use std::collections::BTreeMap;

use super::sources::Calls;
use crate::replay::Replay;
use crate::results::ceiling::limit::{Least, Limit, Top};
use crate::results::roof::Roofs;
use profinfer_trace::model::{CeilingSource, Model};

/// Operators of one type and data type.
#[derive(Debug, Clone, PartialEq)]
pub struct FloorPart {
    /// Operator as the engine describes it.
    pub op: String,
    pub dtype: String,
    pub limit: Limit,
    /// Weights and KV cache that they read, bytes of all units.
    pub bytes: u64,
    pub operations: u64,
    /// At the limit, ns of all units.
    pub floor_ns: u64,
    /// What they took, ns of all units.
    pub work_ns: u64,
}

/// Operators at their limits.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Floor {
    /// ns of all units.
    pub ns: u64,
    /// Half width of its interval by the spread of the ceilings, ns.
    pub half_ns: u64,
    /// Weights and KV cache that are read, bytes of all units.
    pub bytes: u64,
    /// Rate of the memory at this working set, bytes per second.
    pub bytes_per_s: Option<u64>,
    /// Where that rate is from.
    pub source: Option<CeilingSource>,
    /// The most time above the limit first.
    pub parts: Vec<FloorPart>,
}

impl Floor {
    /// The floor of some calls. Operators of calls that were not captured are like the others.
    pub(super) fn compute(model: &Model, replay: &Replay, roofs: &Roofs, calls: &Calls<'_>) -> Option<Self> {
        let phase = calls.phase?;
        let limits = roofs.phase(phase).limits();
        let times = &replay.class_times[phase.index()];
        let all: u64 = times.iter().map(|t| t.usual.work).sum();
        let here: u64 = calls.rows.iter().map(|c| c.usual.work).sum();
        if all == 0 || here == 0 || (limits.read.is_none() && limits.int8.is_none() && limits.f32.is_none()) {
            return None;
        }
        let scale = here as f64 / all as f64;
        let mut parts: BTreeMap<(&str, &str), FloorPart> = BTreeMap::new();
        for (class, times) in replay.classes.iter().zip(times).filter(|(_, t)| t.instances > 0) {
            let (op, dtype) = (model.texts.get(class.desc), model.texts.get(class.dtype));
            let work = &times.work;
            let least =
                Least::new((work.streamed_bytes(), work.operations), limits.read, limits.arithmetic(dtype));
            // A cache that holds some of the weights is faster than the ceiling of the complete
            // working set.
            let floor_ns = (least.ns() as u64).min(times.usual.work);
            let part = parts.entry((op, dtype)).or_insert_with(|| FloorPart {
                op: op.to_owned(),
                dtype: dtype.to_owned(),
                limit: least.limit(),
                bytes: 0,
                operations: 0,
                floor_ns: 0,
                work_ns: 0,
            });
            let scaled = |n: u64| (n as f64 * scale) as u64;
            part.bytes = part.bytes.saturating_add(scaled(work.streamed_bytes()));
            part.operations = part.operations.saturating_add(scaled(work.operations));
            part.floor_ns = part.floor_ns.saturating_add(scaled(floor_ns));
            part.work_ns = part.work_ns.saturating_add(scaled(times.usual.work));
        }
        let mut parts: Vec<FloorPart> = parts.into_values().collect();
        parts.sort_by_key(|p| std::cmp::Reverse(p.work_ns.saturating_sub(p.floor_ns)));
        let ns = parts.iter().map(|p| p.floor_ns).fold(0, u64::saturating_add);
        Some(Self {
            ns,
            half_ns: limits.read.map_or(0, |top| (ns as f64 * spread(top)) as u64),
            bytes: parts.iter().map(|p| p.bytes).fold(0, u64::saturating_add),
            bytes_per_s: limits.read.map(|top| top.per_s),
            source: limits.read.map(|top| top.source),
            parts,
        })
    }
}

/// Relative half width of the interval of a rate, by the range of its repetitions. A rate without an
/// upper end is a lower bound.
fn spread(top: Top) -> f64 {
    let per_s = top.per_s.max(1) as f64;
    let above = top.high.map_or(0.0, |high| 1.0 - per_s / high.max(1) as f64);
    let below = if top.low == 0 { 0.0 } else { per_s / top.low as f64 - 1.0 };
    above.max(below).clamp(0.0, 1.0)
}
