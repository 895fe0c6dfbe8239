//! Memory or arithmetic: by ceilings, by counters, and where there are neither by intensity alone.

use super::{Bound, Confidence, Evidence, Kind, Known};
use crate::results::roof::Roof;

/// Part of a ceiling from which it is the bound. A kernel that streams weights and unpacks them reaches 0.7 to 0.9 of what a pure read does.
const NEAR: f64 = 0.6;
/// The same with high confidence.
const AT: f64 = 0.8;
/// From this part on a ceiling may be the bound, if counters say the same.
const TOWARDS: f64 = 0.3;
/// Above this part of the read ceiling the bytes came from a cache: a ceiling is exceeded by a few hundredths at most.
const CACHED: f64 = 1.15;
/// Part of the cycles from which the backend's stalls are the bound.
const STALLED: f64 = 0.5;
/// Part of the operator's reads that must have come from memory, for the stalls to be those of memory.
const REFILLED: f64 = 0.5;
/// Operations a byte below which every CPU waits for memory: the slowest balance of the boards' cores, an A55's, is about 8.
const LEAN: f64 = 8.0;
/// Operations a byte above which no CPU waits for memory: an A76 cluster with `sdot` is balanced at about 30.
const DENSE: f64 = 64.0;

fn roof<'a>(known: &Known<'a>) -> &'a Roof {
    known.roofs.phase(known.operator.phase)
}

/// The type of the operator's first source, which decides on the arithmetic.
fn dtype<'a>(known: &Known<'a>) -> &'a str {
    match known.operator.op.as_str() {
        "MUL_MAT" | "MUL_MAT_ID" => known.operator.src.first().map_or("f32", |s| s.dtype.as_str()),
        "FLASH_ATTN_EXT" => known.operator.src.get(1).map_or("f32", |s| s.dtype.as_str()),
        _ => "f32",
    }
}

/// Parts of the read ceiling and of the ceiling of the arithmetic, with the numbers.
fn parts(known: &Known<'_>) -> (Option<f64>, Option<f64>, Vec<Evidence>) {
    let roof = roof(known);
    let share = |value: f64, top: Option<u64>| top.map(|top| value / top as f64);
    let mut evidence = Vec::new();
    let (mut memory, mut arithmetic) = (None, None);
    if let Some(bytes_per_s) = known.done.bytes_per_s {
        let ceiling = roof.read.map(|top| top.per_s);
        memory = share(bytes_per_s, ceiling);
        evidence.push(Evidence::Bandwidth { bytes_per_s, ceiling, share: memory });
    }
    if let Some(operations_per_s) = known.done.operations_per_s {
        let ceiling = roof.arithmetic(dtype(known)).map(|top| top.per_s);
        arithmetic = share(operations_per_s, ceiling);
        evidence.push(Evidence::Arithmetic { operations_per_s, ceiling, share: arithmetic });
    }
    (memory, arithmetic, evidence)
}

/// The numbers of the roofline, for verdicts that rest on others.
pub(super) fn shares(known: &Known<'_>) -> Vec<Evidence> {
    parts(known).2
}

/// What counters say of memory: they agree, they do not, or there are none.
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

/// By the ceilings of as many threads.
pub(super) fn by_ceilings(known: &Known<'_>) -> Option<Bound> {
    let (memory, arithmetic, mut evidence) = parts(known);
    let memory = memory.filter(|share| *share <= CACHED).unwrap_or(0.0);
    let arithmetic = arithmetic.unwrap_or(0.0);
    let (by, share) = if memory >= arithmetic { (Kind::Memory, memory) } else { (Kind::Compute, arithmetic) };
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
    // Stalls without refills may be those of a unit that is busy.
    let refilled = known.counted?.refill_bytes.is_some();
    let confidence = if refilled { Confidence::Medium } else { Confidence::Low };
    (stalled == Some(true)).then_some(Bound { by: Kind::Memory, confidence, evidence })
}

/// By operations a byte, where there are no ceilings. Only bytes that no cache holds tell something of memory.
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
