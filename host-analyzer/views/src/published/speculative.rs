//! `speculative`: drafts and their verification.

use super::Publish;
use profinfer_analysis::speculative;

fields! {
    speculative::Speculative => Speculative {
        pid, draft, target, rounds, open_rounds, drafted, accepted, emitted, accepted_share,
        emitted_per_round, positions, verified, draft_token_ns, replay_ns, copies_ns,
        plain, draft_ratio, break_even_per_round, wins, tokens_per_s, plain_tokens_per_s,
    }
    speculative::Position => DraftPosition { position, drafted, accepted, accepted_share }
    speculative::Verified => Verified { drafted, rounds, median_ns, verify_ratio }
    speculative::Plain => Plain { ns, low_ns, high_ns, calls, by }
}

names! {
    speculative::PlainSource => ToldBy { Calls, Line, Bounds }
}
