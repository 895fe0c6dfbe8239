//! Estimated time of a call of a model without recording, in parts.

use std::collections::BTreeMap;

use super::layer::of_weight;
use super::node::Measured;
use super::rates::{Rates, Stage, kind};
use super::run::Run;
use super::target::Target;
use super::unseen::guess;

/// The products with weights of one type.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OfType {
    pub nodes: u64,
    /// Bytes of weights that they read per token.
    pub bytes: u64,
    /// Their time, ns.
    pub ns: f64,
    /// Lower bound, ns: below `ns` only for a type without recordings.
    pub low_ns: f64,
    /// Upper bound, ns.
    pub high_ns: f64,
    /// No recording has the type.
    pub unseen: bool,
}

/// The time of a call, in parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Estimate {
    /// Products with weights, by type.
    pub types: BTreeMap<String, OfType>,
    /// Reading the KV cache, ns.
    pub attention_ns: f64,
    /// All other nodes, ns.
    pub others_ns: f64,
    /// Between the nodes: dispatch and barriers, ns.
    pub between_ns: f64,
    /// Nodes of the graph that compute something.
    pub nodes: f64,
    /// The recording that provides the nodes without weights.
    pub template: usize,
    /// Similarity of its architecture, 0 to 1.
    pub alike: f64,
}

impl Estimate {
    /// The time of a call of the target; `None` when no recording has the stage, or no product was
    /// recorded in it.
    #[must_use]
    pub fn compute(target: &Target, runs: &[&Run], stage: Stage) -> Option<Self> {
        let rates = Rates::compute(runs, stage, target.streamed_bytes);
        let (template, measured) = nearest(target, runs, stage)?;
        let run = runs[template];
        let mut estimate = Self { template, alike: run.shape.alike(&target.shape), ..Self::default() };
        let last = target.shape.layers.saturating_sub(1);
        for matrix in &target.matrices {
            let (x, y) = if stage == Stage::Decode {
                (matrix.bytes as f64, matrix.rows as f64)
            } else {
                let tokens = tokens(&matrix.name, last, target, run, measured);
                (2.0 * matrix.elements as f64 * tokens, matrix.rows as f64 * tokens)
            };
            estimate.product(&rates, matrix, x, y)?;
        }
        estimate.rest(&rates, stage, target, run, measured);
        estimate.between_ns = rates.between_ns * estimate.nodes;
        Some(estimate)
    }

    fn product(&mut self, rates: &Rates, matrix: &super::census::Matrix, x: f64, y: f64) -> Option<()> {
        let op = if matrix.experts { "MUL_MAT_ID" } else { "MUL_MAT" };
        let line = |op: &str| rates.lines.get(&(op.to_owned(), matrix.dtype.clone()));
        let seen = line(op).or_else(|| line("MUL_MAT")).or_else(|| line("MUL_MAT_ID"));
        let of = self.types.entry(matrix.dtype.clone()).or_default();
        of.nodes += 1;
        of.bytes = of.bytes.saturating_add(matrix.bytes);
        self.nodes += 1.0;
        let (ns, low_ns, high_ns) = if let Some(line) = seen {
            let ns = line.ns(x, y);
            (ns, ns, ns)
        } else {
            of.unseen = true;
            let guess = guess(rates, matrix, x, y)?;
            (guess.ns, guess.low_ns, guess.high_ns)
        };
        of.ns += ns;
        of.low_ns += low_ns;
        of.high_ns += high_ns;
        Some(())
    }

