//! Rates of a board: cost of each kind of node, from the nodes of all recordings together.

use std::collections::{BTreeMap, BTreeSet};

use super::fit::{Line, Point};
use super::node::{Measured, Node};
use super::run::Run;

/// Kind of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// One token: limited by what it reads.
    Decode,
    /// A prompt: limited by what it computes.
    Prefill,
}

/// A kind of node: operator, and for products with weights their type.
pub(super) type Kind = (String, String);

/// The costs of one stage.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rates {
    /// By kind.
    pub(super) lines: BTreeMap<Kind, Line>,
    /// Between two nodes, ns.
    pub between_ns: f64,
}

/// The weight of a recording falls by a factor of e for each factor of four between the bytes that
/// its tokens and the target's tokens read. A model that fits into a cache is read faster than one
/// that does not.
const FACTOR: f64 = 4.0;

/// Least weight of a recording.
const LEAST: f64 = 0.02;

/// Weight of a recording for a model that reads this many bytes.
#[must_use]
pub fn nearness(run: &Run, streamed_bytes: f64) -> f64 {
    let distance = (streamed_bytes.max(1.0) / run.streamed_bytes().max(1.0)).ln().abs();
    (-distance / FACTOR.ln()).exp().max(LEAST)
}

impl Stage {
    /// The calls of a recording.
    #[must_use]
    pub fn of(self, run: &Run) -> Option<&Measured> {
        match self {
            Self::Decode => Some(&run.decode).filter(|d| !d.nodes.is_empty()),
            Self::Prefill => run.prefill.as_ref(),
        }
    }

    /// What a node's time grows with. In decode: the weights or the cache that it reads. In
    /// prompts: the operations of products and of attention. For all others: the bytes that they
    /// move.
    #[must_use]
    pub fn work(self, node: &Node) -> f64 {
        match self {
            Self::Prefill if node.matrix.is_some() || node.cache_bytes > 0.0 => node.operations,
            _ if node.matrix.is_some() => node.weight_bytes,
            _ if node.cache_bytes > 0.0 => node.cache_bytes,
            _ => node.bytes,
        }
    }
}

pub(super) fn kind(node: &Node) -> Kind {
    (node.op.clone(), node.matrix.as_ref().map_or_else(String::new, |(_, dtype)| dtype.clone()))
}

impl Rates {
    /// The costs that recordings show, for a model that reads this many bytes.
    #[must_use]
    pub fn compute(runs: &[&Run], stage: Stage, streamed_bytes: f64) -> Self {
        let mut points: BTreeMap<Kind, Vec<Point>> = BTreeMap::new();
        let mut attention: BTreeSet<Kind> = BTreeSet::new();
        let (mut between, mut weights) = (0.0, 0.0);
        for run in runs {
            let Some(measured) = stage.of(run) else { continue };
            let weight = nearness(run, streamed_bytes);
            between += weight * measured.between_ns;
            weights += weight;
            for node in &measured.nodes {
                let y = if node.matrix.is_some() { node.outputs } else { 0.0 };
                let point = Point { x: stage.work(node), y, ns: node.ns, weight };
                points.entry(kind(node)).or_default().push(point);
                if node.cache_bytes > 0.0 {
                    attention.insert(kind(node));
                }
            }
        }
        // Nodes of about one size do not determine their fixed time. Products use that of other
        // products. Small operators of a token are dispatch as much as work, so it is half of their
        // time. Attention and prompts grow with their work.
        let lines = |fixed: f64| -> BTreeMap<Kind, Line> {
            let of = |(kind, points): (&Kind, &Vec<Point>)| {
                let fixed = match stage {
                    _ if !kind.1.is_empty() => fixed,
                    Stage::Decode if !attention.contains(kind) => f64::MAX,
                    Stage::Decode | Stage::Prefill => 0.0,
                };
                Some((kind.clone(), Line::through(points, fixed)?))
            };
            points.iter().filter_map(of).collect()
        };
        let first = lines(0.0);
        let products = first.iter().filter(|((_, dtype), line)| !dtype.is_empty() && line.fixed_ns > 0.0);
        let mut fixed: Vec<u64> = products.map(|(_, line)| line.fixed_ns as u64).collect();
        let fixed = crate::stats::percentile::percentile(&mut fixed, 50).unwrap_or(0);
        Self { lines: lines(fixed as f64), between_ns: if weights > 0.0 { between / weights } else { 0.0 } }
    }
}
