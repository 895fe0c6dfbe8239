//! Reuse: how long ago the experts of a decode token were last used, in decode tokens of the same
//! context.

use std::collections::BTreeMap;

/// Reuse of experts from one decode token to another. Anything between two decode tokens of a
/// context (a prompt, a pause) does not count. An expert that a token uses twice counts once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reuse {
    /// Experts of tokens whose previous token is also known.
    pub uses: u64,
    /// Those that the previous token also used.
    pub again: u64,
    /// `again` as a share of `uses`, 0 to 1; `None` without uses.
    pub share: Option<f64>,
    /// Expected share if every expert were equally likely and tokens selected independently.
    pub even_share: Option<f64>,
    /// Experts whose last use is known. The next two figures cover these.
    pub known: u64,
    /// Median distance in tokens; 1 is the previous token.
    pub median_tokens: Option<u64>,
    /// 90th percentile of the distance.
    pub p90_tokens: Option<u64>,
    /// Experts that no earlier decode token of the recording used.
    pub never: u64,
    /// Experts whose last use is unknown, because selections before it were lost.
    pub unknown: u64,
}

/// Sums for a [`Reuse`].
#[derive(Debug, Clone, Default)]
pub(super) struct Distances {
    uses: u64,
    /// Experts of the previous token divided by all experts, summed over the uses.
    even: f64,
    never: u64,
    unknown: u64,
    /// Number of uses by distance.
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

/// The decode tokens of one layer, in order.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    /// Tokens so far.
    tokens: u64,
    /// Experts of the layer.
    n_expert: usize,
    /// By expert, the token that last used it since the last gap. Empty before the first token, and
    /// in phases other than decode.
    last: Vec<Option<u64>>,
    /// Number of experts of the previous token.
    before: usize,
    /// The first token after the last gap; 0 without a gap.
    since: u64,
    gap: bool,
    /// The expected next call, as a position among the context's decode calls.
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

    /// Begins the context's decode call number `call`, from 0. If calls before it are missing, the
    /// experts of their tokens are unknown, and no distance reaches back before them.
    pub(super) fn call(&mut self, call: u64) {
        if call > self.next_call {
            self.last.fill(None);
            self.since = self.tokens;
            self.gap = true;
        }
        self.next_call = call + 1;
    }

    /// Adds the next token, with its experts, each once.
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
