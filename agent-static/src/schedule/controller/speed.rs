//! Decode speed of an engine, from the medians of its last tokens: one for traced and one for
//! untraced tokens. Bursts are as long as a median's window, so one median over both would
//! alternate between the two.

use crate::schedule::duty::Captured;

/// Tokens per median.
const WINDOW: usize = 15;
/// Fewest tokens for a median.
const LEAST: usize = 5;

/// The last tokens of one kind.
#[derive(Debug, Clone, Default)]
struct Window {
    intervals: [u64; WINDOW],
    /// Intervals since the last clear.
    seen: usize,
}

impl Window {
    fn push(&mut self, ns: u64) {
        self.intervals[self.seen % WINDOW] = ns;
        self.seen += 1;
    }

    /// `None` before five tokens.
    fn median(&self) -> Option<u64> {
        let n = self.seen.min(WINDOW);
        let mut sorted = self.intervals;
        sorted[..n].sort_unstable();
        (n >= LEAST).then(|| sorted[n / 2])
    }
}

/// The last calls of the decode phase of one engine.
#[derive(Debug, Clone, Default)]
pub(super) struct Speed {
    traced: Window,
    untraced: Window,
    last_end_ns: Option<u64>,
}

impl Speed {
    /// Adds a call. A token lasts from the end of the previous call to the end of its own call,
    /// which includes sampling. If the pause before the call is longer than the call, the engine
    /// was idle and the interval does not count. Neither do calls of prompts.
    pub(super) fn call(&mut self, start_ns: u64, end_ns: u64, decode: bool, captured: Captured) {
        let last = self.last_end_ns.replace(end_ns);
        let Some(last) = last.filter(|_| decode) else { return };
        let (pause, work) = (start_ns.saturating_sub(last), end_ns.saturating_sub(start_ns));
        let window = match captured {
            Captured::Whole => &mut self.traced,
            Captured::None => &mut self.untraced,
            Captured::Edge => return,
        };
        if pause <= work && end_ns > last {
            window.push(end_ns - last);
        }
    }

    /// Clears all tokens, for a change of the duty.
    pub(super) fn clear(&mut self) {
        (self.traced.seen, self.untraced.seen) = (0, 0);
    }

    /// Thousandths of a token per second over all tokens at this duty. `None` until five tokens of
    /// the more frequent kind were seen, or of both kinds if they are equally frequent.
    pub(super) fn milli(&self, permille: u16) -> Option<u32> {
        let (duty, rest) = (u64::from(permille), u64::from(1000 - permille.min(1000)));
        let token = match (self.traced.median(), self.untraced.median()) {
            (Some(traced), Some(untraced)) => (duty * traced + rest * untraced) / 1000,
            (Some(traced), None) if duty > rest => traced,
            (None, Some(untraced)) if duty < rest => untraced,
            _ => return None,
        };
        Some(u32::try_from(1_000_000_000_000 / token.max(1)).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_median_of_busy_tokens() {
        let mut speed = Speed::default();
        let mut now = 0;
        let mut call = |speed: &mut Speed, pause: u64, work: u64, decode| {
            speed.call(now + pause * MS, now + (pause + work) * MS, decode, Captured::Whole);
            now += (pause + work) * MS;
        };
        // The first call has no interval; neither have prompts and calls after a pause.
        call(&mut speed, 0, 100, true);
        (0..4).for_each(|_| call(&mut speed, 2, 98, true));
        call(&mut speed, 0, 5_000, false);
        call(&mut speed, 60_000, 90, true);
        assert_eq!(speed.milli(1000), None);
        call(&mut speed, 2, 98, true);
        assert_eq!(speed.milli(1000), Some(10_000));
        // One slow token does not change the median.
        call(&mut speed, 0, 900, true);
        assert_eq!(speed.milli(1000), Some(10_000));
        (0..15).for_each(|_| call(&mut speed, 0, 200, true));
        assert_eq!(speed.milli(1000), Some(5_000));
        // At a low duty, most tokens are untraced.
        assert_eq!([500, 200].map(|duty| speed.milli(duty)), [None; 2]);
        speed.clear();
        assert_eq!(speed.milli(1000), None);
    }

    #[test]
    fn traced_and_untraced_tokens_by_their_shares() {
        let mut speed = Speed::default();
        let mut now = 0;
        for (token, captured) in [(300, Captured::Whole), (100, Captured::None), (9_000, Captured::Edge)] {
            for _ in 0..7 {
                speed.call(now, now + token * MS, true, captured);
                now += token * MS;
            }
        }
        // 300 ms, 200 ms, 120 ms, 100 ms.
        assert_eq!(
            [1000, 500, 100, 0].map(|duty| speed.milli(duty)),
            [3_333, 5_000, 8_333, 10_000].map(Some)
        );
    }
}
