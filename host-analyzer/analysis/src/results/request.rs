//! Requests: a prompt and the tokens generated from it.
//!
//! Stage: analysis, part of the token level. From: successful `llama_decode` calls. To: one
//! [`Request`] per prompt. Where batches have sequences, requests are those of [`super::server`].
//! Elsewhere only the calls show where a prompt ends and the next begins, see `Open::goes_on_with`.

use super::server::{Begin, Server, SlotRequest};
use crate::shared::group::context_name;
use crate::shared::phase::{Phase, Phases, Role};
use crate::shared::rate::per_s;
use profinfer_trace::model::{Model, ThreadId, TopologyId};

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
    /// Prompt tokens that were already in the cache, where batches have sequences; `None` where
    /// unknown.
    pub reused: Option<u32>,
    /// Row of its first call in `llama_calls`.
    pub first_call: u32,
    /// Tokens of its prefill calls.
    pub prompt_tokens: u64,
    /// Time to first token, ns: start of the first prefill call to the end of the last; `None`
    /// without a prefill call. Excludes tokenising before and sampling after.
    pub ttft_ns: Option<u64>,
    /// Generated tokens: one per decode call; for a call of several sequences, its tokens; for a
    /// call that verifies a draft, the accepted tokens and one more, or one where unknown.
    pub generated: u64,
    /// Time per output token, ns: mean time from the end of one call to the end of the next
    /// generating call, per token of that call, so it includes sampling. `None` when no such call
    /// follows another call.
    pub tpot_ns: Option<u64>,
    pub decode_tokens_per_s: Option<f64>,
}

/// A request whose calls are still being read.
struct Open {
    pid: u32,
    context: u64,
    first_call: usize,
    prompt_tokens: u64,
    prefill: Option<(u64, u64)>,
    /// Tokens and first graph of the last prefill call, until another call follows.
    last_prefill: Option<(u32, Option<TopologyId>)>,
    generated: u64,
    /// End of the first and of the last generating call, ns.
    decode_ends: Option<(u64, u64)>,
    /// Tokens of the first generating call.
    first_generated: u64,
}

impl Open {
    fn new(pid: u32, context: u64, first_call: usize) -> Self {
        Self {
            pid,
            context,
            first_call,
            prompt_tokens: 0,
            prefill: None,
            last_prefill: None,
            generated: 0,
            decode_ends: None,
            first_generated: 0,
        }
    }

    /// Whether a prefill call continues the prompt of the prefill call directly before it.
    ///
    /// The engine evaluates a long prompt in equal parts and a rest, so a later part never has more
    /// tokens. A later part also attends to the cells that the one before filled, so its graph
    /// differs. A prefill call with more tokens, or with the identical graph, begins a new prompt.
    /// This distinguishes warm-up calls and the repetitions of a benchmark from parts of one
    /// prompt.
    fn goes_on_with(&self, n_tokens: u32, topology: Option<TopologyId>) -> bool {
        self.last_prefill.is_some_and(|(last_n, last_topology)| {
            n_tokens <= last_n && (topology.is_none() || topology != last_topology)
        })
    }

    fn prefill(&mut self, n_tokens: u32, topology: Option<TopologyId>, start: u64, end: u64) {
        self.prompt_tokens += u64::from(n_tokens);
        self.prefill = Some((self.prefill.map_or(start, |p| p.0), end));
        self.last_prefill = Some((n_tokens, topology));
    }

    fn decode(&mut self, end: u64, tokens: u64) {
        if self.decode_ends.is_none() {
            self.first_generated = tokens;
        }
        self.generated = self.generated.saturating_add(tokens);
        self.decode_ends = Some((self.decode_ends.map_or(end, |d| d.0), end));
        self.last_prefill = None;
    }

