//! Requests of a server, distinguished by slot.
//!
//! Stage: analysis, part of the token level. From: the parts of the batches, with sequences and
//! positions. To: [`Server`]. Promises: a slot of llama-server is a sequence of its context, and
//! its figures come from calls that had its tokens. Batches without sequences give requests by their
//! positions; none where several sequences may share them, or where positions are unknown too.
//! What came before the first batch of a request (queueing, tokenising) is not visible, and in no
//! figure.

mod batch;
mod implied;
mod request;
mod slot;
mod spread;

use std::collections::{BTreeMap, BTreeSet};

use crate::shared::branches::root;
use crate::shared::edit::Edits;
use crate::shared::group::context_name;
use crate::shared::outer::OuterGraphs;
use crate::shared::phase::logits::computed;
use crate::shared::phase::{Phase, Phases};
use crate::shared::shift::shifts;
pub use batch::Batches;
use profinfer_trace::model::{DecodeFunction, LlamaCallId, Model};
pub use request::{Begin, SlotRequest};
use slot::{Call, Slots};
pub use spread::{Spread, Spreads};

/// Requests by slot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Server {
    /// Contexts whose batches have sequences, by process and address.
    pub contexts: Vec<ServerContext>,
    /// Requests, by start.
    pub requests: Vec<SlotRequest>,
    /// Requests of contexts whose batches show no sequences, so that they have a single one; by start.
    pub single: Vec<SlotRequest>,
}

/// One context, and its sequences.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerContext {
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Over its requests.
    pub spreads: Spreads,
    /// The same for each slot.
    pub slots: Vec<Slot>,
    /// Composition of the batches, by number of sequences.
    pub batches: Vec<Batches>,
    /// Calls whose batches were not completely recorded; requests in them lack figures.
    pub calls_not_whole: u64,
    /// Its sequences are branches of one text (lookahead), and one request.
    pub branches: bool,
}

/// One sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// Number of the sequence, which is that of the slot in llama-server.
    pub slot: i32,
    /// Over its requests.
    pub spreads: Spreads,
}

impl Server {
    /// Whether several sequences share the calls of a request's context.
    pub(crate) fn is_shared(&self, request: &SlotRequest) -> bool {
        let of = |c: &&ServerContext| c.pid == request.pid && c.context == request.context;
        self.contexts.iter().find(of).is_some_and(|c| c.slots.len() > 1)
    }

    /// All requests, with and without slots.
    pub(crate) fn all(&self) -> impl Iterator<Item = &SlotRequest> {
        self.requests.iter().chain(&self.single)
    }

    #[must_use]
    pub fn compute(model: &Model, phases: &Phases) -> Self {
        let mut contexts: BTreeMap<(u32, u64), Slots> = BTreeMap::new();
        let d = &model.llama_calls;
        let shifts = shifts(model);
        let implied = implied::parts(model, phases);
        let logits = computed(model);
        let outer = OuterGraphs::compute(model);
        let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
        let edits = Edits::compute(model);
        // The engine warms up each context before its first prompt.
        let mut from_start: BTreeSet<(u32, u64)> = BTreeSet::new();
        for i in (0..d.len()).filter(|i| d.status[*i] == 0) {
            // A draft works for the requests of its target, and its positions go back in every
            // round.
            let key = (model.threads.get(d.thread[i]).pid, d.context[i]);
            if phases.llama_calls[i] == Phase::WarmUp {
                from_start.insert(key);
            }
            if matches!(phases.llama_calls[i], Phase::WarmUp | Phase::Draft) {
                continue;
            }
            let end_ns = d.start_ns[i].saturating_add(d.duration_ns[i]);
            // An encoder may run before the first call: for an image at the beginning of a prompt.
            let before = ends.insert(key.0, end_ns).unwrap_or(0);
            let graphs = || outer.within(key.0, before, d.start_ns[i]);
            let since_start = |ns: u64| ns.saturating_sub(model.session.start_ns);
            let Ok(row) = u32::try_from(i) else { break };
            let rows = model.parts.of(LlamaCallId(row));
            let root = root(&model.parts, rows.clone());
            let call = Call {
                row,
                start_ns: since_start(d.start_ns[i]),
                duration_ns: d.duration_ns[i],
                n_tokens: d.n_tokens[i],
                encode_from_ns: graphs().next().map(|(start, _)| since_start(start)),
                encode_ns: graphs().map(|(start, end)| end.saturating_sub(start)).sum(),
                draft_reads_ns: phases.draft_reads[i].last().map_or(0, |read| {
                    d.start_ns[*read].saturating_add(d.duration_ns[*read]).saturating_sub(end_ns)
                }),
                encodes: d.function[i] == DecodeFunction::LlamaEncode,
                logits: logits[i],
                shifted: shifts[i],
                lists_sequences: model.parts.has_sequences(i),
                cells: phases.contexts[i].n_kv,
                untaken: edits.untaken(i),
                single: rows.len() <= 1 || root.is_some(),
                root,
                edits: &edits,
            };
            let slots = contexts.entry(key).or_default();
            slots.from_start = from_start.contains(&key);
            match implied[i] {
                Some(part) => slots.implied(&call, part),
                None => slots.call(&call, &model.parts, rows),
            }
            edits.copies(i).for_each(|copy| slots.copy(copy));
        }
        let mut server = Self::default();
        for ((pid, context), slots) in contexts {
            let context = context_name(context);
            let (has_sequences, branches) = (slots.has_sequences(), slots.branches());
            let (requests, batches, calls_not_whole) = slots.close(pid, context.as_ref());
            if !has_sequences {
                server.single.extend(requests);
                continue;
            }
            let mut of_slot: BTreeMap<i32, Vec<&SlotRequest>> = BTreeMap::new();
            for request in &requests {
                of_slot.entry(request.slot).or_default().push(request);
            }
            let slots =
                of_slot.iter().map(|(slot, of)| Slot { slot: *slot, spreads: Spreads::new(of) }).collect();
            let spreads = Spreads::new(&requests.iter().collect::<Vec<_>>());
            server.contexts.push(ServerContext {
                pid,
                context,
                spreads,
                slots,
                batches,
                calls_not_whole,
                branches,
            });
            server.requests.extend(requests);
        }
        for requests in [&mut server.requests, &mut server.single] {
            requests.sort_by_key(|r| (r.start_ns, r.first_call, r.slot));
            for (index, request) in (0..).zip(requests) {
                request.index = index;
            }
        }
        server
    }
}
