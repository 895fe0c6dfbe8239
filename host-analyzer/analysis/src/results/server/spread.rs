//! Percentiles over requests.

use super::request::SlotRequest;
use crate::stats::percentile::percentile;

/// Percentiles of one figure over the requests that have it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spread {
    /// Requests that have the figure.
    pub n: u64,
    /// Median; `None`, like the others, without such requests.
    pub p50: Option<u64>,
    pub p90: Option<u64>,
    pub p99: Option<u64>,
}

impl Spread {
    fn new(values: impl Iterator<Item = Option<u64>>) -> Self {
        let mut values: Vec<u64> = values.flatten().collect();
        let mut at = |p| percentile(&mut values, p);
        let (p50, p90, p99) = (at(50), at(90), at(99));
        Self { n: values.len() as u64, p50, p90, p99 }
    }
}

/// Percentiles of a group of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spreads {
    pub requests: u64,
    /// Time to first token, ns.
    pub ttft_ns: Spread,
    /// Time per output token, ns.
    pub tpot_ns: Spread,
    /// Time within the TTFT in which no call had tokens of the request, ns.
    pub waited_ns: Spread,
    /// Computed tokens of the prompt.
    pub prompt_tokens: Spread,
    /// Cached tokens of the prompt.
    pub reused: Spread,
    pub output_tokens: Spread,
    /// Shares of the time of calls, by tokens: the sum over the requests, ns.
    pub cost_ns: u64,
}

impl Spreads {
    pub(super) fn new(requests: &[&SlotRequest]) -> Self {
        let spread =
            |figure: fn(&SlotRequest) -> Option<u64>| Spread::new(requests.iter().map(|r| figure(r)));
        Self {
            requests: requests.len() as u64,
            ttft_ns: spread(|r| r.ttft_ns),
            tpot_ns: spread(|r| r.tpot_ns),
            waited_ns: spread(|r| r.waited_ns),
            prompt_tokens: spread(|r| r.prompt_tokens),
            reused: spread(|r| r.reused.map(u64::from)),
            output_tokens: spread(|r| r.output_tokens),
            cost_ns: requests.iter().map(|r| r.cost_ns).fold(0, u64::saturating_add),
        }
    }
}
