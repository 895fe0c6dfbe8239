//! Token level: calls, requests, TTFT and TPOT.
//!
//! Stage: analysis. From: `llama_decode` calls, graph calls, executions. To: [`Token`]. Promises:
//! in every call of a complete recording, operator wall time ≤ graph time ≤ call time. Failed calls
//! are listed, but no figure counts them.

use super::request::{Request, requests};
use super::server::Server;
use super::steps::{self, ContextShifts, Step};
use crate::shared::execution::Executions;
use crate::shared::group::context_name;
use crate::shared::phase::{Evidence, Phase, Phases};
use crate::shared::rate::per_s;
use crate::stats::percentile::percentile;
use profinfer_trace::model::{Model, Traced};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Token {
    /// Calls that read prompts.
    pub prefill: PhaseTotals,
    /// Calls with one token.
    pub decode: PhaseTotals,
    /// Calls that continue several sequences, or verify a draft.
    pub batch_decode: PhaseTotals,
    /// Calls of draft models.
    pub draft: PhaseTotals,
    /// Trial calls of the engine.
    pub warm_up: PhaseTotals,
    /// Graphs without tokens, of programs without a token level.
    pub encode: PhaseTotals,
    /// Calls that did not return success.
    pub failed_calls: u64,
    /// Calls that generate text, by context and number of sequences.
    pub steps: Vec<Step>,
    /// By context.
    pub context_shifts: Vec<ContextShifts>,
    /// By start.
    pub requests: Vec<Request>,
    /// Calls read prompts or generated, but neither their batches nor their graphs show whose tokens they had.
    pub requests_unknown: bool,
    /// By start.
    pub calls: Vec<Call>,
}

/// The successful calls of one phase.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PhaseTotals {
    pub calls: u64,
    /// Tokens in their batches.
    pub tokens: u64,
    /// Sum of their durations, ns.
    pub time_ns: u64,
    /// Tokens divided by that time; `None` without calls.
    pub tokens_per_s: Option<f64>,
    /// Median duration of a call, ns.
    pub median_ns: Option<u64>,
    /// 95th percentile of the duration of a call, ns.
    pub p95_ns: Option<u64>,
    /// Time in graph calls, ns; `None` when none was recorded inside.
    pub graph_ns: Option<u64>,
    /// Operator wall time, summed over executions of the traced calls, ns; `None` when none was
    /// recorded inside.
    pub op_wall_ns: Option<u64>,
    /// Completely traced calls.
    pub traced_calls: u64,
    /// Sum of the durations of the completely traced calls, ns: the base of `op_wall_ns`.
    pub traced_time_ns: u64,
    /// Calls whose phase follows from the number of tokens alone.
    pub phase_by_token_count: u64,
}

/// One `llama_decode` call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Row in `llama_calls`, from 0.
    pub id: u32,
    pub phase: Phase,
    /// What determined the phase.
    pub phase_by: Evidence,
    pub function: &'static str,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Thread id of the kernel.
    pub thread: u32,
    /// Entry, ns from the start of the session.
    pub start_ns: u64,
    /// ns.
    pub duration_ns: u64,
    /// Tokens in the batch; `None` when unknown.
    pub n_tokens: Option<u32>,
    /// Tokens with logits; `None` when unknown.
    pub logits: Option<u64>,
    /// Position of the batch's first token: the number of earlier tokens of its sequence. `None` when
    /// unknown.
    pub n_past: Option<u32>,
    /// Cells of the KV cache that the last graph's attention covers, padding included; `None` when
    /// unknown.
    pub n_kv: Option<u64>,
    /// Time in graph calls, ns; `None` when none was recorded inside.
    pub graph_ns: Option<u64>,
    /// Operator wall time, summed over executions, ns; `None` when none was recorded inside, or the
    /// call was not completely traced.
    pub op_wall_ns: Option<u64>,
    /// Whether its operators were captured.
    pub traced: Traced,
    /// Return value; 0 is success.
    pub status: i32,
}

