//! Gain of a remedy, as an interval.

use crate::ladder::{self, Ladder, Question, StepKind};
use crate::shared::sessions::SPREAD;

/// Time that a remedy saves. The speeds are those of a unit that is shorter by it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// A unit of this becomes shorter: a decode token, or a prompt and the first token after it.
    pub question: Question,
    /// Smallest saving, ns.
    pub low_ns: u64,
    /// Most likely saving, ns; without a better estimate the middle of the interval.
    pub likely_ns: u64,
    /// Largest saving, ns.
    pub high_ns: u64,
    /// Time of a unit, ns.
    whole_ns: u64,
    /// Tokens that come out in the time of a unit.
    tokens: f64,
}

/// Decode speeds, tokens per second of all sequences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speeds {
    /// After the smallest saving.
    pub low: f64,
    /// After the most likely saving; `None` if nearly nothing of a token is left.
    pub likely: Option<f64>,
    /// After the largest saving; `None` if nearly nothing of a token may be left.
    pub high: Option<f64>,
}

/// From this share of a token on, what is left of it shows a speed.
const LEAST_LEFT: f64 = 0.02;

impl Gain {
    /// A token of `token_ns` becomes shorter by `low_ns` to `high_ns`.
    pub(super) fn new(token_ns: u64, low_ns: f64, high_ns: f64) -> Self {
        Self::of(Question::Decode, token_ns, low_ns, high_ns)
    }

    /// A request with a time to first token of `ttft_ns` gets its first token `low_ns` to `high_ns`
    /// earlier.
    pub(super) fn of_request(ttft_ns: u64, low_ns: f64, high_ns: f64) -> Self {
        Self::of(Question::Prompt, ttft_ns, low_ns, high_ns)
    }

    /// A unit of `whole_ns` becomes shorter by `low_ns` to `high_ns`.
    pub(super) fn of(question: Question, whole_ns: u64, low_ns: f64, high_ns: f64) -> Self {
        let longest = whole_ns as f64;
        let low = low_ns.clamp(0.0, longest);
        let high = high_ns.clamp(low, longest);
        Self {
            question,
            low_ns: low.round() as u64,
            likely_ns: f64::midpoint(low, high).round() as u64,
            high_ns: high.round() as u64,
            whole_ns,
            tokens: 1.0,
        }
    }

    /// A gain of a ladder, per unit.
    pub(super) fn per_unit(ladder: &Ladder, gain: ladder::Gain) -> Self {
        let per = |ns: u64| ns as f64 / ladder.units.max(1) as f64;
        Self::of(ladder.question, ladder.unit_ns(), per(gain.low_ns), per(gain.high_ns))
            .with_likely(per(gain.likely_ns))
    }

    /// The same where what the cause takes is that of another session.
    pub(super) fn of_ladder(ladder: &Ladder, gain: ladder::Gain) -> Self {
        Self::per_unit(ladder, gain.of_other_sessions(ladder.measured_ns))
    }

    /// The gain per unit of a ladder without one of its steps of usual work; `None` if it has no such step.
    pub(super) fn without_step(ladder: &Ladder, kind: StepKind) -> Option<Self> {
        let step = ladder.steps.iter().find(|step| step.kind == kind)?;
        let likely_ns = u64::try_from(step.ns).ok()?;
        let low_ns = likely_ns.saturating_sub(step.half_ns);
        let high_ns = likely_ns.saturating_add(step.half_ns);
        let floor_ns = ladder.floor.as_ref().map_or(0, |floor| floor.ns);
        let most_ns = ladder.measured_ns.saturating_sub(floor_ns);
        let gain = ladder::Gain { low_ns, likely_ns, high_ns };
        Some(Self::per_unit(ladder, gain.of_other_sessions(most_ns)))
    }

    /// The same where a token of each of `sequences` becomes shorter.
    pub(super) const fn of_sequences(self, sequences: f64) -> Self {
        Self { tokens: sequences, ..self }
    }

    /// The same with a likely saving inside the interval, ns.
    pub(super) fn with_likely(self, likely_ns: f64) -> Self {
        Self { likely_ns: (likely_ns.round() as u64).clamp(self.low_ns, self.high_ns), ..self }
    }

    /// The same in two other sessions: the time without the cause and what the cause takes both differ
    /// by the spread between sessions.
    pub(super) fn in_other_sessions(self) -> Self {
        let (likely, left) = (self.likely_ns as f64, self.whole_ns.saturating_sub(self.likely_ns) as f64);
        let spread = (SPREAD * likely).hypot(SPREAD * left);
        let half = |end: u64| (end.abs_diff(self.likely_ns) as f64).hypot(spread);
        let (low, high) = (likely - half(self.low_ns), likely + half(self.high_ns));
        Self::of(self.question, self.whole_ns, low, high).with_likely(likely)
    }

    /// Time of a unit, ns.
    pub(super) const fn whole_ns(&self) -> u64 {
        self.whole_ns
    }

    /// The decode speeds; `None` if not a token becomes shorter.
    #[must_use]
    pub fn speeds(&self) -> Option<Speeds> {
        let left = |saved: u64| self.whole_ns.saturating_sub(saved) as f64;
        let after = |saved: u64| self.tokens * 1e9 / left(saved).max(1.0);
        let known = |saved: u64| (left(saved) > left(0) * LEAST_LEFT).then(|| after(saved));
        (self.question == Question::Decode).then(|| Speeds {
            low: after(self.low_ns),
            likely: known(self.likely_ns),
            high: known(self.high_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_an_interval_below_the_token() {
        let g = Gain::new(1_000_000, 5e5, 2e6);
        assert_eq!((g.low_ns, g.high_ns), (500_000, 1_000_000));
        // Nothing of a token is left at the most.
        let speeds = Speeds { low: 2000.0, likely: Some(4000.0), high: None };
        assert_eq!(g.speeds(), Some(speeds));
    }

    #[test]
    fn other_sessions_differ_by_their_spread() {
        // 400,000 ns remain, ± 31,200, and 600,000, ± 46,800: with ± 40,000, ± 69,019.
        let g = Gain::new(1_000_000, 560_000.0, 640_000.0).in_other_sessions();
        assert_eq!((g.low_ns, g.likely_ns, g.high_ns), (530_981, 600_000, 669_019));
    }

    /// A time and a speed of one gain are one number: 1 ms, of which 530,981 to 669,019 ns go away.
    #[test]
    fn speeds_are_those_of_what_is_left() {
        let g = Gain::new(1_000_000, 560_000.0, 640_000.0).in_other_sessions().of_sequences(2.0);
        let speeds = g.speeds().map(|s| (s.low, s.likely, s.high));
        let left = |ns: f64| 2e9 / ns;
        assert_eq!(speeds, Some((left(469_019.0), Some(5000.0), Some(left(330_981.0)))));
        assert_eq!(Gain::of_request(1_000_000, 5e5, 6e5).speeds(), None);
    }
}
