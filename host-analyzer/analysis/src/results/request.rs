//! Requests: a prompt and the tokens generated from it.
//!
//! Stage: analysis, part of the token level. From: requests by sequence ([`super::server`]). To: one
//! [`Request`] per prompt.

use super::server::{Begin, Server, SlotRequest};
use crate::shared::rate::per_s;

/// A prompt and the tokens generated from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Position among the requests, from 0.
    pub index: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Number of its sequence, where several sequences share the calls of its context. `None`
    /// otherwise, or where the batches do not show it.
    pub slot: Option<i32>,
    /// Prompt tokens that were already in the cache; `None` where unknown.
    pub reused: Option<u32>,
    /// Row of its first call in `llama_calls`.
    pub first_call: u32,
    /// Computed tokens of its prompt; 0 where unknown.
    pub prompt_tokens: u64,
    /// Time to first token, ns: from the start of the first call with its prompt, or of an encoder just
    /// before it, to the end of the call with its first output; `None` without one. Excludes tokenising before and sampling after.
    pub ttft_ns: Option<u64>,
    /// Part of `ttft_ns` in which graphs of an encoder of images or sound ran, ns.
    pub encode_ns: u64,
    /// Generated tokens without the one of the prompt's last call; of a call that verifies guesses, the
    /// accepted tokens and one more, or one where unknown.
    pub generated: u64,
    /// Time per output token, ns: mean time from the end of one call with an output to the end of the
    /// next, so it includes sampling. `None` when no such call follows another.
    pub tpot_ns: Option<u64>,
    pub decode_tokens_per_s: Option<f64>,
}

/// A request that was identified by its sequence.
fn of_slot(r: &SlotRequest, shared: bool) -> Request {
    // The prompt's last call gives the first token; no generating call does.
    let first = u64::from(r.begin != Begin::Unseen && r.output_tokens.is_some());
    Request {
        index: 0,
        context: r.context.clone(),
        slot: shared.then_some(r.slot),
        reused: r.reused,
        first_call: r.first_call,
        prompt_tokens: r.prompt_tokens.unwrap_or(0),
        ttft_ns: r.ttft_ns,
        encode_ns: r.encode_ns,
        generated: r.output_tokens.unwrap_or(0).saturating_sub(first),
        tpot_ns: r.tpot_ns,
        decode_tokens_per_s: r.tpot_ns.and_then(|ns| per_s(1, ns)),
    }
}

/// The requests of a session, by start.
#[must_use]
pub(crate) fn requests(server: &Server) -> Vec<Request> {
    let mut all: Vec<Request> = server.all().map(|r| of_slot(r, server.is_shared(r))).collect();
    all.sort_by_key(|r| (r.first_call, r.slot));
    for (index, request) in (0..).zip(&mut all) {
        request.index = index;
    }
    all
}
