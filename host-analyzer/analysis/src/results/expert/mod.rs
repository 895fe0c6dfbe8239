//! Experts: which experts the routers of a mixture-of-experts model select, how evenly, how soon
//! again, and the bytes that this reads.
//!
//! Stage: analysis. From: routers' selections, topologies, phases. To: one [`Routing`] per phase
//! and context. Promises: every figure covers complete selections (all experts of all tokens of one
//! layer in one graph call). The others are counted in `left_out`. A model without routers has no
//! routing.

mod by_layer;
mod layer;
mod pin;
mod reuse;
mod site;

use std::collections::HashMap;
use std::ops::Range;

use crate::shared::group::context_name;
use crate::shared::phase::{Phase, Phases};
pub use by_layer::{ByLayer, NotOneModel, by_layer};
use layer::Layer;
pub use pin::Pin;
use profinfer_trace::model::totals::Gap;
use profinfer_trace::model::{DamageKind, GraphCallId, Model, NodeIdx, Text, TopologyId};
pub use reuse::Reuse;
use site::{Site, sites};

/// The routers of one context in one phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Routing {
    pub phase: Phase,
    pub pid: u32,
    /// Address of the context in hex; `None` for graphs outside of `llama_decode` calls.
    pub context: Option<String>,
    /// All layers: sums. Figures per batch are sums of the layers' means, and `balance` is the
    /// mean.
    pub whole: Figures,
    /// Layer by layer.
    pub layers: Vec<RoutedLayer>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RoutedLayer {
    /// Layer number, where the names have one.
    pub layer: Option<u32>,
    /// Name of the first `MUL_MAT_ID` that uses the selection.
    pub name: String,
    /// Name of the weights of that operator.
    pub weights: String,
    /// Experts per token, in the latest batch.
    pub n_used: u32,
    /// Bytes of the weights of one expert, over all `MUL_MAT_ID`s that use the selection; `None`
    /// when unknown.
    pub expert_bytes: Option<u64>,
    /// Uses by expert number: one for each token and rank.
    pub expert_uses: Vec<u64>,
    pub figures: Figures,
}

/// Figures of a layer, or of all. A batch is one graph call; in decode it is one token.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Batches with a complete selection. For all layers, this and the next three are sums over the
    /// layers.
    pub batches: u64,
    /// Tokens in these batches.
    pub tokens: u64,
    /// Incomplete selections; in no figure.
    pub left_out: u64,
    /// Selections of all experts for every token, which is how an engine may warm up; in no figure.
    pub all_used: u64,
    /// Uses of experts: one for each token and rank.
    pub uses: u64,
    /// Number of experts.
    pub n_expert: u64,
    /// Experts that were never used.
    pub never_used: u64,
    /// Mean number of different experts per batch.
    pub distinct_per_batch: Option<f64>,
    /// Mean bytes of the weights of these experts; `None` when unknown.
    pub bytes_per_batch: Option<f64>,
    /// Evenness of use, from 0 (one expert) to 1 (all equally): entropy of the uses divided by the
    /// largest possible.
    pub balance: Option<f64>,
    /// Reuse from token to token, in decode only; `None` when calls may be missing in between.
    pub reuse: Option<Reuse>,
    /// Benefit if the most used experts had been kept in memory.
    pub pins: Vec<Pin>,
}

/// A context in a phase, and a layer in it. The first reader's name distinguishes layers with the
/// same weights; the number of experts distinguishes two models at the same address.
type GroupKey = (Phase, u32, u64);
type LayerKey = (GroupKey, Text, Text, u32);

