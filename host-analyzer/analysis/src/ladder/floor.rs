//! The least time of the operators: each at the limit of the board that bounds it, at the model's
//! working set.

use std::collections::BTreeMap;

use super::IGNORED;
use super::sources::{Calls, pid_of};
use crate::replay::{CallReplay, ClassTimes, Replay};
use crate::results::ceiling::limit::{Least, Limit, Limits, Top};
use crate::results::module::TensorGroup;
use crate::results::roof::Roofs;
use crate::results::work::{Accuracy, LEAST};
use crate::shared::phase::Phase;
use crate::shared::rate::per_s;
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

/// Operators of one tensor group and data type.
#[derive(Debug, Clone, PartialEq)]
pub struct FloorGroup {
    pub group: TensorGroup,
    /// Type of the weights or of the KV cache that they read, else of their results.
    pub dtype: String,
    /// Weights and KV cache that they read, bytes of all units.
    pub bytes: u64,
    pub operations: u64,
    /// At the limit, ns of all units.
    pub floor_ns: u64,
    /// What they took, ns of all units.
    pub work_ns: u64,
    /// Part of `work_ns` of operators whose work is unknown: their limit counts as 0.
    pub unknown_ns: u64,
    /// Least and most time per operation of its classes of operators, ns.
    pub ns_per_operation: (f64, f64),
}

impl FloorGroup {
    /// Time above the limit, ns of all units.
    #[must_use]
    pub const fn above_ns(&self) -> u64 {
        self.work_ns.saturating_sub(self.floor_ns)
    }
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
    /// The least certain source of the rates of the arithmetic that bound some of the operators; `None` where
    /// the memory bounds nearly all.
    pub arithmetic_source: Option<CeilingSource>,
    /// The most time above the limit first.
    pub parts: Vec<FloorPart>,
    /// The same by tensor group, the most time above the limit first. Their times sum to the floor
    /// and to what is above it.
    pub groups: Vec<FloorGroup>,
}

impl Floor {
    /// The floor of some calls. Operators of calls that were not captured are like the others.
    pub(super) fn compute(model: &Model, replay: &Replay, roofs: &Roofs, calls: &Calls<'_>) -> Option<Self> {
        let work_of =
            |phase: &Phase| replay.class_times[phase.index()].iter().map(|t| t.usual.work).sum::<u64>();
        // The rate of the memory is that of the phase with most work.
        let main = calls.phases.iter().max_by_key(|phase| work_of(phase))?;
        let limits_of = |phase: Phase| limits(roofs, replay, phase);
        let limits = limits_of(*main);
        let all: u64 = calls.phases.iter().map(work_of).sum();
        let here: u64 = calls.rows.iter().map(|c| c.usual.work).sum();
        if all == 0 || here == 0 || (limits.read.is_none() && limits.int8.is_none() && limits.f32.is_none()) {
            return None;
        }
        let scale = calls_of_traced(model, replay, calls);
        let scaled = |n: u64| (n as f64 * scale) as u64;
        let mut by_arithmetic: BTreeMap<CeilingSource, u64> = BTreeMap::new();
        let mut work_ns = Shares::new(here, all);
        let mut parts: BTreeMap<(&str, &str), FloorPart> = BTreeMap::new();
        let mut groups: BTreeMap<(TensorGroup, &str), FloorGroup> = BTreeMap::new();
        let computed = calls.phases.iter().flat_map(|phase| {
            let times = &replay.class_times[phase.index()];
            let limits = limits_of(*phase);
            replay.classes.iter().zip(times).map(move |(class, times)| (limits, class, times))
        });
        for (limits, class, times) in computed.filter(|(_, _, t)| t.instances > 0) {
            let (op, dtype) = (model.texts.get(class.desc), model.texts.get(class.dtype));
            let work = &times.work;
            let arithmetic = limits.arithmetic(dtype);
            let least = Least::new((work.streamed_bytes(), work.operations), limits.read, arithmetic);
            // A cache that holds some of the weights is faster than the ceiling of the complete
            // working set.
            let work_ns = work_ns.next(times.usual.work);
            let floor_ns = scaled(least.ns() as u64).min(work_ns);
            if let Some(top) = arithmetic.filter(|_| least.limit() == Limit::Arithmetic) {
                *by_arithmetic.entry(top.source).or_default() += floor_ns;
            }
            let (bytes, operations) = (scaled(work.streamed_bytes()), scaled(work.operations));
            let part = parts.entry((op, dtype)).or_insert_with(|| FloorPart {
                op: op.to_owned(),
                dtype: dtype.to_owned(),
                limit: least.limit(),
                bytes: 0,
                operations: 0,
                floor_ns: 0,
                work_ns: 0,
            });
            part.bytes = part.bytes.saturating_add(bytes);
            part.operations = part.operations.saturating_add(operations);
            part.floor_ns = part.floor_ns.saturating_add(floor_ns);
            part.work_ns = part.work_ns.saturating_add(work_ns);
            let dtype = class.cache.filter(|_| !class.weights).map_or(dtype, |text| model.texts.get(text));
            let group = groups.entry((class.group, dtype)).or_insert_with(|| FloorGroup {
                group: class.group,
                dtype: dtype.to_owned(),
                bytes: 0,
                operations: 0,
                floor_ns: 0,
                work_ns: 0,
                unknown_ns: 0,
                ns_per_operation: (f64::INFINITY, 0.0),
            });
            group.bytes = group.bytes.saturating_add(bytes);
            group.operations = group.operations.saturating_add(operations);
            group.floor_ns = group.floor_ns.saturating_add(floor_ns);
            group.work_ns = group.work_ns.saturating_add(work_ns);
            if work.accuracy == Accuracy::AtLeast {
                group.unknown_ns = group.unknown_ns.saturating_add(work_ns);
            }
            if work.operations > 0 {
                let rate = times.usual.work as f64 / work.operations as f64;
                let (low, high) = group.ns_per_operation;
                group.ns_per_operation = (low.min(rate), high.max(rate));
            }
        }
        let mut parts: Vec<FloorPart> = parts.into_values().collect();
        parts.sort_by_key(|p| std::cmp::Reverse(p.work_ns.saturating_sub(p.floor_ns)));
        let mut groups: Vec<FloorGroup> = groups.into_values().collect();
        groups.sort_by_key(|g| std::cmp::Reverse(g.above_ns()));
        let ns = parts.iter().map(|p| p.floor_ns).fold(0, u64::saturating_add);
        let matters = |(_, floor_ns): &(&CeilingSource, &u64)| **floor_ns as f64 >= ns as f64 * IGNORED;
        Some(Self {
            ns,
            arithmetic_source: by_arithmetic.iter().rfind(matters).map(|(source, _)| *source),
            half_ns: limits.read.map_or(0, |top| (ns as f64 * spread(top)) as u64),
            bytes: parts.iter().map(|p| p.bytes).fold(0, u64::saturating_add),
            bytes_per_s: limits.read.map(|top| top.per_s),
            source: limits.read.map(|top| top.source),
            parts,
            groups,
        })
    }
}

