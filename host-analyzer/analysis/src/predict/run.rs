//! Data of one recording for predictions: the structure of its model, and the time of every node of
//! a token.

use std::collections::BTreeMap;

use super::node::{self, Measured};
use super::shape::Shape;
use crate::results::ceiling::Ceilings;
use crate::results::fact::Conditions;
use crate::results::gauge::gauges;
use crate::results::work::Works;
use crate::shared::execution::Executions;
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{CeilingKind, Ends, GaugeKind, Layer, LlamaCallId, Model, Role, Traced};

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
        let executions = Executions::compute(model);
        let works = Works::compute(model);
        let calls = main_calls(model, &phases);
        let weights = weights(model, &calls);
        let mut run = Self {
            board: model.session.board.clone(),
            cpu_model: model.session.cpu_model.clone(),
            cpus: model.session.cpus,
            clocks: clocks(model, &phases),
            memory_bytes: Conditions::compute(model, &phases)
                .system
                .memory_available_bytes
                .value()
                .map(|c| c.max),
            whole: model.capture.ends == Ends::Both && !model.capture.nodes_left_out(),
            shape: Shape::of(weights.iter().map(|(name, ne)| (name.as_str(), *ne))),
            gap_ns: gap_ns(model, &phases, &calls),
            weights,
            ..Self::default()
        };
        let of = |traced| middle_half(model, of_phase(model, &phases, &calls, Phase::Decode, traced));
        let untraced = of(Traced::Untraced);
        let chosen = of(Traced::Whole);
        // A token attends to those before it and to itself. Where positions are unknown, use the
        // cells of the graph.
        let cells =
            |i: &usize| phases.contexts[*i].n_past.map(|n| u64::from(n) + 1).or(phases.contexts[*i].n_kv);
        let cells: Vec<u64> = chosen.iter().filter_map(cells).collect();
        run.cells = cells.iter().sum::<u64>() / (cells.len().max(1) as u64);
        (run.backends, run.threads) = computed_by(model, &executions, &chosen);
        run.decode = node::measured(model, &executions, &works, &chosen, &untraced);
        let prompts =
            of_phase(model, &phases, &same_model(model, &calls, &run.weights), Phase::Prefill, Traced::Whole);
        let chosen = middle_half(model, most_frequent(model, prompts));
        run.prefill = (!chosen.is_empty()).then(|| node::measured(model, &executions, &works, &chosen, &[]));
        run.prefill = run.prefill.filter(|p| !p.nodes.is_empty());
        let ceilings = Ceilings::compute(model);
        let reads = Some(run.streamed_bytes() as u64).filter(|bytes| *bytes > 0);
        let top = |kind| ceilings.on(kind, run.threads as usize, &[], reads).map(|f| f.value);
        (run.read_per_s, run.int8_per_s) = (top(CeilingKind::Read), top(CeilingKind::Int8));
        run
    }

    /// Bytes that a token reads: weights and cache.
    #[must_use]
    pub fn streamed_bytes(&self) -> f64 {
        self.decode.nodes.iter().map(|n| n.weight_bytes + n.cache_bytes).sum()
    }
}

/// The successful calls of the context that decodes most.
fn main_calls(model: &Model, phases: &Phases) -> Vec<usize> {
    let d = &model.llama_calls;
    let owner = |i: usize| (model.threads.get(d.thread[i]).pid, d.context[i]);
    let mut counts: BTreeMap<(u32, u64), usize> = BTreeMap::new();
    for i in (0..d.len()).filter(|i| phases.llama_calls[*i] == Phase::Decode) {
        *counts.entry(owner(i)).or_default() += 1;
    }
    let Some((most, _)) = counts.into_iter().max_by_key(|(owner, n)| (*n, std::cmp::Reverse(*owner))) else {
        return Vec::new();
    };
    (0..d.len()).filter(|i| owner(*i) == most && d.status[*i] == 0).collect()
}

