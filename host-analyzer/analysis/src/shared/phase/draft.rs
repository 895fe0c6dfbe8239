//! Speculative decoding with two contexts: which one drafts, which one verifies.
//!
//! A round is one or several calls of the draft, each output of which gives at most one draft token, and
//! then one call of the target. The target's call has, of each sequence, the last accepted token and the
//! draft tokens, all with logits. A draft that guesses a block of tokens has several outputs in one call.
//!
//! Two unrelated models also take turns, but do not verify: their calls after the other's have one
//! token, or logits for the last token only.

use std::collections::HashMap;

use crate::shared::context::Context;
use crate::shared::share::shares;
use profinfer_trace::model::{DecodeFunction, Layer, Model};

/// A draft and its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pair {
    pub pid: u32,
    /// Address of the drafting context.
    pub draft: u64,
    /// Address of the verifying context.
    pub target: u64,
}

/// Role of a call in speculative decoding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    None,
    /// A call of the draft.
    Draft,
    /// A call of the target that has draft tokens.
    Verify,
}

/// Fewest rounds that make two contexts a pair.
const MIN_ROUNDS: u64 = 2;

/// Observations of two contexts.
#[derive(Default)]
struct Seen {
    /// Calls of one context directly after calls of the other.
    turns: u64,
    /// Those that look like verification.
    rounds: u64,
}

/// Consecutive calls of one context.
#[derive(Default)]
struct Run {
    context: u64,
    calls: u32,
    /// Outputs of these calls, of which each can be a draft token; one per call where unknown.
    outputs: u64,
}

/// The pairs of a session, and the role of each `llama_decode` call.
pub(super) fn pairs(
    model: &Model,
    contexts: &[Context],
    logits: &[Option<u64>],
    warm_ups: &[bool],
) -> (Vec<Pair>, Vec<Role>) {
    let d = &model.llama_calls;
    let pid = |i: usize| model.threads.get(d.thread[i]).pid;
    let mut runs: HashMap<u32, Run> = HashMap::new();
    let mut seen: HashMap<Pair, Seen> = HashMap::new();
    let mut verified = vec![None; d.len()];
    for i in (0..d.len()).filter(|i| d.status[*i] == 0 && !warm_ups[*i]) {
        let run = runs.entry(pid(i)).or_default();
        let outputs = logits[i].unwrap_or(1);
        if run.context == d.context[i] {
            run.calls += 1;
            run.outputs = run.outputs.saturating_add(outputs);
            continue;
        }
        let before = std::mem::replace(run, Run { context: d.context[i], calls: 1, outputs });
        let shares = shares(model, i, contexts[i].n_past, logits[i]);
        let guesses = shares.iter().filter(|s| s.may_verify()).map(|s| u64::from(s.n) - 1).sum::<u64>();
        // At position 0 there is no draft token to verify.
        if before.calls == 0 || guesses == 0 && contexts[i].n_past == Some(0) {
            continue;
        }
        let pair = Pair { pid: pid(i), draft: before.context, target: d.context[i] };
        let verifies = guesses > 0 && guesses <= before.outputs;
        let seen = seen.entry(pair).or_default();
        seen.turns += 1;
        seen.rounds += u64::from(verifies);
        verified[i] = verifies.then_some(pair);
    }
    let sizes = sizes(model);
    let size = |pair: &Pair, context| sizes.get(&(pair.pid, context)).copied().unwrap_or(0);
    let mut pairs: Vec<Pair> = seen
        .into_iter()
        .filter(|(_, s)| s.rounds >= MIN_ROUNDS && s.rounds * 2 >= s.turns)
        .map(|(pair, _)| pair)
        .filter(|p| size(p, p.target) >= size(p, p.draft))
        .collect();
    pairs.sort_by_key(|p| (p.pid, p.target, p.draft));
    let role = |i: usize| {
        let is_draft = pairs.iter().any(|p| p.pid == pid(i) && p.draft == d.context[i]);
        match verified[i] {
            _ if warm_ups[i] => Role::None,
            _ if is_draft => Role::Draft,
            Some(pair) if pairs.contains(&pair) => Role::Verify,
            _ => Role::None,
        }
    };
    let roles = (0..d.len()).map(role).collect();
    (pairs, roles)
}

/// By row of `llama_calls`: the calls by which the draft reads the same batch right after, before the engine
/// takes a token from it. They have as many tokens and not as many outputs, or no
/// output, or go to the draft's encoder.
pub(super) fn reads(
    model: &Model,
    pairs: &[Pair],
    roles: &[Role],
    logits: &[Option<u64>],
) -> Vec<Vec<usize>> {
    let d = &model.llama_calls;
    let pid = |i: usize| model.threads.get(d.thread[i]).pid;
    let mut found = vec![Vec::new(); d.len()];
    // The last call of a target, until its draft guesses.
    let mut read: HashMap<u32, usize> = HashMap::new();
    for i in (0..d.len()).filter(|i| d.status[*i] == 0) {
        if roles[i] != Role::Draft {
            read.insert(pid(i), i);
            continue;
        }
        let Some(target) = read.get(&pid(i)).copied() else { continue };
        let pair = Pair { pid: pid(i), draft: d.context[i], target: d.context[target] };
        let n = d.n_tokens[i];
        let guesses_all = n < 2 || logits[i] == Some(u64::from(n));
        let reads = d.function[i] == DecodeFunction::LlamaEncode
            || logits[i] == Some(0)
            || n == d.n_tokens[target] && !guesses_all;
        if reads && pairs.contains(&pair) {
            found[target].push(i);
        } else {
            read.remove(&pid(i));
        }
    }
    found
}

/// Largest number of graph nodes of each context: a draft has fewer layers than its target.
fn sizes(model: &Model) -> HashMap<(u32, u64), u32> {
    let calls = &model.graph_calls;
    let mut sizes: HashMap<(u32, u64), u32> = HashMap::new();
    for i in (0..calls.len()).filter(|i| calls.layer[*i] == Layer::Backend) {
        let Some(decode) = calls.decode[i] else { continue };
        let d = decode.0 as usize;
        let key = (model.threads.get(model.llama_calls.thread[d]).pid, model.llama_calls.context[d]);
        let size = sizes.entry(key).or_default();
        *size = (*size).max(calls.n_nodes[i]);
    }
    sizes
}