    /// The nodes without weights, from the template. The target has each layer's nodes once per own
    /// layer. The work of each node scales with its width, or with the cache.
    fn rest(&mut self, rates: &Rates, stage: Stage, target: &Target, run: &Run, measured: &Measured) {
        let layers = run.shape.layers.max(1);
        let by_layer = target.shape.layers as f64 / layers as f64;
        let mut counts: BTreeMap<(&str, &str, u64), u64> = BTreeMap::new();
        let nodes = || measured.nodes.iter().filter(|n| n.matrix.is_none());
        for n in nodes() {
            *counts.entry((&n.op, &n.name, n.width)).or_default() += 1;
        }
        let cache: f64 = run.decode.nodes.iter().map(|n| n.cache_bytes).sum();
        let of_cell = if cache > 0.0 { target.cache_bytes / cache / by_layer } else { 1.0 };
        let prompt = target.prompt as f64 / measured.tokens.max(1) as f64;
        for n in nodes() {
            // A node without a layer in its name is a layer's node if there are as many as layers.
            let as_many = || counts[&(n.op.as_str(), n.name.as_str(), n.width)] >= layers && layers > 1;
            let times = if n.layered || as_many() { by_layer } else { 1.0 };
            let reads_cache = n.cache_bytes > 0.0;
            let wider = match (stage, reads_cache) {
                (Stage::Decode, true) => of_cell,
                (Stage::Decode, false) => run.shape.ratio(n.width, &target.shape),
                // Attention in a prompt: every token with every other.
                (Stage::Prefill, true) => {
                    prompt * prompt * run.shape.ratio(run.shape.widths[2], &target.shape)
                }
                (Stage::Prefill, false) => prompt * run.shape.ratio(n.width, &target.shape),
            };
            let x = stage.work(n) * wider;
            let ns = times * rates.lines.get(&kind(n)).map_or(n.ns, |line| line.ns(x, 0.0));
            self.nodes += times;
            if reads_cache {
                self.attention_ns += ns;
            } else {
                self.others_ns += ns;
            }
        }
    }

    /// The time of the call, ns.
    #[must_use]
    pub fn ns(&self) -> f64 {
        self.types.values().map(|t| t.ns).sum::<f64>() + self.rest_ns()
    }

    /// Time outside of products with weights, ns.
    fn rest_ns(&self) -> f64 {
        self.attention_ns + self.others_ns + self.between_ns
    }

    /// Lower and upper bound, from types without recordings, ns.
    #[must_use]
    pub fn bracket_ns(&self) -> (f64, f64) {
        let sum = |of: fn(&OfType) -> f64| self.types.values().map(of).sum::<f64>() + self.rest_ns();
        (sum(|t| t.low_ns), sum(|t| t.high_ns))
    }

    /// It contains a type that no recording has.
    #[must_use]
    pub fn has_unseen(&self) -> bool {
        self.types.values().any(|t| t.unseen)
    }
}

/// The recording with the most similar architecture; if equal, the one with the nearest number of
/// layers.
fn nearest<'r>(target: &Target, runs: &[&'r Run], stage: Stage) -> Option<(usize, &'r Measured)> {
    let with: Vec<(usize, &Measured)> =
        runs.iter().enumerate().filter_map(|(i, r)| Some((i, stage.of(r)?))).collect();
    let distance = |i: usize| runs[i].shape.layers.abs_diff(target.shape.layers);
    let by = |a: &usize, b: &usize| {
        let alike = |i: usize| runs[i].shape.alike(&target.shape);
        alike(*a).total_cmp(&alike(*b)).then(distance(*b).cmp(&distance(*a))).then(b.cmp(a))
    };
    with.into_iter().max_by(|a, b| by(&a.0, &b.0))
}

/// Number of tokens that a product processes. In a prompt, the last layer's feed-forward and the
/// output often process only the tokens with logits, as the template shows.
fn tokens(name: &str, last: u64, target: &Target, run: &Run, measured: &Measured) -> f64 {
    let operations = |layer: Option<u64>, rest: &str| {
        let names =
            |n: &&super::node::Node| n.matrix.as_ref().is_some_and(|(m, _)| of_weight(m) == (layer, rest));
        measured.nodes.iter().find(names).map(|n| (n.operations, n.elements))
    };
    let all = target.prompt as f64;
    match of_weight(name) {
        (None, rest) => {
            // Products over all tokens grow with the prompt, those over single rows do not.
            let (operations, elements) = operations(None, rest).unwrap_or((0.0, 0.0));
            let rows = operations / (2.0 * elements).max(1.0);
            if rows * 2.0 > measured.tokens as f64 { all } else { rows.max(1.0) }
        }
        (Some(layer), rest) if layer == last => {
            let (first, last) =
                (operations(Some(0), rest), operations(run.shape.layers.checked_sub(1), rest));
            let fewer = first.zip(last).is_some_and(|(first, last)| last.0 * 2.0 < first.0);
            if fewer { 1.0 } else { all }
        }
        _ => all,
    }
}
