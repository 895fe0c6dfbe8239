//! Reuse: how long ago the experts of a decode token were used the last time, in decode tokens of the same context.

use std::collections::BTreeMap;

/// Reuse of experts from one decode token to another. What lies between two decode tokens of a context (a prompt, a pause) does
/// not count; an expert that a token uses twice counts once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reuse {
    /// Experts of tokens whose token before is known too.
    pub uses: u64,
    /// Those of them that the token before used too.
    pub again: u64,
    /// The same as a share, 0 to 1; `None` of none.
    pub share: Option<f64>,
    /// What that share would be on the mean if every expert were as likely as any other, and tokens chose without regard to each other.
    pub even_share: Option<f64>,
    /// Experts for which the token that used them last is known, whose distances the next two are of.
    pub known: u64,
    /// Median distance in tokens, 1 is the token before.
    pub median_tokens: Option<u64>,
    /// 90th percentile of the distance.
    pub p90_tokens: Option<u64>,
    /// Experts that no decode token of the recording used before.
    pub never: u64,
    /// Experts of which the token that used them last is not known: selections before it were lost.
    pub unknown: u64,
}

/// Sums of which a [`Reuse`] is made.
#[derive(Debug, Clone, Default)]
pub(super) struct Distances {
    uses: u64,
    /// Experts of the token before by all experts, summed over the uses.
    even: f64,
    never: u64,
    unknown: u64,
    /// Distance and how often.
    count: BTreeMap<u64, u64>,
}

impl Distances {
    pub(super) fn add(&mut self, other: &Self) {
        self.uses += other.uses;
        self.even += other.even;
        self.never += other.never;
        self.unknown += other.unknown;
        for (distance, n) in &other.count {
            *self.count.entry(*distance).or_default() += n;
        }
    }

    pub(super) fn finish(&self) -> Reuse {
        let known = self.count.values().sum();
        let again = self.count.get(&1).copied().unwrap_or(0);
        let of_uses = |part: f64| (self.uses > 0).then(|| part / self.uses as f64);
        Reuse {
            uses: self.uses,
            again,
            share: of_uses(again as f64),
            even_share: of_uses(self.even),
            known,
            median_tokens: self.percentile(known, 50),
            p90_tokens: self.percentile(known, 90),
            never: self.never,
            unknown: self.unknown,
        }
    }

    /// By nearest rank, as [`crate::stats::percentile`].
    fn percentile(&self, known: u64, p: u64) -> Option<u64> {
        let rank = known.saturating_mul(p).div_ceil(100);
        let mut seen = 0;
        self.count.iter().find_map(|(distance, n)| {
            seen += n;
            (seen >= rank).then_some(*distance)
        })
    }
}

/// The decode tokens of one layer, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    /// Tokens so far.
    tokens: u64,
    /// Experts of the layer.
    n_expert: usize,
    /// By expert, the token that used it last, since the last gap; empty before the first token, as in other phases than decode.
    last: Vec<Option<u64>>,
    /// Number of experts of the token before.
    before: usize,
    /// The first token behind the last gap; 0 when there was none.
    since: u64,
    gap: bool,
    /// The token call whose turn it is, counted in the context's decode calls.
    next_call: u64,
    pub(super) distances: Distances,
}

impl Chain {
    pub(super) fn new(n_expert: u32) -> Self {
        Self {
            tokens: 0,
            n_expert: n_expert as usize,
            last: Vec::new(),
            before: 0,
            since: 0,
            gap: false,
            next_call: 0,
            distances: Distances::default(),
        }
    }

    /// The context's decode call number `call` comes, from 0. Where others were left out before it, what their tokens used is not
    /// known, and nothing from before them can be told a distance.
    pub(super) fn call(&mut self, call: u64) {
        if call > self.next_call {
            self.last.fill(None);
            self.since = self.tokens;
            self.gap = true;
        }
        self.next_call = call + 1;
    }

    /// The next token, with its experts, each once.
    pub(super) fn token(&mut self, experts: &[u32]) {
        let now = self.tokens;
        self.last.resize(self.n_expert, None);
        self.tokens += 1;
        if now > self.since {
            self.distances.uses += experts.len() as u64;
            self.distances.even += experts.len() as f64 * self.before as f64 / self.n_expert as f64;
        }
        self.before = experts.len();
        for expert in experts {
            match self.last[*expert as usize].replace(now) {
                Some(before) => *self.distances.count.entry(now - before).or_default() += 1,
                None if self.gap => self.distances.unknown += 1,
                None => self.distances.never += 1,
            }
        }
    }
}
