//! One request whose calls are still being read.

use super::super::request::{Begin, SlotRequest};
use super::{Call, SequencePart};

/// A call follows at once if the time before it is at most this part of the prompt's time so far.
const AT_ONCE: u64 = 100;
/// A shift of a full context leaves at most this many cells free, of the cells that attention covers.
const FREE_CELLS: i64 = 8;
/// Most draft tokens of a call. A longer part is of a text whose tokens all have an output.
pub(super) const LONGEST_DRAFT: u64 = 64;

/// A request whose calls are still being read.
pub(super) struct Open {
    pub(super) first_call: u32,
    /// An encoder read the prompt, and its decoder has not begun.
    pub(super) encoded: bool,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) begin: Begin,
    /// Its first position.
    pub(super) first_pos: i64,
    /// Tokens before that.
    pub(super) reused: i64,
    pub(super) prompt_tokens: u64,
    pub(super) prompt_calls: u64,
    /// Its complete prompt was recorded.
    pub(super) prompt_whole: bool,
    /// Outputs of its prompt.
    pub(super) prompt_outputs: u64,
    /// How often all of its tokens were read.
    pub(super) reads: u64,
    /// Time of the calls that computed the prompt, ns.
    pub(super) prompt_ns: u64,
    /// Time of graphs before and between these calls, ns.
    pub(super) encode_ns: u64,
    /// First position after the prompt, and end of the call with the first output (ns).
    pub(super) answered: Option<(i64, u64)>,
    /// Last part: first position, and first position after it.
    pub(super) last: (i64, i64),
    /// Tokens of the last part of the prompt.
    pub(super) last_n: u64,
    /// Its tokens have one position, as those of an image may.
    pub(super) last_same: bool,
    /// Time of the last call of the prompt, ns.
    pub(super) last_ns: u64,
    /// End of the call before the last one with an output, ns.
    pub(super) before_ns: u64,
    /// Several outputs of one call are draft tokens, of which only some are accepted.
    pub(super) guesses: bool,
    /// Tokens of the last part that the engine kept, where known.
    pub(super) kept: Option<i64>,
    /// The last part was of the answer.
    pub(super) answering: bool,
    /// Nobody took its output.
    pub(super) untaken: bool,
    /// Its share of the time of its calls, ns.
    pub(super) cost_ns: u64,
}

impl Open {
    /// `held`: the sequence is known to have had this position before; `reused`: tokens before it.
    pub(super) fn new(call: &Call<'_>, part: SequencePart, held: bool, reused: i64) -> Self {
        let begin = match (part.all_ask() && part.pos > 0, held) {
            (false, _) => Begin::Prompt,
            (true, true) if part.n == 1 => Begin::Back,
            (true, true) => Begin::Prompt,
            (true, false) => Begin::Unseen,
        };
        let unseen = begin == Begin::Unseen;
        // An encoder that ran just before has read what this prompt begins with, or what follows the part of
        // it that was cached.
        let encoded = call.encode_from_ns.filter(|_| begin == Begin::Prompt);
        let mut open = Self {
            first_call: call.row,
            encoded: call.encodes,
            start_ns: encoded.unwrap_or(call.start_ns),
            end_ns: call.end_ns(),
            begin,
            first_pos: part.pos,
            reused,
            prompt_tokens: 0,
            prompt_calls: 0,
            prompt_whole: !unseen,
            prompt_outputs: 0,
            reads: 1,
            prompt_ns: 0,
            encode_ns: encoded.map_or(0, |_| call.encode_ns),
            // Its first position is that of a token from an earlier output.
            answered: unseen.then_some((part.pos, call.end_ns())),
            last: (part.pos, part.next),
            last_n: part.n,
            last_same: false,
            last_ns: call.duration_ns,
            before_ns: call.end_ns(),
            guesses: unseen && part.n > 1,
            kept: None,
            answering: unseen,
            untaken: unseen && call.untaken,
            cost_ns: 0,
        };
        if !unseen {
            open.prompt(call, part);
        }
        open
    }

