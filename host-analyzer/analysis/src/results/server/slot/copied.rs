//! Answers to a prompt that another sequence computed: the engine copies the sequence after the prompt's last call,
//! whose output begins all answers.

use super::super::request::Begin;
use super::open::{LONGEST_DRAFT, Open};
use super::{Call, SequencePart};

/// A prompt whose output begins several answers.
pub(super) struct Prompt {
    start_ns: u64,
    /// First position after it.
    next: i64,
    /// End of the call with its output, ns.
    answered_ns: u64,
    /// See [`Open`].
    prompt_ns: u64,
    encode_ns: u64,
}

impl Prompt {
    /// Whether a part is the begin of an answer to it.
    pub(super) fn answers(&self, part: SequencePart) -> bool {
        part.pos == self.next && part.all_ask() && part.n <= LONGEST_DRAFT
    }
}

impl Open {
    /// An answer to the prompt of another sequence, of `reused` tokens. It began with that prompt, whose output is
    /// its first one.
    pub(super) fn copied(call: &Call<'_>, part: SequencePart, prompt: &Prompt, reused: i64) -> Self {
        Self {
            first_call: call.row,
            encoded: false,
            start_ns: prompt.start_ns,
            end_ns: call.end_ns(),
            begin: Begin::Copied,
            first_pos: prompt.next,
            reused,
            prompt_tokens: 0,
            prompt_calls: 0,
            prompt_whole: true,
            prompt_outputs: 0,
            reads: 1,
            prompt_ns: prompt.prompt_ns,
            encode_ns: prompt.encode_ns,
            answered: Some((prompt.next, prompt.answered_ns)),
            last: (part.pos, part.next),
            last_n: part.n,
            last_same: false,
            last_ns: call.duration_ns,
            before_ns: prompt.answered_ns,
            guesses: part.n > 1,
            kept: None,
            answering: true,
            untaken: call.untaken,
            cost_ns: 0,
        }
    }

    /// Its prompt, if nothing else is in its sequence, or before position `until`.
    pub(super) fn as_prompt(&self, until: Option<i64>) -> Option<Prompt> {
        let (next, answered_ns) = self.answered.filter(|_| !self.answering)?;
        (until.is_none_or(|until| until >= next) && self.last.1 == next).then_some(Prompt {
            start_ns: self.start_ns,
            next,
            answered_ns,
            prompt_ns: self.prompt_ns,
            encode_ns: self.encode_ns,
        })
    }
}
