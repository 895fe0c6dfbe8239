//! Slowdown of tokens by operator capture: measured where untraced tokens are next to traced ones,
//! otherwise estimated.

use super::pairs::{Edges, Pair, pairs};
use crate::shared::execution::Executions;
use crate::shared::phase::{Phase, Phases};
use crate::stats::estimate::{Interval, median};
use profinfer_trace::model::{Model, Traced};

/// How much longer a decode call takes because its operators are captured.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Slowdown {
    /// From traced and untraced tokens of the same recording.
    Measured(Measured),
    /// From the number of operators and the agent's measurement of its probes.
    Estimated {
        /// `p / (t - p)`, where t is the time of traced decode calls and p the time of the probe
        /// pairs in them. Threads pass the probes of an operator in parallel, so an operator counts
        /// once. Excludes the CPU time that the agent takes from the engine, and the effect of the
        /// probes on its caches.
        slowdown: f64,
        /// The same for all decode tokens: times the share of those that had probes, completely
        /// traced or not.
        of_all_tokens: f64,
    },
    /// No decode tokens, no operators, or too few bursts and no measured probe.
    #[default]
    Unknown,
}

/// A measured slowdown; 0.01 is 1 %, negative is faster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Slowdown of a traced token: median over the bursts.
    pub slowdown: f64,
    /// Its 95 % interval. It holds for any distribution of the bursts' ratios, as long as the
    /// bursts are independent.
    pub low: f64,
    pub high: f64,
    /// Slowdown of all decode tokens: the median times the traced share, plus that of the edges
    /// times theirs.
    pub of_all_tokens: f64,
    /// Bursts with untraced neighbours on both sides.
    pub bursts: u64,
    /// Traced tokens in these bursts.
    pub traced: u64,
    /// Untraced neighbours of these bursts.
    pub untraced: u64,
    /// Slowdown of the tokens in which probes were inserted or removed; `None` where fewer than six
    /// bursts have such tokens.
    pub edges: Option<MeasuredEdges>,
}

/// Cost of inserting and removing probes for the tokens around a burst: pauses, and partly traced
/// operators.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredEdges {
    /// Slowdown of such a token: median over the bursts.
    pub slowdown: f64,
    /// Its 95 % interval.
    pub low: f64,
    pub high: f64,
    /// Total additional time of these tokens around one burst: median over the bursts, ns.
    /// Negative: less.
    pub extra_ns: f64,
    /// Number of these tokens.
    pub tokens: u64,
}

impl Slowdown {
    /// The slowdown of a session's decode tokens.
    #[must_use]
    pub fn compute(model: &Model, phases: &Phases, executions: &Executions) -> Self {
        let found = pairs(model, phases);
        if let Some(measured) = measured(&found, |kind| share(model, phases, kind)) {
            return Self::Measured(measured);
        }
        let Some(slowdown) = estimated(model, phases, executions) else { return Self::Unknown };
        let probed = share(model, phases, Traced::Whole) + share(model, phases, Traced::Edge);
        Self::Estimated { slowdown, of_all_tokens: slowdown * probed }
    }
}

fn measured(pairs: &[Pair], share: impl Fn(Traced) -> f64) -> Option<Measured> {
    let mut ratios: Vec<f64> = pairs.iter().map(|p| p.ratio).collect();
    let (ratio, Interval { low, high }) = median(&mut ratios)?;
    let edges = edges(pairs);
    let of_edges = edges.map_or(0.0, |e| e.slowdown * share(Traced::Edge));
    Some(Measured {
        slowdown: ratio - 1.0,
        low: low - 1.0,
        high: high - 1.0,
        of_all_tokens: (ratio - 1.0) * share(Traced::Whole) + of_edges,
        bursts: pairs.len() as u64,
        traced: pairs.iter().map(|p| p.traced).sum(),
        untraced: pairs.iter().map(|p| p.untraced).sum(),
        edges,
    })
}

fn edges(pairs: &[Pair]) -> Option<MeasuredEdges> {
    let edges: Vec<Edges> = pairs.iter().filter_map(|p| p.edges).collect();
    let mut ratios: Vec<f64> = edges.iter().map(|e| e.ratio).collect();
    let mut extra: Vec<f64> = edges.iter().map(|e| e.extra_ns).collect();
    let (ratio, Interval { low, high }) = median(&mut ratios)?;
    let (extra_ns, _) = median(&mut extra)?;
    let tokens = edges.iter().map(|e| e.tokens).sum();
    Some(MeasuredEdges { slowdown: ratio - 1.0, low: low - 1.0, high: high - 1.0, extra_ns, tokens })
}

/// Rows of the successful decode calls.
fn decode_calls<'a>(model: &'a Model, phases: &'a Phases) -> impl Iterator<Item = usize> + 'a {
    let d = &model.llama_calls;
    (0..d.len()).filter(|i| phases.llama_calls[*i] == Phase::Decode && d.status[*i] == 0)
}

/// Share of the decode tokens with this kind of tracing.
fn share(model: &Model, phases: &Phases, kind: Traced) -> f64 {
    let (mut such, mut all) = (0_u64, 0_u64);
    for i in decode_calls(model, phases) {
        all += 1;
        such += u64::from(phases.tracing.llama_calls[i] == kind);
    }
    such as f64 / all.max(1) as f64
}

fn estimated(model: &Model, phases: &Phases, executions: &Executions) -> Option<f64> {
    let cost = model.health.probe_cost?;
    let traced = decode_calls(model, phases).filter(|i| phases.tracing.llama_calls[*i] == Traced::Whole);
    let time = traced.fold(0_u64, |sum, i| sum.saturating_add(model.llama_calls.duration_ns[i]));
    let operators = executions
        .by_call()
        .filter(|(call, _)| phases.graph_calls[call.0 as usize] == Phase::Decode)
        .map(|(_, rows)| rows.len() as u64)
        .sum::<u64>();
    let probes = cost.pair_ns.saturating_mul(operators);
    (probes > 0 && probes < time).then(|| probes as f64 / (time - probes) as f64)
}
