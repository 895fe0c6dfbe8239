//! Calls that generate text by the number of their sequences, and context shifts.
//!
//! Stage: analysis, part of the token level. From: `llama_decode` calls, the parts of their batches, graphs. To:
//! [`Step`] and [`ContextShifts`] per context. Promises: a step gives each of its sequences one token and does
//! nothing else, so prompts and verified guesses are in none.

use std::collections::BTreeMap;

use crate::shared::group::context_name;
use crate::shared::phase::{Phase, Phases, one_each};
use crate::shared::shift::shift_graphs;
use crate::stats::percentile::percentile;
use profinfer_trace::model::Model;

/// Calls with the same number of sequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Sequences that get a token from each call.
    pub sequences: u32,
    pub calls: u64,
    /// Median duration of a call, ns.
    pub median_ns: u64,
}

impl Step {
    /// Median duration of a call per token, ns.
    #[must_use]
    pub const fn token_ns(&self) -> u64 {
        self.median_ns / if self.sequences == 0 { 1 } else { self.sequences as u64 }
    }
}

/// Context shifts: the engine dropped cells of a full context, and a graph rotated the keys of the others to
/// their new positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextShifts {
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    pub shifts: u64,
    /// Time of these graphs, ns.
    pub graph_ns: u64,
    /// Median duration of a call with a shift, ns.
    pub median_ns: u64,
    /// Median duration of the context's other calls that generate text, ns; `None` without any.
    pub other_median_ns: Option<u64>,
}

/// A process and the address of a context in it.
type Context = (u32, u64);

fn context(model: &Model, call: usize) -> Context {
    let calls = &model.llama_calls;
    (model.threads.get(calls.thread[call]).pid, calls.context[call])
}

/// By context and number of sequences.
#[must_use]
pub(super) fn steps(model: &Model, phases: &Phases) -> Vec<Step> {
    let calls = &model.llama_calls;
    let mut times: BTreeMap<(Context, u32), Vec<u64>> = BTreeMap::new();
    for i in (0..calls.len()).filter(|i| calls.status[*i] == 0 && !phases.replays[*i]) {
        let sequences = match phases.llama_calls[i] {
            Phase::Decode => 1,
            Phase::BatchDecode if model.parts.has_sequences(i) && one_each(model, i) => calls.n_tokens[i],
            _ => continue,
        };
        times.entry((context(model, i), sequences)).or_default().push(calls.duration_ns[i]);
    }
    let step = |(((pid, context), sequences), mut ns): ((Context, u32), Vec<u64>)| {
        let (calls, median_ns) = (ns.len() as u64, percentile(&mut ns, 50)?);
        Some(Step { pid, context: context_name(context), sequences, calls, median_ns })
    };
    times.into_iter().filter_map(step).collect()
}

/// By context.
#[must_use]
pub(super) fn context_shifts(model: &Model, phases: &Phases) -> Vec<ContextShifts> {
    let calls = &model.llama_calls;
    let graphs = shift_graphs(model);
    let mut found: BTreeMap<Context, (u64, Vec<u64>, Vec<u64>)> = BTreeMap::new();
    for i in (0..calls.len()).filter(|i| calls.status[*i] == 0 && phases.llama_calls[*i] != Phase::WarmUp) {
        let (graph_ns, with, others) = found.entry(context(model, i)).or_default();
        match graphs[i] {
            Some(graph) => {
                *graph_ns = graph_ns.saturating_add(model.graph_calls.duration_ns[graph.0 as usize]);
                with.push(calls.duration_ns[i]);
            }
            None if phases.llama_calls[i].generates() => others.push(calls.duration_ns[i]),
            None => {}
        }
    }
    let row = |((pid, context), (graph_ns, mut with, mut others)): (Context, (u64, Vec<u64>, Vec<u64>))| {
        Some(ContextShifts {
            pid,
            context: context_name(context),
            shifts: with.len() as u64,
            graph_ns,
            median_ns: percentile(&mut with, 50)?,
            other_median_ns: percentile(&mut others, 50),
        })
    };
    found.into_iter().filter_map(row).collect()
}
