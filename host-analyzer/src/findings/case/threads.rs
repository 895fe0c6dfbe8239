//! Which CPUs the decode threads used.

use super::Case;
use crate::analyses::budget::TokenBudget;
use crate::analyses::phase::Phase;
use crate::model::{DecodeId, GraphCallId, ThreadId};

/// A CPU with less than this part of the work is one where somebody passed by.
const PART: f64 = 0.02;

impl Case<'_> {
    /// Spans of traced decode tokens of the process.
    pub(in crate::findings) fn decode_spans(&self) -> impl Iterator<Item = usize> + '_ {
        self.spans_of(&self.traced)
    }

    fn spans_of(&self, tokens: &[&TokenBudget]) -> impl Iterator<Item = usize> + '_ {
        let calls = &self.model.graph_calls;
        let mut is_one = vec![false; self.model.decodes.len()];
        tokens.iter().for_each(|t| is_one[t.call as usize] = true);
        let spans = &self.model.spans;
        let of = move |call: GraphCallId| {
            calls.decode[call.0 as usize].is_some_and(|DecodeId(d)| is_one[d as usize])
        };
        (0..spans.len()).filter(move |i| of(spans.graph_call[*i]))
    }

    /// Threads that compute one graph together, at most, of decode tokens or, with a draft, of what verifies it. Some engines make new
    /// threads for every graph, so all that ever computed are no measure.
    pub(super) fn threads_at_once(&self) -> u64 {
        let spans = &self.model.spans;
        let mut most = 0;
        let verified =
            self.analysis.budget.tokens.iter().filter(|t| t.traced && t.phase == Phase::BatchDecode);
        let rows: Vec<usize> = match self.headline.drafted {
            true => self.spans_of(&verified.collect::<Vec<_>>()).collect(),
            false => self.decode_spans().collect(),
        };
        // The spans of a call are in the order of threads.
        for call in rows.chunk_by(|a, b| spans.graph_call[*a] == spans.graph_call[*b]) {
            most = most.max(call.chunk_by(|a, b| spans.thread[*a] == spans.thread[*b]).count());
        }
        most as u64
    }

    /// The CPUs that did decode tokens' work, and how much of it, ns.
    pub(in crate::findings) fn decode_cpus(&self) -> Vec<(u16, u64)> {
        let spans = &self.model.spans;
        let mut sums: Vec<(u16, u64)> = Vec::new();
        for i in self.decode_spans() {
            let Some(cpu) = spans.cpu[i] else { continue };
            let ns = spans.work_ns[i];
            match sums.iter_mut().find(|(c, _)| *c == cpu) {
                Some((_, sum)) => *sum = sum.saturating_add(ns),
                None => sums.push((cpu, ns)),
            }
        }
        let all: f64 = sums.iter().map(|(_, ns)| *ns as f64).sum();
        sums.retain(|(_, ns)| *ns as f64 >= all * PART);
        sums.sort_unstable();
        sums
    }

    /// The recording tells the CPU of all their operators.
    pub(in crate::findings) fn cpus_are_known(&self) -> bool {
        self.decode_spans().all(|i| self.model.spans.cpu[i].is_some())
    }

    /// How often threads changed their CPU in a decode token.
    pub(in crate::findings) fn moves_per_token(&self) -> f64 {
        let spans = &self.model.spans;
        let mut last: Vec<(ThreadId, u16)> = Vec::new();
        let mut moves = 0_u64;
        let mut burst = None;
        for i in self.decode_spans() {
            let Some(cpu) = spans.cpu[i] else { continue };
            let thread = spans.thread[i];
            // Where a thread was between two bursts is not known.
            let this = self.burst_of(spans.graph_call[i]);
            if this != burst {
                (burst, last) = (this, Vec::new());
            }
            match last.iter_mut().find(|(t, _)| *t == thread) {
                Some((_, at)) => {
                    moves += u64::from(*at != cpu);
                    *at = cpu;
                }
                None => last.push((thread, cpu)),
            }
        }
        moves as f64 / self.traced_tokens()
    }

    fn burst_of(&self, call: GraphCallId) -> Option<u32> {
        let DecodeId(decode) = self.model.graph_calls.decode[call.0 as usize]?;
        self.analysis.phases.tracing.bursts[decode as usize]
    }

    /// Operators that a decode token executes.
    pub(in crate::findings) fn operators_per_token(&self) -> f64 {
        let spans = &self.model.spans;
        let mut last = None;
        let caller =
            |i: usize| spans.thread[i] == self.model.graph_calls.thread[spans.graph_call[i].0 as usize];
        let mut operators = 0_u64;
        for i in self.decode_spans().filter(|i| caller(*i)) {
            let this = Some((spans.graph_call[i], spans.node[i]));
            operators += u64::from(this != last);
            last = this;
        }
        operators as f64 / self.traced_tokens()
    }
}
