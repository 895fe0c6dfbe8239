//! Texts that are only read: embeddings, reranking, perplexity.

use crate::Analysis;
use crate::results::server::SlotRequest;
use crate::shared::phase::Phase;
use crate::shared::rate::per_s;
use crate::stats::percentile::percentile;
use profinfer_trace::model::Model;

/// The texts of a process that generates nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Texts {
    pub texts: u64,
    /// How often they were read: more than `texts` for a diffusion model, which reads a text in each step.
    pub reads: u64,
    /// Tokens that were read.
    pub tokens: u64,
    /// Calls that read them.
    pub calls: u64,
    /// Tokens per second of these calls.
    pub tokens_per_s: Option<f64>,
    /// Texts per second of these calls.
    pub texts_per_s: Option<f64>,
    /// Median time from the start of a text's first call to the end of its last, ns.
    pub median_ns: Option<u64>,
}

impl Texts {
    /// `None` if the process generates, or if its sequences are unknown.
    pub(super) fn compute(model: &Model, analysis: &Analysis, pid: u32) -> Option<Self> {
        let own = || analysis.server.all().filter(|r| r.pid == pid);
        if own().next().is_none() || !own().all(is_read) {
            return None;
        }
        let calls = &model.llama_calls;
        let of_process = |i: &usize| {
            // A later part of a text that is scored has an output for each token.
            let reads = matches!(analysis.phases.llama_calls[*i], Phase::Prefill | Phase::BatchDecode);
            reads && calls.status[*i] == 0 && model.threads.get(calls.thread[*i]).pid == pid
        };
        let rows: Vec<usize> = (0..calls.len()).filter(of_process).collect();
        let time_ns = rows.iter().map(|i| calls.duration_ns[*i]).fold(0, u64::saturating_add);
        let mut times: Vec<u64> = own().map(|r| r.end_ns.saturating_sub(r.start_ns)).collect();
        let texts = times.len() as u64;
        let tokens = rows.iter().map(|i| u64::from(calls.n_tokens[*i])).sum();
        Some(Self {
            texts,
            reads: own().map(|r| r.reads).sum(),
            tokens,
            calls: rows.len() as u64,
            tokens_per_s: per_s(tokens, time_ns),
            texts_per_s: per_s(texts, time_ns),
            median_ns: percentile(&mut times, 50),
        })
    }
}

/// Its tokens have outputs, and no answer follows.
fn is_read(request: &SlotRequest) -> bool {
    request.output_tokens == Some(0)
}
