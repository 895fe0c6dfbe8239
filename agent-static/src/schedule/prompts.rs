//! Prompts: operators are captured while one runs or may begin, whatever the duty.
//!
//! Nobody outside of the engine knows when a prompt will begin, and its probes must be in place
//! before. So they are attached while the engine is idle, and stay until it decodes. A prompt that
//! follows another call without a pause has operators from its next call on.

use crate::lower::progress::Ended;

/// Shortest pause of an idle engine, ns: twice the sleep of the loop that notices it.
const IDLE_NS: u64 = 40_000_000;

/// Follows the calls of one engine.
#[derive(Debug)]
pub struct Prompts {
    /// A prompt runs or may begin.
    expected: bool,
    /// End and duration of the last call, ns.
    last: Option<(u64, u64)>,
    /// The shortest call of one token, ns.
    token_ns: Option<u64>,
}

impl Default for Prompts {
    /// An engine that was found now: its first call is probably a prompt.
    fn default() -> Self {
        Self { expected: true, last: None, token_ns: None }
    }
}

impl Prompts {
    /// Processes a call that has ended. Returns whether it is a prompt, at this duty.
    pub fn call(&mut self, call: &Ended, permille: u16) -> bool {
        let took = call.end_ns.saturating_sub(call.start_ns);
        if call.decode && call.good {
            self.token_ns = Some(self.token_ns.map_or(took, |shortest| shortest.min(took)).max(1));
        }
        self.last = Some((call.end_ns, took));
        self.expected = !call.decode && self.is_long(took, permille);
        self.expected
    }

    /// Whether a call of several tokens is long enough for a prompt. Calls that decode several
    /// sequences, or verify a draft, also have several tokens. The probes cost each call the same
    /// time. If the call is as many times longer than that of a token as the duty allows, they slow
    /// it down by no more than the duty slows down decoding.
    fn is_long(&self, took_ns: u64, permille: u16) -> bool {
        let of = |token: u64| u128::from(took_ns) * u128::from(permille) >= u128::from(token) * 1000;
        self.token_ns.is_none_or(of)
    }

    /// Whether a prompt runs or may begin. `running`: start and number of tokens of the running
    /// call.
    pub fn expected(&mut self, running: Option<(u64, Option<u32>)>, now_ns: u64, permille: u16) -> bool {
        match running {
            Some((_, Some(0 | 1))) => self.expected = false,
            Some((since_ns, _)) if self.is_long(now_ns.saturating_sub(since_ns), permille) => {
                self.expected = true;
            }
            Some(_) => {}
            None => {
                // As in the speed of the controller: an engine is idle if it pauses for longer than it
                // computed.
                let idle = |(end, took): (u64, u64)| now_ns.saturating_sub(end) > took.max(IDLE_NS);
                self.expected |= self.last.is_some_and(idle);
            }
        }
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn call(start: u64, took: u64, decode: bool) -> Ended {
        let (start_ns, end_ns) = (start * MS, (start + took) * MS);
        Ended { pid: 1, start_ns, end_ns, decode, good: true, operators: 0, kept: true }
    }

    #[test]
    fn a_prompt_is_expected_at_first_and_after_a_pause() {
        let mut prompts = Prompts::default();
        assert!(prompts.expected(None, 0, 100));
        assert!(prompts.expected(Some((0, Some(512))), 0, 100));
        // Its parts.
        assert!(prompts.call(&call(0, 500, false), 100));
        assert!(prompts.call(&call(500, 500, false), 100));
        assert!(prompts.expected(None, 1_001 * MS, 100));
        // Then it decodes.
        assert!(!prompts.expected(Some((1_001 * MS, Some(1))), 1_002 * MS, 100));
        assert!(!prompts.call(&call(1_001, 10, true), 100));
        assert!(!prompts.expected(None, 1_013 * MS, 100));
        assert!(!prompts.expected(None, 1_051 * MS, 100));
        assert!(prompts.expected(None, 1_052 * MS, 100));
        // Its first part is too short to be known as a prompt, but it began after a pause.
        assert!(prompts.expected(Some((1_060 * MS, Some(40))), 1_061 * MS, 100));
    }

    #[test]
    fn a_prompt_without_a_pause_is_seen_while_it_runs() {
        let mut prompts = Prompts::default();
        prompts.call(&call(0, 10, true), 100);
        assert!(!prompts.expected(Some((11 * MS, Some(512))), 50 * MS, 100));
        assert!(prompts.expected(Some((11 * MS, Some(512))), 111 * MS, 100));
    }

    #[test]
    fn several_sequences_are_not_a_prompt() {
        let mut prompts = Prompts::default();
        prompts.call(&call(0, 10, true), 100);
        for k in 1..20 {
            assert!(!prompts.call(&call(20 * k, 15, false), 100));
            assert!(!prompts.expected(Some(((20 * k + 15) * MS, Some(4))), (20 * k + 18) * MS, 100));
        }
        // At a duty of 90 % nearly all calls are captured anyway.
        assert!(prompts.call(&call(400, 15, false), 900));
    }
}
