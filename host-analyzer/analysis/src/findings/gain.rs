//! Gain of a remedy, as an interval.

/// Time that a remedy saves, and the resulting speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// What becomes shorter.
    pub of: Gains,
    /// Smallest saving, ns.
    pub low_ns: u64,
    /// Largest saving, ns.
    pub high_ns: u64,
    /// Decode speed at the smallest saving, tokens per second; `None` if not a token becomes
    /// shorter.
    pub low_tokens_per_s: Option<f64>,
    /// Decode speed at the largest saving.
    pub high_tokens_per_s: Option<f64>,
}

/// What becomes shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gains {
    /// A decode token.
    Token,
    /// The time to first token of a request.
    Request,
}

/// No remedy saves more than this share of a time: larger claims are not credible.
const MAX_GAIN_SHARE: f64 = 0.98;

impl Gain {
    /// A token of `token_ns` becomes shorter by `low_ns` to `high_ns`.
    pub(super) fn new(token_ns: u64, low_ns: f64, high_ns: f64) -> Self {
        let (low, high) = within(token_ns, low_ns, high_ns);
        let speed = |gain: f64| Some(1e9 / (token_ns as f64 - gain).max(1.0));
        Self {
            of: Gains::Token,
            low_ns: low.round() as u64,
            high_ns: high.round() as u64,
            low_tokens_per_s: speed(low),
            high_tokens_per_s: speed(high),
        }
    }

    /// A request with a time to first token of `ttft_ns` gets its first token `low_ns` to `high_ns`
    /// earlier.
    pub(super) fn of_request(ttft_ns: u64, low_ns: f64, high_ns: f64) -> Self {
        let (low, high) = within(ttft_ns, low_ns, high_ns);
        Self {
            of: Gains::Request,
            low_ns: low.round() as u64,
            high_ns: high.round() as u64,
            low_tokens_per_s: None,
            high_tokens_per_s: None,
        }
    }

    /// The token's time becomes `from` to `to` of its present value.
    pub(super) fn to_share(token_ns: u64, from: f64, to: f64) -> Self {
        let t = token_ns as f64;
        Self::new(token_ns, t * (1.0 - from.max(to)), t * (1.0 - from.min(to)))
    }
}

fn within(whole_ns: u64, low_ns: f64, high_ns: f64) -> (f64, f64) {
    let longest = whole_ns as f64 * MAX_GAIN_SHARE;
    let low = low_ns.clamp(0.0, longest);
    (low, high_ns.clamp(low, longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_an_interval_below_the_token() {
        let g = Gain::new(1_000_000, 5e5, 2e6);
        assert_eq!((g.low_ns, g.high_ns), (500_000, 980_000));
        assert!((g.low_tokens_per_s.unwrap_or(0.0) - 2000.0).abs() < 1e-6);
        let g = Gain::to_share(1_000_000, 0.9, 0.5);
        assert_eq!((g.low_ns, g.high_ns), (100_000, 500_000));
    }
}