    fn close(self, index: usize) -> Request {
        // From the end of the prompt; without a prompt, from the end of the first decode call.
        let (from, tokens) = match (self.prefill, self.decode_ends) {
            (Some((_, end)), _) => (end, self.generated),
            (None, Some((first, _))) => (first, self.generated.saturating_sub(self.first_generated)),
            (None, None) => (0, 0),
        };
        let passed = self.decode_ends.map_or(0, |(_, last)| last.saturating_sub(from));
        Request {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            context: context_name(self.context),
            slot: None,
            reused: None,
            first_call: u32::try_from(self.first_call).unwrap_or(u32::MAX),
            prompt_tokens: self.prompt_tokens,
            ttft_ns: self.prefill.map(|(start, end)| end.saturating_sub(start)),
            generated: self.generated,
            tpot_ns: (tokens > 0).then(|| passed.saturating_add(tokens / 2) / tokens),
            decode_tokens_per_s: if tokens > 0 { per_s(tokens, passed) } else { None },
        }
    }
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
        generated: r.output_tokens.unwrap_or(0).saturating_sub(first),
        tpot_ns: r.tpot_ns,
        decode_tokens_per_s: r.tpot_ns.and_then(|ns| per_s(1, ns)),
    }
}

/// The requests of a session, by start. `emitted` has one entry per row of `llama_calls`: tokens
/// accepted by a call that verified a draft.
pub(super) fn requests(
    model: &Model,
    phases: &Phases,
    emitted: &[Option<u32>],
    server: &Server,
) -> Vec<Request> {
    let d = &model.llama_calls;
    let topologies = first_topologies(model);
    let mut done = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    // The context of the last call of each thread. Another context in between ends a prompt.
    let mut last_on: Vec<Option<u64>> = vec![None; model.threads.len()];
    let known = |i: usize| server.context(pid(model, d.thread[i]), d.context[i]).is_some();
    for i in (0..d.len()).filter(|i| d.status[*i] == 0 && !known(*i)) {
        let phase = phases.llama_calls[i];
        // A draft works for the request of its target.
        if matches!(phase, Phase::WarmUp | Phase::Draft) {
            continue;
        }
        let between = last_on[d.thread[i].0 as usize].replace(d.context[i]) != Some(d.context[i]);
        if phase == Phase::Unknown {
            continue;
        }
        let request = current(&mut open, pid(model, d.thread[i]), d.context[i], i);
        let end = d.start_ns[i].saturating_add(d.duration_ns[i]);
        if phase.generates() {
            let tokens = match (phases.roles[i], emitted[i]) {
                (Role::Verify, emitted) => emitted.unwrap_or(1),
                _ => d.n_tokens[i],
            };
            request.decode(end, u64::from(tokens));
            continue;
        }
        let fresh = request.prefill.is_none() && request.generated == 0;
        if !fresh && (between || !request.goes_on_with(d.n_tokens[i], topologies[i])) {
            let next = Open::new(request.pid, request.context, i);
            done.push(std::mem::replace(request, next));
        }
        request.prefill(d.n_tokens[i], topologies[i], d.start_ns[i], end);
    }
    done.extend(open);
    done.sort_by_key(|r| r.first_call);
    let mut all: Vec<Request> = done.into_iter().enumerate().map(|(i, r)| r.close(i)).collect();
    all.extend(server.requests.iter().map(|r| of_slot(r, server.is_shared(r))));
    all.sort_by_key(|r| (r.first_call, r.slot));
    for (index, request) in (0..).zip(&mut all) {
        request.index = index;
    }
    all
}

/// The current request of a context. Few contexts are open at a time.
fn current(open: &mut Vec<Open>, pid: u32, context: u64, call: usize) -> &mut Open {
    let at = open.iter().position(|r| r.pid == pid && r.context == context).unwrap_or_else(|| {
        open.push(Open::new(pid, context, call));
        open.len() - 1
    });
    &mut open[at]
}

fn pid(model: &Model, thread: ThreadId) -> u32 {
    model.threads.get(thread).pid
}

/// The topology of the first graph in each `llama_decode` call, where the agent read it.
fn first_topologies(model: &Model) -> Vec<Option<TopologyId>> {
    let calls = &model.graph_calls;
    let mut first = vec![None; model.llama_calls.len()];
    for i in 0..calls.len() {
        if let (Some(decode), Some(topology)) = (calls.decode[i], calls.topology[i]) {
            first[decode.0 as usize].get_or_insert(topology);
        }
    }
    first
}