/// The successful calls of all contexts of the same process with the same weights: some programs
/// use a separate context for prompts.
fn same_model(model: &Model, calls: &[usize], weights: &BTreeMap<String, [u64; 4]>) -> Vec<usize> {
    let d = &model.llama_calls;
    let pid = |i: usize| model.threads.get(d.thread[i]).pid;
    let ours = |i: &usize| d.status[*i] == 0 && calls.first().is_some_and(|first| pid(*first) == pid(*i));
    let mut contexts: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for i in (0..d.len()).filter(ours) {
        contexts.entry(d.context[i]).or_default().push(i);
    }
    let mut all: Vec<usize> =
        contexts.into_values().filter(|calls| self::weights(model, calls) == *weights).flatten().collect();
    all.sort_unstable();
    all
}

fn of_phase(model: &Model, phases: &Phases, calls: &[usize], phase: Phase, traced: Traced) -> Vec<usize> {
    let fits = |i: &usize| {
        phases.llama_calls[*i] == phase
            && phases.tracing.llama_calls[*i] == traced
            && (phase == Phase::Decode || model.llama_calls.n_tokens[*i] >= FEWEST_TOKENS)
    };
    calls.iter().copied().filter(fits).collect()
}

/// The calls with the most frequent number of tokens; if equal, the largest.
fn most_frequent(model: &Model, calls: Vec<usize>) -> Vec<usize> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for i in &calls {
        *counts.entry(model.llama_calls.n_tokens[*i]).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(tokens, n)| (*n, *tokens)).map(|(tokens, _)| tokens);
    calls.into_iter().filter(|i| Some(model.llama_calls.n_tokens[*i]) == most).collect()
}

/// The middle half: a quarter of the calls is faster, and a quarter is slower.
fn middle_half(model: &Model, mut calls: Vec<usize>) -> Vec<usize> {
    calls.sort_by_key(|i| (model.llama_calls.duration_ns[*i], *i));
    let n = calls.len();
    calls.truncate(n - n / 4);
    calls.drain(..n / 4);
    calls
}

fn weights(model: &Model, calls: &[usize]) -> BTreeMap<String, [u64; 4]> {
    let graphs = &model.graph_calls;
    let mut weights = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    for i in 0..graphs.len() {
        let (Some(LlamaCallId(decode)), Some(topology)) = (graphs.decode[i], graphs.topology[i]) else {
            continue;
        };
        if calls.binary_search(&(decode as usize)).is_err() || !seen.insert(topology) {
            continue;
        }
        for node in model.topologies.get(topology).nodes.iter().filter(|n| n.role == Role::Weight) {
            weights.insert(model.texts.get(node.name).to_owned(), node.ne);
        }
    }
    weights
}

fn clocks(model: &Model, phases: &Phases) -> Vec<(String, f64)> {
    let of = gauges(model, phases).into_iter().filter(|g| g.kind == GaugeKind::Frequency.name());
    of.filter_map(|g| Some((g.name, g.decode.or(g.whole)?.mean))).collect()
}

/// Median of the gaps between consecutive decode calls.
fn gap_ns(model: &Model, phases: &Phases, calls: &[usize]) -> f64 {
    let d = &model.llama_calls;
    let mut gaps: Vec<u64> = calls
        .windows(2)
        .filter(|w| w.iter().all(|i| phases.llama_calls[*i] == Phase::Decode))
        .map(|w| d.start_ns[w[1]].saturating_sub(d.start_ns[w[0]].saturating_add(d.duration_ns[w[0]])))
        .collect();
    crate::stats::percentile::percentile(&mut gaps, 50).unwrap_or(0) as f64
}

/// Backends of the calls, and the largest number of threads of an operator.
fn computed_by(model: &Model, executions: &Executions, calls: &[usize]) -> (Vec<String>, u32) {
    let graphs = &model.graph_calls;
    let (mut backends, mut threads) = (std::collections::BTreeSet::new(), 0);
    let within = |i: usize| graphs.decode[i].is_some_and(|d| calls.contains(&(d.0 as usize)));
    for i in (0..graphs.len()).filter(|i| graphs.layer[*i] == Layer::Backend && within(*i)) {
        backends.insert(model.texts.get(graphs.backend[i]).to_owned());
    }
    for of_call in executions.calls().iter().filter(|c| within(c.call.0 as usize)) {
        threads = of_call.widest.max(threads);
    }
    (backends.into_iter().collect(), threads)
}
