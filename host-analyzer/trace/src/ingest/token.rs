//! Decode calls, by start.

use std::collections::HashMap;

use profinfer_wire::record::token::{Decode, function};

use super::graph::Calls;
use crate::model::{DecodeFunction, LlamaCallId, LlamaCalls, ThreadId};

/// Calls in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Tokens(Vec<(Decode, ThreadId)>);

impl Tokens {
    pub(super) fn add(&mut self, record: Decode, thread: ThreadId) {
        self.0.push((record, thread));
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Fills the table. Returns the ids by the numbers that graph calls refer to. If graph calls
    /// may be missing (`calls_lost`), their tokens are not summed, because the sum would be wrong.
    pub(super) fn finish(
        mut self,
        calls: &Calls,
        calls_lost: bool,
        out: &mut LlamaCalls,
    ) -> HashMap<u32, LlamaCallId> {
        self.0.sort_by_key(|(r, _)| (r.start_ns, r.id));
        let in_graphs = if calls_lost { HashMap::new() } else { calls.tokens_by_decode() };
        let mut ids = HashMap::with_capacity(self.0.len());
        for ((r, thread), id) in self.0.into_iter().zip((0..).map(LlamaCallId)) {
            ids.insert(r.id, id);
            out.start_ns.push(r.start_ns);
            out.duration_ns.push(r.duration_ns);
            out.function.push(match r.function {
                function::LLAMA_DECODE => DecodeFunction::LlamaDecode,
                function::LLAMA_PROCESS => DecodeFunction::LlamaProcess,
                function::LLAMA_ENCODE => DecodeFunction::LlamaEncode,
                _ => DecodeFunction::Unknown,
            });
            out.thread.push(thread);
            out.context.push(r.context);
            let seen = in_graphs.get(&r.id).copied().filter(|n| *n > 0);
            out.n_tokens.push(seen.or(r.n_tokens).unwrap_or(0));
            out.status.push(r.status);
        }
        ids
    }
}
