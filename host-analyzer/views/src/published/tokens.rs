//! `tokens`: the token level.

use super::Publish;
use crate::words;
use profinfer_analysis::{steps, token};
use profinfer_schema as schema;
use profinfer_trace::model;

fields! {
    token::Token => Tokens {
        prefill, decode, batch_decode, draft, warm_up, encode, failed_calls, steps, context_shifts, requests,
        requests_unknown, calls,
    }
    token::PhaseTotals => PhaseTotals {
        calls, tokens, time_ns, tokens_per_s, median_ns, p95_ns, graph_ns, op_wall_ns, traced_calls,
        traced_time_ns, phase_by_token_count,
    }
    token::Call => Call {
        id, phase, phase_by, function, context, thread, start_ns, duration_ns, n_tokens, logits,
        n_past, n_kv, graph_ns, op_wall_ns, traced, status,
    }
}

impl Publish for steps::Step {
    type Form = schema::Step;

    fn publish(&self) -> Self::Form {
        let Self { pid, context, sequences, calls, median_ns } = self;
        schema::Step {
            pid: *pid,
            context: context.publish(),
            sequences: *sequences,
            calls: *calls,
            median_ns: *median_ns,
            token_ns: self.token_ns(),
        }
    }
}

impl Publish for steps::ContextShifts {
    type Form = schema::ContextShifts;

    fn publish(&self) -> Self::Form {
        let Self { pid, context, shifts, graph_ns, median_ns, other_median_ns } = self;
        schema::ContextShifts {
            pid: *pid,
            context: context.publish(),
            shifts: *shifts,
            graph_ns: *graph_ns,
            median_ns: *median_ns,
            other_median_ns: *other_median_ns,
            sentence: words::tokens::context_shifts(self),
        }
    }
}

names! {
    model::Traced => Traced { Whole, Untraced, Edge }
}
