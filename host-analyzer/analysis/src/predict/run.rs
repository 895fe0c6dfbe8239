//! Data of one recording for predictions: the structure of its model, and the time of every node of
//! a token.

use std::collections::{BTreeMap, BTreeSet};

use super::node::{self, Measured};
use super::shape::Shape;
use crate::Analysis;
use crate::replay::{CallReplay, Replay};
use crate::shared::phase::{Phase, Phases};
use crate::stats::percentile::percentile;
use profinfer_trace::model::{
    CeilingKind, Ends, GaugeKind, Layer, LlamaCallId, Model, Role, TopologyId, Traced,
};

/// One recording.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// Board profile; empty when none was named.
    pub board: String,
    pub cpu_model: String,
    /// CPUs online.
    pub cpus: u16,
    /// Mean of each clock while tokens were generated, Hz, by name.
    pub clocks: Vec<(String, f64)>,
    /// Largest available memory in the session, bytes: the space for a model.
    pub memory_bytes: Option<u64>,
    /// Backends that computed its tokens.
    pub backends: Vec<String>,
    /// Largest number of threads that computed an operator.
    pub threads: u32,
    /// Its operators were recorded with both probes, and none was excluded.
    pub whole: bool,
    /// Its weights: name and dimensions.
    pub weights: BTreeMap<String, [u64; 4]>,
    /// Widths of its model.
    pub shape: Shape,
    /// Mean number of cells that a token attended to.
    pub cells: u64,
    /// Its decode tokens.
    pub decode: Measured,
    /// Its prompts, of the most frequent size.
    pub prefill: Option<Measured>,
    /// From the end of a decode call to the start of the next, ns: the application's time per
    /// token.
    pub gap_ns: f64,
    /// Read ceiling for this number of threads, bytes per second.
    pub read_per_s: Option<u64>,
    /// Ceiling of 8-bit integer products for this number of threads, operations per second.
    pub int8_per_s: Option<u64>,
}

/// Fewest tokens of a prompt for a prediction. With fewer, weights are read as in decode.
const FEWEST_TOKENS: u32 = 16;

impl Run {
    /// Extracts the run of a recording.
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        let phases = Phases::compute(model);
        let analysis = Analysis::without_budget(model, &phases);
        let replay = &analysis.replay;
        let calls = main_calls(model, replay);
        let weights = weights(model, &calls);
        let decode: Vec<&CallReplay> = calls.iter().copied().filter(|c| c.phase == Phase::Decode).collect();
        let captured: Vec<&CallReplay> = decode.iter().copied().filter(|c| c.traced).collect();
        let tracing = |c: &CallReplay| phases.tracing.llama_calls[c.call.0 as usize];
        let untraced: Vec<&CallReplay> =
            decode.iter().copied().filter(|c| tracing(c) == Traced::Untraced).collect();
        let prompts = most_frequent(model, prompts(model, replay, &calls, &weights));
        let frequencies = analysis.gauge.iter().filter(|g| g.kind == GaugeKind::Frequency.name());
        let mut run = Self {
            board: model.session.board.clone(),
            cpu_model: model.session.cpu_model.clone(),
            cpus: model.session.cpus,
            clocks: frequencies.filter_map(|g| Some((g.name.clone(), g.decode.or(g.whole)?.mean))).collect(),
            memory_bytes: analysis.conditions.system.memory_available_bytes.value().map(|c| c.max),
            backends: backends(model, &captured),
            threads: analysis.roof.phase(Phase::Decode).threads,
            whole: model.capture.ends == Ends::Both && !model.capture.nodes_left_out(),
            shape: Shape::of(weights.iter().map(|(name, ne)| (name.as_str(), *ne))),
            weights,
            cells: cells(&phases, &captured),
            decode: node::measured(model, replay, &captured, &untraced),
            prefill: Some(node::measured(model, replay, &prompts, &[])).filter(|p| !p.nodes.is_empty()),
            gap_ns: gap_ns(&decode),
            ..Self::default()
        };
        let reads = Some(run.streamed_bytes() as u64).filter(|bytes| *bytes > 0);
        let top = |kind| analysis.ceiling.on(kind, run.threads as usize, &[], reads).map(|f| f.value);
        (run.read_per_s, run.int8_per_s) = (top(CeilingKind::Read), top(CeilingKind::Int8));
        run
    }

    /// Bytes that a token reads: weights and cache.
    #[must_use]
    pub fn streamed_bytes(&self) -> f64 {
        self.decode.nodes.iter().map(|n| n.weight_bytes + n.cache_bytes).sum()
    }
}

