//! Slowdown of tokens by operator capture: measured where untraced tokens are next to traced ones,
//! otherwise estimated.

use std::collections::HashSet;

use super::pairs::{Edges, Pair, pairs};
use crate::ladder::{Ladder, StepKind};
use crate::replay::Replay;
use crate::shared::phase::{Phase, Phases};
use crate::stats::estimate::{Interval, median};
use profinfer_trace::model::{Model, Traced};

/// How much longer a decode call takes because its operators are captured.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Slowdown {
    /// From traced and untraced tokens of the same recording.
    Measured(Measured),
    /// From the step of the probes in the ladder of decode tokens.
    Estimated {
        /// `p / (t - p)`, where t is the time of traced tokens and p that of the probes in them, by the
        /// agent's measurement. Excludes the CPU time that the agent takes from the engine, and the effect
        /// of the probes on its caches.
        slowdown: f64,
        /// The same of all decode tokens.
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
    /// The slowdown of a session's decode tokens; `decode` is their ladder.
    #[must_use]
    pub fn compute(model: &Model, phases: &Phases, replay: &Replay, decode: Option<&Ladder>) -> Self {
        let found = pairs(model, phases);
        if let Some(measured) = measured(&found, |kind| share(model, phases, kind)) {
            return Self::Measured(measured);
        }
        decode.map_or(Self::Unknown, |ladder| estimated(replay, ladder))
    }

    /// The part of a traced token that the probes take, and that of all tokens, 0 to 1; `None` where the
    /// slowdown is no estimate.
    #[must_use]
    pub fn estimated_shares(&self) -> Option<(f64, f64)> {
        let share = |slowdown: f64| slowdown / (1.0 + slowdown);
        match *self {
            Self::Estimated { slowdown, of_all_tokens } => Some((share(slowdown), share(of_all_tokens))),
            Self::Measured(_) | Self::Unknown => None,
        }
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

fn estimated(replay: &Replay, ladder: &Ladder) -> Slowdown {
    let own: HashSet<_> = ladder.calls.iter().collect();
    let traced = replay.calls.iter().filter(|c| c.traced && own.contains(&c.call));
    let (probes, time) = traced.fold((0_u64, 0_u64), |(probes, time), c| {
        (probes.saturating_add(c.usual.probes), time.saturating_add(c.time_ns))
    });
    let all = u64::try_from(ladder.sum(|kind| kind == StepKind::Probes)).unwrap_or(0);
    let slowdown = |probes: u64, time: u64| {
        (probes > 0 && probes < time).then(|| probes as f64 / (time - probes) as f64)
    };
    match slowdown(probes, time).zip(slowdown(all, ladder.measured_ns)) {
        Some((slowdown, of_all_tokens)) => Slowdown::Estimated { slowdown, of_all_tokens },
        None => Slowdown::Unknown,
    }
}
