//! One request of a slot.

/// What the beginning of a request was told by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// Tokens of a prompt: several, or without an output, or at the first position.
    Prompt,
    /// One token with an output, at a position that the sequence had already: a prompt that was in the cache but for its last token. An
    /// engine that shifts its context, because it is full, looks the same.
    Back,
    /// It was answering when it was seen first: what came before is not known.
    Unseen,
}

/// A prompt in a slot, and what came out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotRequest {
    /// Position among the requests, from 0.
    pub index: u32,
    /// Process.
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Number of the sequence.
    pub slot: i32,
    /// Row of its first token call.
    pub first_call: u32,
    /// Start of that call, ns from the start of the session.
    pub start_ns: u64,
    /// End of its last call, ns from the start of the session.
    pub end_ns: u64,
    /// What its beginning was told by.
    pub begin: Begin,
    /// Tokens of its prompt that the cache held already: the position of the first token that was computed. `None` where the beginning was
    /// not seen.
    pub reused: Option<u32>,
    /// Tokens of its prompt that were computed; `None` where not all were seen.
    pub prompt_tokens: Option<u64>,
    /// Calls that computed them.
    pub prompt_calls: u64,
    /// From the start of the first call with its tokens to the end of the call with its first output, ns; `None` where either was not seen.
    pub ttft_ns: Option<u64>,
    /// Of that, the time in which no call had tokens of this request, ns: other slots, and the server itself.
    pub waited_ns: Option<u64>,
    /// Tokens that came out, by positions: one of the prompt's last call, one of each call behind, and of a verified draft those that were
    /// accepted. Of a draft in the last call that is not known: one is counted.
    pub output_tokens: Option<u64>,
    /// Time from the end of one call with an output to the end of the next, ns for each token of it; `None` of one output.
    pub tpot_ns: Option<u64>,
}