/// The calls of a ladder per traced call of its phases, whose bytes and operations are known. The first
/// token takes longer than the others and reads as much, so times have another ratio. Processes are
/// divided by their times: their models differ.
fn calls_of_traced(model: &Model, replay: &Replay, calls: &Calls<'_>) -> f64 {
    let in_phases = |c: &&CallReplay| c.usual.work > 0 && calls.phases.contains(&c.phase);
    let rows: Vec<_> = calls.rows.iter().copied().filter(in_phases).collect();
    let pid = rows.first().map(|c| pid_of(model, c));
    let all: Vec<_> = replay.calls.iter().filter(in_phases).filter(|c| c.traced).collect();
    let own: Vec<_> = all.iter().copied().filter(|c| Some(pid_of(model, c)) == pid).collect();
    let work = |of: &[&CallReplay]| of.iter().map(|c| c.usual.work as f64).sum::<f64>();
    rows.len() as f64 / own.len().max(1) as f64 * work(&own) / work(&all).max(1.0)
}

/// The limits of a phase. What no ceiling bounds has the best rate that was seen in any phase with as many threads:
/// a few tokens may have no operator that is large enough to show one.
fn limits(roofs: &Roofs, replay: &Replay, phase: Phase) -> Limits {
    let of = |phase: Phase| seen(roofs.phase(phase).limits(), &replay.class_times[phase.index()]);
    let is_seen = |top: &Top| top.source == CeilingSource::BestSeen;
    let fastest = |own: Option<Top>, other: Option<Top>| match own {
        Some(top) if !is_seen(&top) => Some(top),
        own => own.into_iter().chain(other.filter(is_seen)).max_by_key(|top| top.per_s),
    };
    let own = of(phase);
    let others = Phase::ALL.into_iter().map(of).filter(|o| o.threads == own.threads);
    others.fold(own, |own, other| Limits {
        threads: own.threads,
        read: fastest(own.read, other.read),
        int8: fastest(own.int8, other.int8),
        f32: fastest(own.f32, other.f32),
        f16: fastest(own.f16, other.f16),
    })
}

/// The limits of a phase. The best rate seen is one of measured times, in which every execution may have been
/// delayed: the mean rate of a class without its delays may be higher.
fn seen(limits: Limits, times: &[ClassTimes]) -> Limits {
    let large = |t: &&ClassTimes| {
        let each = t.work.streamed_bytes().checked_div(t.instances).unwrap_or(0);
        each >= LEAST && t.usual.work > 0 && t.work.accuracy == Accuracy::Counted
    };
    let rate = |t: &ClassTimes| per_s(t.work.streamed_bytes(), t.usual.work).unwrap_or(0.0) as u64;
    let best = times.iter().filter(large).map(rate).max().unwrap_or(0);
    let raise = |top: Top| match top.source {
        CeilingSource::BestSeen => Top { per_s: top.per_s.max(best), ..top },
        _ => top,
    };
    Limits { read: limits.read.map(raise), ..limits }
}

/// Times of some calls, scaled to those of others so that the sum is exact.
struct Shares {
    here: u64,
    all: u64,
    before: u64,
}

impl Shares {
    const fn new(here: u64, all: u64) -> Self {
        Self { here, all, before: 0 }
    }

    fn next(&mut self, ns: u64) -> u64 {
        let at = |ns: u64| u128::from(ns) * u128::from(self.here) / u128::from(self.all.max(1));
        let after = self.before.saturating_add(ns);
        let share = at(after) - at(self.before);
        self.before = after;
        u64::try_from(share).unwrap_or(u64::MAX)
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
