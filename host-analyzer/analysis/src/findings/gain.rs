//! Gain of a remedy, as an interval.

use crate::ladder::{self, Ladder, Question, StepKind};
use crate::shared::sessions::SPREAD;

/// Time that a remedy saves, and the resulting speed.
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
    /// Lowest decode speed without the cause, tokens per second of all sequences; `None` if not a
    /// token becomes shorter.
    pub low_tokens_per_s: Option<f64>,
    /// Highest decode speed without the cause; `None` also if nearly nothing of a token may be left.
    pub high_tokens_per_s: Option<f64>,
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
        let (low, high) = within(whole_ns, low_ns, high_ns);
        let token = question == Question::Decode;
        let left = |gain: f64| whole_ns as f64 - gain;
        let known = |gain: f64| token && left(gain) > whole_ns as f64 * LEAST_LEFT;
        let speed = |gain: f64| known(gain).then(|| 1e9 / left(gain));
        Self {
            question,
            low_ns: low.round() as u64,
            likely_ns: f64::midpoint(low, high).round() as u64,
            high_ns: high.round() as u64,
            low_tokens_per_s: speed(low),
            high_tokens_per_s: speed(high),
        }
    }

    /// The gain per unit of a ladder.
    pub(super) fn of_ladder(ladder: &Ladder, gain: ladder::Gain) -> Self {
        let per = |ns: u64| ns as f64 / ladder.units.max(1) as f64;
        Self::of(ladder.question, ladder.unit_ns(), per(gain.low_ns), per(gain.high_ns))
            .with_likely(per(gain.likely_ns))
            .of_other_delays(ladder.unit_ns())
    }

    /// The gain per unit of a ladder without one of its steps of usual work; `None` if it has no such step.
    pub(super) fn without_step(ladder: &Ladder, kind: StepKind) -> Option<Self> {
        let step = ladder.steps.iter().find(|step| step.kind == kind)?;
        let likely_ns = u64::try_from(step.ns).ok()?;
        let low_ns = likely_ns.saturating_sub(step.half_ns);
        let high_ns = likely_ns.saturating_add(step.half_ns);
        Some(Self::of_ladder(ladder, ladder::Gain { low_ns, likely_ns, high_ns }))
    }

    /// The same where a token of each of `sequences` becomes shorter.
    pub(super) fn of_sequences(self, sequences: f64) -> Self {
        let all = |speed: Option<f64>| speed.map(|speed| speed * sequences);
        Self {
            low_tokens_per_s: all(self.low_tokens_per_s),
            high_tokens_per_s: all(self.high_tokens_per_s),
            ..self
        }
    }

    /// The same with a likely saving inside the interval, ns.
    pub(super) fn with_likely(self, likely_ns: f64) -> Self {
        Self { likely_ns: (likely_ns.round() as u64).clamp(self.low_ns, self.high_ns), ..self }
    }

    /// The same where the time without the cause is that of another session.
    pub(super) fn in_another_session(self, whole_ns: u64) -> Self {
        let (low, high) = self.ends_with(whole_ns.saturating_sub(self.likely_ns));
        Self::of(self.question, whole_ns, low, high)
            .with_likely(self.likely_ns as f64)
            .of_other_delays(whole_ns)
    }

    /// The same where also the time with the cause is that of another session. What the cause takes
    /// differs by the spread between sessions, but not the speed without it.
    fn of_other_delays(self, whole_ns: u64) -> Self {
        let (low, high) = self.ends_with(self.likely_ns);
        let (low, high) = within(whole_ns, low, high);
        Self { low_ns: low.round() as u64, high_ns: high.round() as u64, ..self }
    }

    /// The ends of the interval, ns, if `differs_ns` of the time also differs by the spread between
    /// sessions.
    fn ends_with(self, differs_ns: u64) -> (f64, f64) {
        let (likely, spread) = (self.likely_ns as f64, SPREAD * differs_ns as f64);
        let half = |end: u64| (end.abs_diff(self.likely_ns) as f64).hypot(spread);
        (likely - half(self.low_ns), likely + half(self.high_ns))
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

    #[test]
    fn another_session_differs_by_its_spread() {
        // 400,000 ns remain, ± 31,200, and 600,000, ± 46,800: with ± 40,000, ± 69,019.
        let g = Gain::new(1_000_000, 560_000.0, 640_000.0).in_another_session(1_000_000);
        assert!((g.high_tokens_per_s.unwrap_or(0.0) - 1e9 / (400_000.0 - 50_729.0)).abs() < 0.1);
        assert_eq!((g.low_ns, g.likely_ns, g.high_ns), (530_981, 600_000, 669_019));
    }
}