/// Process and context of a call.
fn owner(model: &Model, c: &CallReplay) -> (u32, u64) {
    let call = c.call.0 as usize;
    (model.threads.get(model.llama_calls.thread[call]).pid, model.llama_calls.context[call])
}

/// The calls of the context that decodes most.
fn main_calls<'a>(model: &Model, replay: &'a Replay) -> Vec<&'a CallReplay> {
    let mut counts: BTreeMap<(u32, u64), usize> = BTreeMap::new();
    for c in replay.phase(Phase::Decode) {
        *counts.entry(owner(model, c)).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(owner, n)| (*n, std::cmp::Reverse(*owner)));
    let main = most.map(|(owner, _)| owner);
    replay.calls.iter().filter(|c| Some(owner(model, c)) == main).collect()
}

/// The captured prompts of all contexts of the same process with the same weights: some programs
/// use a separate context for prompts.
fn prompts<'a>(
    model: &Model,
    replay: &'a Replay,
    calls: &[&CallReplay],
    weights: &BTreeMap<String, [u64; 4]>,
) -> Vec<&'a CallReplay> {
    let pid = calls.first().map(|c| owner(model, c).0);
    let mut contexts: BTreeMap<u64, Vec<&CallReplay>> = BTreeMap::new();
    for c in replay.calls.iter().filter(|c| Some(owner(model, c).0) == pid) {
        contexts.entry(owner(model, c).1).or_default().push(c);
    }
    let ours = contexts.into_values().filter(|calls| self::weights(model, calls) == *weights).flatten();
    let long = |c: &&CallReplay| model.llama_calls.n_tokens[c.call.0 as usize] >= FEWEST_TOKENS;
    ours.filter(|c| c.phase == Phase::Prefill && c.traced).filter(long).collect()
}

/// The calls with the most frequent number of tokens; if equal, the largest.
fn most_frequent<'a>(model: &Model, calls: Vec<&'a CallReplay>) -> Vec<&'a CallReplay> {
    let tokens = |c: &CallReplay| model.llama_calls.n_tokens[c.call.0 as usize];
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for c in &calls {
        *counts.entry(tokens(c)).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(tokens, n)| (*n, *tokens)).map(|(tokens, _)| tokens);
    calls.into_iter().filter(|c| Some(tokens(c)) == most).collect()
}

fn weights(model: &Model, calls: &[&CallReplay]) -> BTreeMap<String, [u64; 4]> {
    let own: BTreeSet<LlamaCallId> = calls.iter().map(|c| c.call).collect();
    let graphs = &model.graph_calls;
    let of = |i: usize| graphs.decode[i].filter(|call| own.contains(call)).and(graphs.topology[i]);
    let seen: BTreeSet<TopologyId> = (0..graphs.len()).filter_map(of).collect();
    let nodes = seen.into_iter().flat_map(|id| &model.topologies.get(id).nodes);
    let weights = nodes.filter(|n| n.role == Role::Weight);
    weights.map(|n| (model.texts.get(n.name).to_owned(), n.ne)).collect()
}

/// Mean number of cells that a token attends to: those before it and itself. Where positions are
/// unknown, the cells of the graph.
fn cells(phases: &Phases, calls: &[&CallReplay]) -> u64 {
    let contexts = calls.iter().map(|c| &phases.contexts[c.call.0 as usize]);
    let cells: Vec<u64> = contexts.filter_map(|c| c.n_past.map(|n| u64::from(n) + 1).or(c.n_kv)).collect();
    cells.iter().sum::<u64>() / cells.len().max(1) as u64
}

/// Median of the application's times before decode calls.
fn gap_ns(calls: &[&CallReplay]) -> f64 {
    let mut gaps: Vec<u64> = calls.iter().skip(1).map(|c| c.application_ns).collect();
    percentile(&mut gaps, 50).unwrap_or(0) as f64
}

/// Backends of the calls.
fn backends(model: &Model, calls: &[&CallReplay]) -> Vec<String> {
    let own: BTreeSet<LlamaCallId> = calls.iter().map(|c| c.call).collect();
    let graphs = &model.graph_calls;
    let of_one = |i: &usize| graphs.decode[*i].is_some_and(|call| own.contains(&call));
    let computed = (0..graphs.len()).filter(|i| graphs.layer[*i] == Layer::Backend).filter(of_one);
    let names: BTreeSet<&str> = computed.map(|i| model.texts.get(graphs.backend[i])).collect();
    names.into_iter().map(str::to_owned).collect()
}
