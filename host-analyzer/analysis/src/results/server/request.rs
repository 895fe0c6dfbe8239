//! One request of a slot.

/// What showed the beginning of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// Tokens of a prompt: several, or without an output, or at the first position.
    Prompt,
    /// One token with an output, at a position that the sequence already had: a prompt that was
    /// cached except for its last token. An engine that shifts its full context looks the same.
    Back,
    /// The prompt of another sequence was copied after its last call: both answer it, from its output on.
    Copied,
    /// Its first record was part of the answer: earlier calls are unknown.
    Unseen,
}

/// A prompt in a slot, and its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotRequest {
    /// Position among the requests, from 0.
    pub index: u32,
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Number of the sequence.
    pub slot: i32,
    /// Row of its first call in `llama_calls`.
    pub first_call: u32,
    /// Start of that call, ns from the start of the session; of the first call of a copied prompt.
    pub start_ns: u64,
    /// End of its last call, ns from the start of the session.
    pub end_ns: u64,
    /// What showed its beginning.
    pub begin: Begin,
    /// Prompt tokens that were already in the cache: those before the first computed token.
    /// `None` where the beginning was not recorded.
    pub reused: Option<u32>,
    /// Prompt tokens that were computed, so far if it has no output; `None` where not all were
    /// recorded.
    pub prompt_tokens: Option<u64>,
    /// Calls that computed them.
    pub prompt_calls: u64,
    /// How often all of its tokens were read with logits for each: the steps of a diffusion model; else 1.
    pub reads: u64,
    /// From the start of the first call with its tokens, or of an encoder just before it, to the end of the
    /// call with its first output, or until a draft has read that batch, ns; `None` where either was not recorded.
    pub ttft_ns: Option<u64>,
    /// The part of that in which graphs of an encoder of images or sound ran before and between the
    /// calls of its prompt, ns.
    pub encode_ns: u64,
    /// The part of `ttft_ns` in which neither a call had tokens of this request nor an encoder ran, ns:
    /// other slots, and the server itself.
    pub waited_ns: Option<u64>,
    /// Output tokens, by positions: one of the prompt's last call, one of each later call, and the
    /// accepted tokens of a verified draft. The outcome of a draft in the last call is unknown, so
    /// it counts as one. 0 for a text that is only read: several of its tokens have an output, as
    /// for an embedding or a perplexity, and none follows.
    pub output_tokens: Option<u64>,
    /// Its share of the time of its calls: each is divided by the tokens that every sequence has in it, ns.
    /// The shares of all requests sum to the time of the calls in which each token is of one sequence.
    pub cost_ns: u64,
    /// Time from the end of one call with an output to the end of the next, ns per token of that;
    /// `None` for a single output.
    pub tpot_ns: Option<u64>,
}
