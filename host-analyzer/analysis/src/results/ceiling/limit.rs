//! The limits of a phase: ceilings, and what stands in for them.
//!
//! Stage: analysis. From: ceilings, operators, the board's profile. To: [`Limits`]. Promises: each
//! figure has its source and its range; one that is only a bound says so.

use super::{Fit, Fitting};
use crate::results::op::Op;
use crate::results::work::Achieved;
use crate::shared::phase::Phase;
use profinfer_trace::model::{CeilingKind, CeilingSource, Model};

/// Figures for a phase without measured ceilings. They bound a floor, but decide nothing: the
/// profile's bandwidth is that of any number of threads, and the best rate seen is only a lower
/// bound of the ceiling.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Instead {
    /// The memory's bandwidth by the board's profile.
    pub profile: Option<Top>,
    /// Fastest execution of an operator of the phase that read at least 1 MiB.
    pub read: Option<Top>,
    /// Fastest product with weights that is computed in 8-bit integers.
    pub int8: Option<Top>,
    /// The same in 32-bit floats.
    pub f32: Option<Top>,
    /// The same in 16-bit floats.
    pub f16: Option<Top>,
}

/// The best known limits of a phase: see `Roof::limits`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// Threads that they are for.
    pub threads: u32,
    /// Reading memory, bytes per second.
    pub read: Option<Top>,
    /// Arithmetic, operations per second.
    pub int8: Option<Top>,
    pub f32: Option<Top>,
    pub f16: Option<Top>,
}

/// A ceiling, or what stands in for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Top {
    /// Bytes or operations per second, the median of its repetitions.
    pub per_s: u64,
    /// Measured on exactly the CPUs of the phase, not only on as many.
    pub same_cpus: bool,
    /// Working set of a read ceiling, bytes. `None` for other kinds, and in recordings of older
    /// agents.
    pub working_set_bytes: Option<u64>,
    /// A call reads more than the largest measured working set.
    pub beyond: bool,
    /// Smallest repetition, or the smallest figure of the profile.
    pub low: u64,
    /// Largest repetition, or the profile's theoretical bandwidth. `None` where it is unknown how
    /// much higher the ceiling is: for the best rate seen.
    pub high: Option<u64>,
    /// Others held CPUs during the measurement, so it may be too low.
    pub polluted: bool,
    pub source: CeilingSource,
}

/// What bounds an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    Memory,
    Arithmetic,
    /// No ceiling is known for it: its time counts as its limit.
    Unknown,
}

/// The least time of some work by each limit, ns; 0 where the limit is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Least {
    pub(crate) memory_ns: f64,
    pub(crate) arithmetic_ns: f64,
}

impl Least {
    /// Least time of work that moves these bytes and computes these operations.
    pub(crate) fn new((bytes, operations): (u64, u64), read: Option<Top>, arithmetic: Option<Top>) -> Self {
        let at = |n: u64, top: Option<Top>| {
            top.filter(|t| t.per_s > 0).map_or(0.0, |t| n as f64 * 1e9 / t.per_s as f64)
        };
        Self { memory_ns: at(bytes, read), arithmetic_ns: at(operations, arithmetic) }
    }

    pub(crate) const fn ns(self) -> f64 {
        self.memory_ns.max(self.arithmetic_ns)
    }

    pub(crate) fn limit(self) -> Limit {
        if self.ns() <= 0.0 {
            Limit::Unknown
        } else if self.arithmetic_ns > self.memory_ns {
            Limit::Arithmetic
        } else {
            Limit::Memory
        }
    }
}

impl From<Fitting<'_>> for Top {
    fn from(f: Fitting<'_>) -> Self {
        Self {
            per_s: f.value,
            same_cpus: f.fit == Fit::SameCpus,
            working_set_bytes: f.at.map(|at| at.working_set_bytes),
            beyond: f.at.is_some_and(|at| at.beyond),
            low: f.range.0,
            high: Some(f.range.1),
            polluted: f.ceiling.polluted,
            source: f.ceiling.source,
        }
    }
}

impl Top {
    /// A figure that no measuring loop gave.
    const fn instead(source: CeilingSource, per_s: u64, low: u64, high: Option<u64>) -> Self {
        let (same_cpus, working_set_bytes, beyond, polluted) = (false, None, false, false);
        Self { per_s, same_cpus, working_set_bytes, beyond, low, high, polluted, source }
    }

    /// The faster one.
    pub(in crate::results) fn faster(of: Option<Self>, other: Option<Self>) -> Option<Self> {
        of.into_iter().chain(other).max_by_key(|top| top.per_s)
    }
}

impl Instead {
    pub(in crate::results) fn compute(
        model: &Model,
        op: &Op,
        achieved: &Achieved,
        phase: Phase,
        threads: u32,
    ) -> Self {
        let profile =
            model.board_memory.map(|m| Top::instead(CeilingSource::Profile, m.per_s, m.low, m.theoretical));
        let mut of = Self { profile, ..Self::default() };
        let seen =
            |per_s: u64| (per_s > 0).then(|| Top::instead(CeilingSource::BestSeen, per_s, per_s, None));
        let rows = op.operators.iter().zip(&achieved.fastest);
        for (o, fastest) in rows.filter(|(o, f)| o.phase == phase && f.threads == threads) {
            of.read = Top::faster(of.read, seen(fastest.read_per_s));
            let product = matches!(o.op.as_str(), "MUL_MAT" | "MUL_MAT_ID");
            let Some(weights) = o.src.first().filter(|_| product) else { continue };
            let kind = match arithmetic_of(&weights.dtype) {
                CeilingKind::F32 => &mut of.f32,
                CeilingKind::F16 => &mut of.f16,
                _ => &mut of.int8,
            };
            *kind = Top::faster(*kind, seen(fastest.operations_per_s));
        }
        of
    }
}

/// The arithmetic of a product with weights of this type: quantized types are multiplied as 8-bit
/// integers.
pub(crate) fn arithmetic_of(dtype: &str) -> CeilingKind {
    match dtype {
        "f32" | "bf16" => CeilingKind::F32,
        "f16" => CeilingKind::F16,
        _ => CeilingKind::Int8,
    }
}

impl Limits {
    /// The limit of the arithmetic for a product with weights of this type.
    #[must_use]
    pub fn arithmetic(&self, dtype: &str) -> Option<Top> {
        match arithmetic_of(dtype) {
            CeilingKind::F32 => self.f32,
            CeilingKind::F16 => self.f16.or(self.f32),
            _ => self.int8,
        }
    }
}
