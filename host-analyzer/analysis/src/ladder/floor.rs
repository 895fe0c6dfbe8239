//! The least time of the operators: each at the limit of the board that bounds it, at the model's
//! working set.

use std::collections::BTreeMap;

use super::question::Calls;
use crate::replay::{ClassTimes, Replay};
use crate::results::ceiling::limit::Top;
use crate::results::roof::Roofs;
use crate::results::work::{Achieved, Work};
use crate::shared::group::Groups;
use crate::shared::phase::Phase;
use crate::shared::tally::Tallies;
use profinfer_trace::model::{CeilingSource, Model};

/// What bounds an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    Memory,
    Arithmetic,
    /// No ceiling is known for it: its time counts as its limit.
    Unknown,
}

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

/// Work of each class of operators, over the captured calls.
#[derive(Debug)]
pub(super) struct Works {
    /// By [`Phase::index`], then class.
    rows: Vec<Vec<Work>>,
    names: Vec<(String, String)>,
}

impl Works {
    pub(super) fn compute(
        model: &Model,
        replay: &Replay,
        groups: &Groups,
        tallies: &Tallies,
        achieved: &Achieved,
    ) -> Self {
        let mut rows = vec![vec![Work::default(); replay.classes.len()]; Phase::COUNT];
        for computed in &tallies.computed {
            let of_phase = &mut rows[groups.get(computed.group).phase.index()];
            let classes = replay.classes_of(computed.topology);
            for (class, cell) in classes.iter().zip(computed.cell_range()) {
                if let Some(sum) = of_phase.get_mut(class.0 as usize) {
                    sum.add(&achieved.cells[cell]);
                }
            }
        }
        let name = |c: &crate::replay::Class| {
            (model.texts.get(c.desc).to_owned(), model.texts.get(c.dtype).to_owned())
        };
        Self { rows, names: replay.classes.iter().map(name).collect() }
    }

    /// The floor of some calls. Operators of calls that were not captured are like the others.
    pub(super) fn floor(&self, replay: &Replay, roofs: &Roofs, calls: &Calls<'_>) -> Option<Floor> {
        let phase = calls.phase?;
        let limits = roofs.phase(phase).limits();
        let (works, times) = (&self.rows[phase.index()], &replay.class_times[phase.index()]);
        let all: u64 = times.iter().map(|t| t.usual.work).sum();
        let here: u64 = calls.rows.iter().map(|c| c.usual.work).sum();
        if all == 0 || here == 0 || (limits.read.is_none() && limits.int8.is_none() && limits.f32.is_none()) {
            return None;
        }
        let scale = here as f64 / all as f64;
        let mut parts: BTreeMap<(&str, &str), FloorPart> = BTreeMap::new();
        for ((work, times), (op, dtype)) in works.iter().zip(times).zip(&self.names) {
            if times.instances == 0 {
                continue;
            }
            let (floor_ns, limit) = least(work, times, limits.read, limits.arithmetic(dtype));
            let part = parts.entry((op, dtype)).or_insert_with(|| FloorPart {
                op: op.clone(),
                dtype: dtype.clone(),
                limit,
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
        Some(Floor {
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

/// Time of a class at its limit, ns, and the limit. It is at most what the operators took: a cache
/// that holds some of the weights is faster than the ceiling of the complete working set.
fn least(work: &Work, times: &ClassTimes, read: Option<Top>, arithmetic: Option<Top>) -> (u64, Limit) {
    let at = |n: u64, top: Option<Top>| {
        top.filter(|t| t.per_s > 0 && n > 0).map_or(0.0, |t| n as f64 * 1e9 / t.per_s as f64)
    };
    let (memory, compute) = (at(work.streamed_bytes(), read), at(work.operations, arithmetic));
    let (ns, limit) = if compute > memory { (compute, Limit::Arithmetic) } else { (memory, Limit::Memory) };
    let limit = if ns > 0.0 { limit } else { Limit::Unknown };
    ((ns as u64).min(times.usual.work), limit)
}
