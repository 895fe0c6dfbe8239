//! Memory or arithmetic: by ceilings, else by counters, else by intensity alone.

use super::{Bound, Confidence, Evidence, Kind, Known};
use crate::results::ceiling::limit::{Least, Limit, Top};
use crate::results::roof::Roof;

/// Share of a ceiling from which on the ceiling is the limit. A kernel that streams weights and
/// unpacks them reaches 0.7 to 0.9 of a pure read.
const NEAR: f64 = 0.6;
/// The same with high confidence.
const AT: f64 = 0.8;
/// From this share on, a ceiling may be the limit if counters agree.
const TOWARDS: f64 = 0.3;
/// Above this share of the read ceiling, the bytes came from a cache. Measurements exceed a ceiling
/// by a few percent at most.
const CACHED: f64 = 1.15;
/// Share of stalled cycles from which on the stalls are the limit.
const STALLED: f64 = 0.5;
/// Smallest share of the operator's reads that must come from memory for the stalls to be memory
/// stalls.
const REFILLED: f64 = 0.5;
/// Operations per byte below which every CPU waits for memory. The lowest balance of the boards'
/// cores, an A55's, is about 8.
const LEAN: f64 = 8.0;
/// Operations per byte above which no CPU waits for memory. An A76 cluster with `sdot` is balanced
/// at about 30.
const DENSE: f64 = 64.0;

fn roof<'a>(known: &Known<'a>) -> &'a Roof {
    known.roofs.phase(known.operator.phase)
}

/// The type of the operator's first source, which determines the arithmetic.
fn dtype<'a>(known: &Known<'a>) -> &'a str {
    match known.operator.op.as_str() {
        "MUL_MAT" | "MUL_MAT_ID" => known.operator.src.first().map_or("f32", |s| s.dtype.as_str()),
        "FLASH_ATTN_EXT" => known.operator.src.get(1).map_or("f32", |s| s.dtype.as_str()),
        _ => "f32",
    }
}

/// The least time of its work by the measured ceilings, and its rates.
fn parts(known: &Known<'_>) -> (Least, Vec<Evidence>) {
    let (roof, done, wall_ns) = (roof(known), known.done, known.operator.wall_ns as f64);
    let arithmetic = roof.arithmetic(dtype(known));
    let least = Least::new((done.bytes(), done.operations), roof.read, arithmetic);
    let ceiling = |top: Option<Top>| top.map(|top| top.per_s);
    let mut evidence = Vec::new();
    if let Some(bytes_per_s) = done.bytes_per_s {
        let share = roof.read.map(|_| least.memory_ns / wall_ns);
        evidence.push(Evidence::Bandwidth { bytes_per_s, ceiling: ceiling(roof.read), share });
    }
    if let Some(operations_per_s) = done.operations_per_s {
        let share = arithmetic.map(|_| least.arithmetic_ns / wall_ns);
        evidence.push(Evidence::Arithmetic { operations_per_s, ceiling: ceiling(arithmetic), share });
    }
    (least, evidence)
}

/// The roofline's numbers, for verdicts with other reasons.
pub(super) fn shares(known: &Known<'_>) -> Vec<Evidence> {
    parts(known).1
}

/// Whether counters confirm memory: yes, no, or no counters.
fn counters(known: &Known<'_>) -> (Option<bool>, Vec<Evidence>) {
    let Some(counted) = known.counted else { return (None, Vec::new()) };
    let stalls = counted.backend_stalls.map(|share| Evidence::BackendStalls { share });
    let of_read = |bytes: u64| bytes as f64 / known.done.read_bytes.max(1) as f64;
    let refills = counted.refill_bytes.map(|bytes| Evidence::Refills { bytes, of_read: of_read(bytes) });
    let ipc = counted.ipc.map(|instructions_per_cycle| Evidence::Ipc { instructions_per_cycle });
    let from_memory = counted.refill_bytes.is_none_or(|bytes| of_read(bytes) >= REFILLED);
    let agree = counted.backend_stalls.map(|share| share >= STALLED && from_memory);
    (agree, [stalls, refills, ipc].into_iter().flatten().collect())
}

/// By the ceilings for this number of threads.
pub(super) fn by_ceilings(known: &Known<'_>) -> Option<Bound> {
    let (mut least, mut evidence) = parts(known);
    let wall_ns = known.operator.wall_ns as f64;
    if least.memory_ns > wall_ns * CACHED {
        least.memory_ns = 0.0;
    }
    let by = if least.limit() == Limit::Arithmetic { Kind::Compute } else { Kind::Memory };
    // Without a time there is no rate.
    let share = if wall_ns > 0.0 { least.ns() / wall_ns } else { 0.0 };
    if by == Kind::Compute {
        evidence.reverse();
    }
    let (stalled, counted) = counters(known);
    evidence.extend(counted);
    let agree = stalled.map(|stalled| stalled == (by == Kind::Memory));
    let confidence = match agree {
        Some(false) if share >= NEAR => Confidence::Low,
        _ if share >= AT => Confidence::High,
        Some(true) if share >= NEAR => Confidence::High,
        _ if share >= NEAR => Confidence::Medium,
        Some(true) if share >= TOWARDS && by == Kind::Memory => Confidence::Medium,
        _ => return None,
    };
    Some(Bound { by, confidence, evidence })
}

/// By stalls and refills, where no ceiling decides.
pub(super) fn by_counters(known: &Known<'_>) -> Option<Bound> {
    let (stalled, mut evidence) = counters(known);
    evidence.extend(shares(known));
    // Stalls without refills may come from a busy unit.
    let refilled = known.counted?.refill_bytes.is_some();
    let confidence = if refilled { Confidence::Medium } else { Confidence::Low };
    (stalled == Some(true)).then_some(Bound { by: Kind::Memory, confidence, evidence })
}

/// By operations per byte, where there are no ceilings. Only bytes that no cache holds indicate
/// memory.
pub(super) fn by_intensity(known: &Known<'_>) -> Option<Bound> {
    let operations_per_byte = known.done.intensity?;
    let roof = roof(known);
    let streamed = known.done.weight_bytes.saturating_add(known.done.cache_bytes);
    let by = if operations_per_byte >= DENSE && roof.arithmetic(dtype(known)).is_none() {
        Kind::Compute
    } else if operations_per_byte <= LEAN && streamed > known.done.bytes() / 2 && roof.read.is_none() {
        Kind::Memory
    } else {
        return None;
    };
    let mut evidence = vec![Evidence::Intensity { operations_per_byte }];
    evidence.extend(shares(known));
    Some(Bound { by, confidence: Confidence::Low, evidence })
}