impl Token {
    #[must_use]
    pub fn compute(model: &Model, phases: &Phases, executions: &Executions, server: &Server) -> Self {
        let calls = calls(model, phases, executions);
        let requests = requests(server);
        let of_text = |c: &Call| c.status == 0 && (c.phase == Phase::Prefill || c.phase.generates());
        Self {
            prefill: totals(&calls, Phase::Prefill),
            decode: totals(&calls, Phase::Decode),
            batch_decode: totals(&calls, Phase::BatchDecode),
            draft: totals(&calls, Phase::Draft),
            warm_up: totals(&calls, Phase::WarmUp),
            encode: totals(&calls, Phase::Encode),
            failed_calls: calls.iter().filter(|c| c.status != 0).map(|_| 1).sum(),
            steps: steps::steps(model, phases),
            context_shifts: steps::context_shifts(model, phases),
            requests_unknown: requests.is_empty() && calls.iter().any(of_text),
            requests,
            calls,
        }
    }
}

fn calls(model: &Model, phases: &Phases, executions: &Executions) -> Vec<Call> {
    let d = &model.llama_calls;
    let graph_ns = graph_ns(model);
    let contexts = &phases.contexts;
    let op_wall_ns = op_wall_ns(model, executions);
    (0..d.len())
        .map(|i| Call {
            id: u32::try_from(i).unwrap_or(u32::MAX),
            phase: phases.llama_calls[i],
            phase_by: phases.evidence[i],
            function: d.function[i].name(),
            context: context_name(d.context[i]),
            thread: model.threads.get(d.thread[i]).tid,
            start_ns: d.start_ns[i].saturating_sub(model.session.start_ns),
            duration_ns: d.duration_ns[i],
            n_tokens: (d.n_tokens[i] != 0).then_some(d.n_tokens[i]),
            logits: phases.logits[i],
            n_past: contexts[i].n_past,
            n_kv: contexts[i].n_kv,
            graph_ns: graph_ns[i],
            op_wall_ns: op_wall_ns[i],
            traced: phases.tracing.llama_calls[i],
            status: d.status[i],
        })
        .collect()
}

/// Time in the outermost graph calls of each `llama_decode` call, ns.
fn graph_ns(model: &Model) -> Vec<Option<u64>> {
    let calls = &model.graph_calls;
    let mut sums = vec![None; model.llama_calls.len()];
    for i in 0..calls.len() {
        if let (Some(decode), None) = (calls.decode[i], calls.parent[i]) {
            add(&mut sums[decode.0 as usize], calls.duration_ns[i]);
        }
    }
    sums
}

fn op_wall_ns(model: &Model, executions: &Executions) -> Vec<Option<u64>> {
    let mut sums = vec![None; model.llama_calls.len()];
    for (call, rows) in executions.by_call() {
        if let Some(decode) = model.graph_calls.decode[call.0 as usize] {
            let wall = executions.wall_ns[rows].iter().fold(0_u64, |sum, w| sum.saturating_add(*w));
            add(&mut sums[decode.0 as usize], wall);
        }
    }
    sums
}

fn add(sum: &mut Option<u64>, ns: u64) {
    *sum = Some(sum.unwrap_or(0).saturating_add(ns));
}

fn totals(calls: &[Call], phase: Phase) -> PhaseTotals {
    let calls = || calls.iter().filter(|c| c.phase == phase && c.status == 0);
    let traced = || calls().filter(|c| c.traced == Traced::Whole);
    let mut lengths: Vec<u64> = calls().map(|c| c.duration_ns).collect();
    let tokens = calls().filter_map(|c| c.n_tokens).map(u64::from).sum();
    let time_ns = lengths.iter().fold(0_u64, |sum, l| sum.saturating_add(*l));
    PhaseTotals {
        calls: lengths.len() as u64,
        tokens,
        time_ns,
        tokens_per_s: per_s(tokens, time_ns),
        median_ns: percentile(&mut lengths, 50),
        p95_ns: percentile(&mut lengths, 95),
        graph_ns: sum(calls().filter_map(|c| c.graph_ns)),
        op_wall_ns: sum(traced().filter_map(|c| c.op_wall_ns)),
        traced_calls: traced().map(|_| 1).sum(),
        traced_time_ns: sum(traced().map(|c| c.duration_ns)).unwrap_or(0),
        phase_by_token_count: calls().filter(|c| c.phase_by == Evidence::Tokens).map(|_| 1).sum(),
    }
}

/// Sum of times; `None` for no times.
fn sum(times: impl Iterator<Item = u64>) -> Option<u64> {
    times.reduce(u64::saturating_add)
}