    /// The context was shifted: positions go back, and the next token of the answer comes there.
    pub(super) const fn shift(&mut self, part: SequencePart) {
        let (first, next) = self.last;
        if let Some((behind, end_ns)) = self.answered
            && part.all_ask()
            && part.pos < first
        {
            let by = next - part.pos;
            self.answered = Some((behind - by, end_ns));
            self.last = (first - by, next - by);
        }
    }

    /// Whether its sequence fills the cells that attention covers, as far as known. A server also shifts cells
    /// to reuse parts of a prompt.
    pub(super) fn is_full(&self, call: &Call<'_>) -> bool {
        let free =
            |cells: u64| i64::try_from(cells).is_ok_and(|n| n <= self.last.1.saturating_add(FREE_CELLS));
        call.cells.is_none_or(free)
    }

    /// Whether a part of the sequence belongs to this request.
    pub(super) const fn goes_on_with(&self, part: SequencePart, gap: bool) -> bool {
        let (first, next) = self.last;
        if self.answered.is_none() {
            // All tokens of an image may have the same position; the next position is after its height or width
            // (M-RoPE).
            let image = self.last_same && part.pos >= first && part.pos <= first + self.last_n.cast_signed();
            return part.pos == next || image || gap && part.pos > next;
        }
        if self.is_scored() && part.pos == next && part.n > LONGEST_DRAFT {
            return true;
        }
        // After rejected draft tokens, positions go back, but never to where the draft tokens
        // began.
        let verified = self.guesses && part.pos > first && part.pos < next;
        if self.is_replay(part) {
            return true;
        }
        part.all_ask() && (part.pos == next || verified || gap && part.pos > next)
    }

    /// Whether a part is the next one of a prompt that a program cuts into equal parts and a rest, each with
    /// an output that it does not use: the call follows at once. A conversation that goes on after an answer
    /// of one token looks the same, but its next call waits for a client.
    pub(super) const fn is_cut(&self, call: &Call<'_>, part: SequencePart) -> bool {
        let length = self.end_ns.saturating_sub(self.start_ns);
        let waited = call.start_ns.saturating_sub(self.end_ns);
        // Parts of one length, and a rest: the time before one is that of the program.
        let in_a_row = part.n == self.last_n || self.prompt_calls > 1;
        self.answered.is_some()
            && !self.answering
            && self.prompt_calls == self.prompt_outputs
            && part.n > 1
            && part.n <= self.last_n
            && part.outputs == 1
            && part.pos == self.last.1
            && (waited <= length / AT_ONCE || in_a_row && waited <= self.last_ns)
    }

    /// Whether a part computes the accepted guesses of the last part again, where a state cannot be cut back.
    const fn is_replay(&self, part: SequencePart) -> bool {
        self.guesses && part.pos == self.last.0 && part.next <= self.last.1
    }

    /// Whether a part is the same text again, with logits for all of its tokens: a diffusion model changes
    /// some of them in each step.
    pub(super) const fn is_read_again(&self, part: SequencePart) -> bool {
        self.is_scored()
            && self.prompt_outputs == self.prompt_tokens
            && part.all_ask()
            && part.pos == self.first_pos
            && part.n == self.prompt_tokens
    }

    /// Adds a part that continues the request. Returns whether it is of the prompt.
    pub(super) fn add(&mut self, call: &Call<'_>, part: SequencePart, gap: bool) -> bool {
        let is_cut = self.is_cut(call, part);
        let end_before = self.end_ns;
        self.end_ns = self.end_ns.max(call.end_ns());
        if self.answered.is_none() || is_cut || self.is_scored() && part.n > LONGEST_DRAFT {
            self.prompt_whole &= !gap;
            self.encode_ns = self.encode_ns.saturating_add(call.encode_ns);
            self.prompt(call, part);
            return true;
        }
        // Accepted tokens that are computed again give no further output.
        if self.is_replay(part) {
            self.last = (part.pos, part.next);
            (self.answering, self.guesses, self.untaken) = (true, false, false);
            return false;
        }
        // Two parts of one call are one step.
        if end_before < call.end_ns() {
            self.before_ns = end_before;
        }
        self.last = (part.pos, part.next);
        (self.answering, self.guesses, self.untaken) = (true, part.n > 1, call.untaken);
        false
    }

