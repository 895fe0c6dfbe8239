//! How fast an engine decodes: by the medians over its last tokens, of those with operators and of those without. Bursts are as
//! long as a median's window, so one median of both would swing between the two.

use crate::schedule::duty::Captured;

/// Tokens in the median.
const WINDOW: usize = 15;
/// Least tokens for one.
const LEAST: usize = 5;

/// The last tokens of one kind.
#[derive(Debug, Clone, Default)]
struct Window {
    intervals: [u64; WINDOW],
    /// Intervals seen since the last clearing.
    seen: usize,
}

impl Window {
    fn push(&mut self, ns: u64) {
        self.intervals[self.seen % WINDOW] = ns;
        self.seen += 1;
    }

    /// `None` until five tokens were seen.
    fn median(&self) -> Option<u64> {
        let n = self.seen.min(WINDOW);
        let mut sorted = self.intervals;
        sorted[..n].sort_unstable();
        (n >= LEAST).then(|| sorted[n / 2])
    }
}

/// The last decode token calls of one engine.
#[derive(Debug, Clone, Default)]
pub(super) struct Speed {
    traced: Window,
    untraced: Window,
    last_end_ns: Option<u64>,
}

impl Speed {
    /// Takes a call. A token takes from the end of the call before to the end of its own, so that sampling is in it. Behind a pause
    /// as long as a call, the engine had nothing to do: that is no interval. Calls of prompts are none.
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

    /// Forgets what was before a change.
    pub(super) fn clear(&mut self) {
        (self.traced.seen, self.untraced.seen) = (0, 0);
    }

    /// Thousandths of a token per second, all tokens taken together at a duty of so many thousandths; `None` until five tokens
    /// of the kind were seen that is the larger part, or of both where they are alike.
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
        // The first has no interval, prompts and what follows a pause have none.
        call(&mut speed, 0, 100, true);
        (0..4).for_each(|_| call(&mut speed, 2, 98, true));
        call(&mut speed, 0, 5_000, false);
        call(&mut speed, 60_000, 90, true);
        assert_eq!(speed.milli(1000), None);
        call(&mut speed, 2, 98, true);
        assert_eq!(speed.milli(1000), Some(10_000));
        // One slow token is none of its business.
        call(&mut speed, 0, 900, true);
        assert_eq!(speed.milli(1000), Some(10_000));
        (0..15).for_each(|_| call(&mut speed, 0, 200, true));
        assert_eq!(speed.milli(1000), Some(5_000));
        // At a low duty, these are not most of the tokens.
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
