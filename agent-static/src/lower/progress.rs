//! Counts decode calls and requests of each engine, and keeps ended calls for the code that steers
//! the capture.
//!
//! A request begins with a prompt: a call of more than one token after a call of a single token, or
//! with more tokens than the previous call (a long prompt is read in equal parts and a remainder).
//! The host checks more than that, see its analysis of requests. In particular, it recognizes a
//! warm-up by the position of the next call. Here, a first prompt of at most two tokens without a
//! decode call after it is a warm-up.

use profinfer_wire::record::token::function;

use super::Lower;
use crate::bpf::ring;

/// Most engines that are followed; the first ones.
const MAX_ENGINES: usize = 64;
/// Most ended calls that are kept: 50 ms of an engine with 0.1 ms per token.
const MAX_ENDED: usize = 512;
/// Most tokens of a warm-up call.
const WARM_UP: u32 = 2;

/// A decode call that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    pub pid: u32,
    pub start_ns: u64,
    pub end_ns: u64,
    /// It had one token, as far as known.
    pub decode: bool,
    pub good: bool,
    /// Operators that the thread ran that called its graphs, as far as captured: each thread of the
    /// call passed as many pairs of probes.
    pub operators: u32,
    /// Filters on calls keep its operators.
    pub kept: bool,
}

/// The position of a call among those of its engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Its number among calls of the decode phase, from 1; `None` for a prompt's call.
    pub token: Option<u32>,
    /// Its request, from 1; 0 before the first.
    pub request: u32,
}

/// Calls of one engine so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    pid: u32,
    /// Calls of the decode phase that began.
    pub tokens: u32,
    /// Requests that began.
    pub requests: u32,
    /// Tokens of the previous call, if it was a prompt's.
    last_prompt: Option<u32>,
    /// Calls of the decode phase of this request that began.
    of_request: u32,
    /// Tokens of this request's first call.
    first_prompt: u32,
}

impl Progress {
    fn call(&mut self, n_tokens: u32) -> Place {
        if n_tokens <= 1 {
            self.last_prompt = None;
            self.tokens += 1;
            self.of_request += 1;
            // A request whose beginning was missed.
            self.requests = self.requests.max(1);
            return Place { token: Some(self.tokens), request: self.requests };
        }
        if self.last_prompt.is_none_or(|last| n_tokens > last) {
            let warm_up = self.requests == 1 && self.of_request == 0 && self.first_prompt <= WARM_UP;
            self.requests += u32::from(!warm_up);
            (self.of_request, self.first_prompt) = (0, n_tokens);
        }
        self.last_prompt = Some(n_tokens);
        Place { token: None, request: self.requests }
    }
}

#[derive(Debug, Default)]
pub struct Engines {
    rows: Vec<Progress>,
    /// Ended calls in order; `None` if nobody needs them.
    ended: Option<Vec<Ended>>,
}

impl Engines {
    /// Keeps the calls that end from now on.
    pub fn keep_ended(&mut self) {
        self.ended = Some(Vec::with_capacity(MAX_ENDED));
    }

    /// Calls that ended since the last call of this.
    pub fn take_ended(&mut self) -> impl Iterator<Item = Ended> + '_ {
        self.ended.iter_mut().flat_map(|ended| ended.drain(..))
    }

    #[must_use]
    pub fn of(&self, pid: u32) -> Progress {
        self.rows.iter().find(|p| p.pid == pid).copied().unwrap_or_default()
    }

    /// Processes a call whose number of tokens is known now.
    pub(super) fn call(&mut self, pid: u32, n_tokens: u32) -> Place {
        let at = self.rows.iter().position(|p| p.pid == pid);
        let at = at.or_else(|| {
            (self.rows.len() < MAX_ENGINES).then(|| {
                self.rows.push(Progress { pid, ..Progress::default() });
                self.rows.len() - 1
            })
        });
        at.map_or_else(Place::default, |at| self.rows[at].call(n_tokens))
    }

    /// Drops all other engines.
    pub(super) fn keep(&mut self, kept: impl Fn(u32) -> bool) {
        self.rows.retain(|p| kept(p.pid));
    }

    /// Drops an engine, because a new one starts under its pid.
    pub(super) fn forget(&mut self, pid: u32) {
        self.rows.retain(|p| p.pid != pid);
    }
}

impl Lower {
    /// Processes a decode call that has ended.
    pub(super) fn ended(
        &mut self,
        e: &ring::Decode,
        n_tokens: Option<u32>,
        place: Option<Place>,
        operators: u32,
    ) {
        let kept = place.map_or(!self.filters.of_calls(), |p| self.filters.pass_call(p.token, p.request));
        let Some(ended) = &mut self.engines_progress.ended else { return };
        if ended.len() >= MAX_ENDED || e.head.arg == u32::from(function::LLAMA_ENCODE) {
            return;
        }
        let (pid, start_ns, end_ns) = (e.head.tgid, e.start_ns, e.end_ns);
        let (decode, good) = (n_tokens.is_none_or(|n| n <= 1), e.status == 0);
        ended.push(Ended { pid, start_ns, end_ns, decode, good, operators, kept });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_requests_are_counted() {
        let mut p = Progress::default();
        let mut call = |n| {
            let place = p.call(n);
            (place.token, place.request)
        };
        // A warm-up, then a prompt in three parts and two tokens.
        assert_eq!(call(2), (None, 1));
        assert_eq!([call(512), call(512), call(7)], [(None, 1); 3]);
        assert_eq!([call(1), call(1)], [(Some(1), 1), (Some(2), 1)]);
        assert_eq!(
            [call(20), call(1), call(300), call(1)],
            [(None, 2), (Some(3), 2), (None, 3), (Some(4), 3)]
        );
        // A prompt longer than the previous one, which had no answer.
        assert_eq!([call(5), call(9)], [(None, 4), (None, 5)]);
    }

    #[test]
    fn an_engine_met_in_the_middle_is_in_its_first_request() {
        let mut p = Progress::default();
        assert_eq!(p.call(1), Place { token: Some(1), request: 1 });
        assert_eq!(p.call(8), Place { token: None, request: 2 });
    }
}