/// The routers of a session, by phase, then in order of appearance.
#[must_use]
pub fn routings(model: &Model, phases: &Phases) -> Vec<Routing> {
    if model.experts.is_empty() {
        return Vec::new();
    }
    let layers = layers(model, phases);
    let whole = calls_are_whole(model);
    let mut groups: Vec<(GroupKey, Vec<&Layer<'_>>)> = Vec::new();
    for (key, layer) in &layers {
        match groups.iter_mut().find(|(k, _)| k == key) {
            Some((_, of)) => of.push(layer),
            None => groups.push((*key, vec![layer])),
        }
    }
    groups.sort_by_key(|((phase, ..), _)| *phase);
    groups.into_iter().map(|(key, of)| routing(model, key, of, whole)).collect()
}

fn routing(
    model: &Model,
    (phase, pid, context): GroupKey,
    mut of: Vec<&Layer<'_>>,
    calls_whole: bool,
) -> Routing {
    of.sort_by_key(|l| (l.site.layer.is_none(), l.site.layer, l.site.node()));
    let reuse = calls_whole && phase == Phase::Decode;
    let layers: Vec<RoutedLayer> = of.iter().map(|l| routed(model, l, reuse)).collect();
    let whole = whole(&layers, &of, reuse);
    Routing { phase, pid, context: context_name(context), whole, layers }
}

/// The layers, in order of appearance.
fn layers<'a>(model: &'a Model, phases: &Phases) -> Vec<(GroupKey, Layer<'a>)> {
    let sites = sites(model);
    let decode_calls = decode_calls(model, phases);
    let calls = &model.graph_calls;
    let mut ids: HashMap<LayerKey, usize> = HashMap::new();
    let mut layers: Vec<(GroupKey, Layer<'_>)> = Vec::new();
    for (call, node, rows) in tables(model) {
        let at = call.0 as usize;
        let Some((topology, site)) = calls.topology[at].and_then(|s| Some((s, site_of(&sites, s, node)?)))
        else {
            continue;
        };
        let context = calls.decode[at].map_or(0, |d| model.llama_calls.context[d.0 as usize]);
        let group = (phases.graph_calls[at], model.topologies.get(topology).pid, context);
        let key = (group, site.name, site.weights, site.selection.n_expert);
        let id = *ids.entry(key).or_insert_with(|| {
            layers.push((group, Layer::new(site)));
            layers.len() - 1
        });
        let layer = &mut layers[id].1;
        if rows.len() as u64 == site.selection.len() {
            let decode_call = calls.decode[at].and_then(|d| decode_calls[d.0 as usize]);
            layer.batch(site, &model.experts.expert[rows], decode_call);
        } else {
            layer.left_out += 1;
        }
    }
    layers
}

fn site_of(sites: &[Vec<Site>], topology: TopologyId, node: NodeIdx) -> Option<&Site> {
    let of = &sites[topology.0 as usize];
    of.binary_search_by_key(&node, Site::node).ok().map(|i| &of[i])
}

/// The layer number of every selection's first node, as far as names have one.
#[must_use]
pub fn layers_of(model: &Model) -> HashMap<(TopologyId, NodeIdx), u32> {
    let sites = sites(model);
    let of_topology = |(id, of): (TopologyId, &Vec<Site>)| {
        of.iter().filter_map(|site| Some(((id, site.node()), site.layer?))).collect::<Vec<_>>()
    };
    (0..).map(TopologyId).zip(&sites).flat_map(of_topology).collect()
}

/// The rows of each selection: those of one node in one call.
fn tables(model: &Model) -> impl Iterator<Item = (GraphCallId, NodeIdx, Range<usize>)> + '_ {
    let e = &model.experts;
    let mut first = 0;
    std::iter::from_fn(move || {
        let (call, node) = (*e.graph_call.get(first)?, e.node[first]);
        let same = |i: &usize| e.graph_call[*i] == call && e.node[*i] == node;
        let start = first;
        first += (start..e.len()).take_while(same).count();
        Some((call, node, start..first))
    })
}

/// Position of every decode call among those of its context, from 0. Calls that failed before they
/// computed anything do not count.
fn decode_calls(model: &Model, phases: &Phases) -> Vec<Option<u64>> {
    let d = &model.llama_calls;
    let mut computed = vec![false; d.len()];
    model.graph_calls.decode.iter().flatten().for_each(|d| computed[d.0 as usize] = true);
    let mut next: HashMap<(u32, u64), u64> = HashMap::new();
    (0..d.len())
        .map(|i| {
            if phases.llama_calls[i] != Phase::Decode || (d.status[i] != 0 && !computed[i]) {
                return None;
            }
            let n = next.entry((model.threads.get(d.thread[i]).pid, d.context[i])).or_default();
            *n += 1;
            Some(*n - 1)
        })
        .collect()
}

/// No call can be missing between two others, so the previous token is really the previous one.
fn calls_are_whole(model: &Model) -> bool {
    let lost = |k: DamageKind| matches!(k, DamageKind::Gap | DamageKind::Malformed | DamageKind::UnknownKind);
    !model.health.damage.iter().any(|d| lost(d.kind))
        && model.health.ledger.is_some_and(|l| l.lost_between(Gap::Calls) == 0)
}

fn routed(model: &Model, layer: &Layer<'_>, reuse: bool) -> RoutedLayer {
    RoutedLayer {
        layer: layer.site.layer,
        name: model.texts.get(layer.site.name).to_owned(),
        weights: model.texts.get(layer.site.weights).to_owned(),
        n_used: layer.site.selection.n_used,
        expert_bytes: layer.site.selection.expert_bytes,
        expert_uses: layer.uses.clone(),
        figures: layer.figures(reuse),
    }
}

fn whole(layers: &[RoutedLayer], of: &[&Layer<'_>], reuse: bool) -> Figures {
    // A layer without complete selections shows nothing about the others.
    let with: Vec<&Figures> = layers.iter().map(|l| &l.figures).filter(|f| f.batches > 0).collect();
    let sum = |field: fn(&Figures) -> u64| layers.iter().map(|l| field(&l.figures)).sum();
    // `None` for one layer makes the sum unknown.
    let total = |field: fn(&Figures) -> Option<f64>| {
        (!with.is_empty()).then(|| with.iter().map(|f| field(f)).sum::<Option<f64>>()).flatten()
    };
    let balances: Vec<f64> = with.iter().filter_map(|f| f.balance).collect();
    let stocks: Vec<_> = of.iter().map(|l| l.layer_uses()).collect();
    let mut distances = reuse::Distances::default();
    of.iter().for_each(|l| distances.add(&l.chain.distances));
    Figures {
        batches: sum(|f| f.batches),
        tokens: sum(|f| f.tokens),
        left_out: sum(|f| f.left_out),
        all_used: sum(|f| f.all_used),
        uses: sum(|f| f.uses),
        n_expert: sum(|f| f.n_expert),
        never_used: sum(|f| f.never_used),
        distinct_per_batch: total(|f| f.distinct_per_batch),
        bytes_per_batch: total(|f| f.bytes_per_batch),
        balance: (!balances.is_empty()).then(|| balances.iter().sum::<f64>() / balances.len() as f64),
        reuse: reuse.then(|| distances.finish()),
        pins: pin::pins(&stocks),
    }
}
