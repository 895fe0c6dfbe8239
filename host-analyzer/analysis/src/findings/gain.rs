//! Gain of a remedy, as an interval.

/// Time that a remedy saves, and the resulting speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// What becomes shorter.
    pub of: Gains,
    /// Smallest saving, ns.
    pub low_ns: u64,
    /// Most likely saving, ns; without a better estimate the middle of the interval.
    pub likely_ns: u64,
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

impl Gain {
    /// A token of `token_ns` becomes shorter by `low_ns` to `high_ns`.
    pub(super) fn new(token_ns: u64, low_ns: f64, high_ns: f64) -> Self {
        let (low, high) = within(token_ns, low_ns, high_ns);
        let speed = |gain: f64| Some(1e9 / (token_ns as f64 - gain).max(1.0));
        Self {
            of: Gains::Token,
            low_ns: low.round() as u64,
            likely_ns: f64::midpoint(low, high).round() as u64,
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
            likely_ns: f64::midpoint(low, high).round() as u64,
            high_ns: high.round() as u64,
            low_tokens_per_s: None,
            high_tokens_per_s: None,
        }
    }

    /// The same with a likely saving inside the interval, ns.
    pub(super) fn with_likely(self, likely_ns: f64) -> Self {
        Self { likely_ns: (likely_ns.round() as u64).clamp(self.low_ns, self.high_ns), ..self }
    }
}

fn within(whole_ns: u64, low_ns: f64, high_ns: f64) -> (f64, f64) {
    let longest = whole_ns as f64;
    let low = low_ns.clamp(0.0, longest);
    (low, high_ns.clamp(low, longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_an_interval_below_the_token() {
        let g = Gain::new(1_000_000, 5e5, 2e6);
        assert_eq!((g.low_ns, g.high_ns), (500_000, 1_000_000));
        assert!((g.low_tokens_per_s.unwrap_or(0.0) - 2000.0).abs() < 1e-6);
    }
}
