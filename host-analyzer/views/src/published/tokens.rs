//! `tokens`: the token level.

use super::Publish;
use profinfer_analysis::token;
use profinfer_trace::model;

fields! {
    token::Token => Tokens {
        prefill, decode, batch_decode, draft, warm_up, encode, failed_calls, requests, calls,
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

names! {
    model::Traced => Traced { Whole, Untraced, Edge }
}
