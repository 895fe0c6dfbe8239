//! `server`: requests by slot.

use super::Publish;
use profinfer_analysis::server;

fields! {
    server::Server => Server { contexts, requests } - { single }
    server::ServerContext => ServerContext {
        pid, context, spreads, slots, batches, branches,
    } + { calls_not_whole => incomplete_calls }
    server::Slot => Slot { slot, spreads }
    server::Spreads => Spreads {
        requests, ttft_ns, tpot_ns, waited_ns, prompt_tokens, reused, output_tokens, cost_ns,
    }
    server::Spread => Spread { n, p50, p90, p99 }
    server::Batches => Batches {
        sequences, calls, mixed_calls, time_ns, prompt_tokens, answer_tokens,
    }
    server::SlotRequest => SlotRequest {
        index, pid, context, slot, first_call, start_ns, end_ns, begin, reused, prompt_tokens,
        prompt_calls, reads, ttft_ns, encode_ns, waited_ns, output_tokens, cost_ns, tpot_ns,
    }
}

names! {
    server::Begin => Begin { Prompt, Back, Copied, Unseen }
}