    /// The first call of the decoder after the encoder: it has the first output.
    pub(super) fn decode(&mut self, call: &Call<'_>, part: SequencePart) {
        self.encoded = false;
        self.end_ns = self.end_ns.max(call.end_ns());
        self.before_ns = self.end_ns;
        self.prompt_ns = self.prompt_ns.saturating_add(call.duration_ns);
        self.encode_ns = self.encode_ns.saturating_add(call.encode_ns);
        (self.prompt_outputs, self.reads) = (1, 1);
        (self.last, self.last_n) = ((part.pos, part.next), part.n);
        self.answered = Some((part.next, call.end_ns()));
    }

    fn prompt(&mut self, call: &Call<'_>, part: SequencePart) {
        // The last token of a prompt, and a draft after it.
        let drafted = self.prompt_tokens > 0
            && self.answered.is_none()
            && part.all_ask()
            && (2..=LONGEST_DRAFT).contains(&part.n);
        let part = if drafted { SequencePart { n: 1, outputs: 1, ..part } } else { part };
        self.prompt_tokens += part.n;
        self.prompt_calls += 1;
        self.prompt_outputs += part.outputs;
        self.prompt_ns = self.prompt_ns.saturating_add(call.duration_ns);
        self.last = (part.pos, part.next);
        (self.last_n, self.last_ns, self.last_same) = (part.n, call.duration_ns, part.same && part.n > 1);
        self.guesses = drafted;
        if part.outputs > 0 && !call.untaken {
            let behind = if drafted { part.pos + 1 } else { part.next };
            self.answered = Some((behind, call.end_ns().saturating_add(call.draft_reads_ns)));
        }
    }

    /// Several tokens of its text have an output, and no answer has begun.
    const fn is_scored(&self) -> bool {
        self.prompt_outputs > self.prompt_calls && !self.answering
    }

    pub(super) fn close(self, pid: u32, context: Option<String>, slot: i32) -> SlotRequest {
        let seen = self.begin != Begin::Unseen;
        let generates = !self.is_scored();
        let ttft_ns =
            self.answered.filter(|_| seen && generates).map(|(_, end)| end.saturating_sub(self.start_ns));
        // For an answer whose beginning was not recorded, the first call also had an output.
        // Of a draft, the engine keeps the token before it and those that it accepted.
        let kept = self.kept.filter(|_| self.guesses);
        let outputs = self.answered.map(|(behind, _)| {
            let steps = match (self.answering, kept) {
                (true, _) if self.untaken => (self.last.0 - behind).max(0),
                (true, kept) => (self.last.0 - behind).max(0) + kept.unwrap_or(1),
                (false, kept) => kept.map_or(0, |kept| kept - 1),
            };
            if generates { steps.unsigned_abs() + u64::from(seen) } else { 0 }
        });
        // How many draft tokens of the last call were accepted is unknown, so the time ends before
        // it.
        let (until, outputs_until) = match (self.guesses && kept.is_none(), outputs) {
            (_, Some(outputs)) if self.untaken => (self.before_ns, outputs),
            (true, Some(outputs)) => (self.before_ns, outputs.saturating_sub(1)),
            (false, Some(outputs)) => (self.end_ns, outputs),
            (_, None) => (0, 0),
        };
        let steps = outputs_until.saturating_sub(1);
        let passed = self.answered.map_or(0, |(_, first)| until.saturating_sub(first));
        SlotRequest {
            index: 0,
            pid,
            context,
            slot,
            first_call: self.first_call,
            start_ns: self.start_ns,
            end_ns: self.end_ns,
            begin: self.begin,
            reused: u32::try_from(self.reused).ok().filter(|_| seen),
            prompt_tokens: self.prompt_whole.then_some(self.prompt_tokens),
            prompt_calls: self.prompt_calls,
            reads: self.reads,
            ttft_ns,
            encode_ns: self.encode_ns,
            waited_ns: ttft_ns
                .filter(|_| self.prompt_whole)
                .map(|ns| ns.saturating_sub(self.prompt_ns).saturating_sub(self.encode_ns)),
            output_tokens: outputs,
            cost_ns: self.cost_ns,
            tpot_ns: (steps > 0).then(|| passed.saturating_add(steps / 2) / steps),
        }
    }
}
