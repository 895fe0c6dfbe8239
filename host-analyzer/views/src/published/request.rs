//! `tokens.requests`: a prompt and its answer.

use super::Publish;
use profinfer_analysis::request;

fields! {
    request::Request => Request {
        index, context, slot, reused, first_call, prompt_tokens, ttft_ns, encode_ns, generated, tpot_ns,
        decode_tokens_per_s,
    }
}
