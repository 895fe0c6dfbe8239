//! The speed in each second of the last minutes.

use std::collections::BTreeMap;

use profinfer_analysis::budget::TokenBudget;
use profinfer_analysis::phase::Phase;

/// Number of seconds kept.
const SECONDS: usize = 300;

/// Decode tokens that ended in a second, and their time.
#[derive(Debug, Clone, Copy, Default)]
struct Second {
    tokens: u64,
    time_ns: u64,
}

#[derive(Debug, Default)]
pub(super) struct Speeds {
    seconds: BTreeMap<u64, Second>,
    /// Tokens that began before this time are counted, ns from the start of the session.
    counted_ns: Option<u64>,
}

impl Speeds {
    /// Counts the new decode tokens. The first token is not counted, because it is unknown what
    /// came before it.
    pub(super) fn add(&mut self, tokens: &[TokenBudget]) {
        let decode = || tokens.iter().filter(|t| t.phase == Phase::Decode);
        let counted = self.counted_ns.or_else(|| decode().map(|t| t.start_ns).min());
        let Some(counted) = counted else { return };
        for token in decode().filter(|t| t.start_ns > counted) {
            let end = token.start_ns.saturating_add(token.time_ns);
            let second = self.seconds.entry(end / 1_000_000_000).or_default();
            *second = Second { tokens: second.tokens + 1, time_ns: second.time_ns + token.time_ns };
            self.counted_ns = self.counted_ns.max(Some(token.start_ns));
        }
        self.counted_ns = self.counted_ns.or(Some(counted));
        while self.seconds.len() > SECONDS {
            self.seconds.pop_first();
        }
    }

    /// Tokens per second, from the first kept second to the last. `None` if no token ended in that
    /// second.
    pub(super) fn all(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        let first = self.seconds.keys().next().copied().unwrap_or(0);
        let last = self.seconds.keys().next_back().map_or(first, |s| s + 1);
        let from = first.max(last.saturating_sub(SECONDS as u64));
        (from..last).map(|s| self.seconds.get(&s).map(|s| s.tokens as f64 * 1e9 / s.time_ns.max(1) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_analysis::budget::Parts;

    fn token(start_ms: u64, ms: u64) -> TokenBudget {
        let (start_ns, time_ns) = (start_ms * 1_000_000, ms * 1_000_000);
        TokenBudget { call: 0, phase: Phase::Decode, traced: true, start_ns, time_ns, wall: Parts::default() }
    }

    #[test]
    fn every_token_counts_once_in_the_second_in_which_it_ends() {
        let mut speeds = Speeds::default();
        // The first one is left out; 900 to 1100 ends in the next second; nothing ends in the third.
        speeds.add(&[token(0, 400), token(400, 500), token(900, 200)]);
        // The next window overlaps.
        speeds.add(&[token(400, 500), token(900, 200), token(1100, 200), token(1300, 2000)]);
        let got: Vec<_> = speeds.all().collect();
        assert_eq!(got, [Some(2.0), Some(5.0), None, Some(0.5)]);
    }

    #[test]
    fn old_seconds_are_forgotten() {
        let mut speeds = Speeds::default();
        let tokens: Vec<_> = (0..1000).map(|s| token(s * 1000, 900)).collect();
        speeds.add(&tokens);
        assert_eq!(speeds.all().count(), SECONDS);
    }
}
