//! What capturing operators cost the tokens: measured where untraced tokens stand beside traced ones, else estimated.

use super::pairs::{Edges, Pair, pairs};
use crate::shared::execution::Executions;
use crate::shared::phase::{Phase, Phases};
use crate::stats::estimate::{Interval, median};
use profinfer_trace::model::{Model, Traced};

/// How much longer a decode call takes because its operators are captured.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Slowdown {
    /// Traced tokens beside untraced ones of the same recording.
    Measured(Measured),
    /// Operators times what the agent measured of their probes.
    Estimated {
        /// `p / (t - p)`, where t is the time of traced decode calls and p the pairs of probes in them. The threads pass the probes
        /// of an operator side by side, so an operator counts once. Without what the agent takes from the engine's CPUs, and what
        /// the probes do to its caches.
        slowdown: f64,
    },
    /// Neither: no decode tokens, no operators, or too few bursts and no measured probe.
    #[default]
    Unknown,
}

/// A measured slowdown; 0.01 is 1 %, negative is faster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Of a traced token: the median over the bursts.
    pub slowdown: f64,
    /// Its interval of 95 %: it holds whatever the distribution of the bursts' ratios is, as long as they do not depend on each other.
    pub low: f64,
    /// High end.
    pub high: f64,
    /// The same of all decode tokens: the median times the part of them that is traced, and that of the edges times theirs.
    pub of_all_tokens: f64,
    /// Bursts that had untraced neighbours on both sides.
    pub bursts: u64,
    /// Traced tokens in them.
    pub traced: u64,
    /// Their untraced neighbours.
    pub untraced: u64,
    /// Of the tokens in which probes were put in or taken out; `None` where there are none around six bursts.
    pub edges: Option<MeasuredEdges>,
}

/// What putting probes in and taking them out costs the tokens around a burst: pauses, and operators that were traced in part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredEdges {
    /// Of such a token: the median over the bursts.
    pub slowdown: f64,
    /// Its interval of 95 %.
    pub low: f64,
    /// High end.
    pub high: f64,
    /// Time that they take longer around one burst, in all: the median over the bursts, ns. Negative: less.
    pub extra_ns: f64,
    /// Such tokens.
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
        estimated(model, phases, executions).map_or(Self::Unknown, |slowdown| Self::Estimated { slowdown })
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

/// Part of the decode tokens that was traced so.
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
