//! A bracket from ceilings alone, for a board without recordings.

use super::census::Census;
use crate::results::ceiling::Ceilings;
use crate::results::roof::Top;
use profinfer_trace::model::CeilingKind;

/// Share of the read ceiling that decode reaches: from quantized kernels that unpack slowly on a
/// small core, to floats on a fast one.
pub const DECODE_SHARE: (f64, f64) = (0.25, 0.95);

/// Share of the ceiling of 8-bit products that prompts reach.
pub const PREFILL_SHARE: (f64, f64) = (0.05, 0.7);

/// Best and worst case of a board.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// Threads of the ceilings.
    pub threads: usize,
    /// Ceiling for reading as many bytes as a token of the model reads.
    pub read: Top,
    /// Time per decode token, best and worst case, ns.
    pub decode_ns: (f64, f64),
    /// Time per prompt token, best and worst case, ns; `None` without a ceiling of 8-bit products.
    pub prefill_ns: Option<(f64, f64)>,
}

impl Bracket {
    /// The bracket for `threads` threads, or for the number of threads with the highest read
    /// ceiling; `None` without such a ceiling.
    #[must_use]
    pub fn compute(census: &Census, ceilings: &Ceilings, threads: Option<usize>) -> Option<Self> {
        let counts = ceilings.all.iter().map(|c| c.threads).filter(|n| threads.is_none_or(|t| t == *n));
        let streamed = census.streamed_bytes();
        let on = |kind, threads| ceilings.on(kind, threads, &[], Some(streamed)).map(Top::from);
        let best = counts
            .filter_map(|n| Some((on(CeilingKind::Read, n)?, n)))
            .max_by_key(|(top, n)| (top.per_s, std::cmp::Reverse(*n)));
        let (read, threads) = best?;
        let range = |work: f64, per_s: u64, share: (f64, f64)| {
            let ns = work * 1e9 / per_s.max(1) as f64;
            (ns / share.1, ns / share.0)
        };
        let elements: u64 = census.matrices.iter().map(|m| m.elements).sum();
        Some(Self {
            threads,
            read,
            decode_ns: range(streamed as f64, read.per_s, DECODE_SHARE),
            prefill_ns: on(CeilingKind::Int8, threads)
                .map(|int8| range(2.0 * elements as f64, int8.per_s, PREFILL_SHARE)),
        })
    }
}
