//! From the parts of batches to the requests of slots.
//!
//! A prompt comes in one or several parts, without an output except for the last token. Each later
//! part is a token from an earlier output, and requests the next output; with a draft, it is
//! several tokens that all request one. A part that neither continues a prompt nor is such a token
//! begins a request. A model with an encoder reads its prompt with that; its decoder begins at position 0.
//!
//! An output that nobody takes is none: the prompt goes on, or the answer had ended before. A sequence that is
//! copied after its prompt gives several answers to it.

mod copied;

use std::collections::BTreeMap;
use std::ops::Range;

use super::batch::{Batches, Composition};
use super::request::{Begin, SlotRequest};
use crate::shared::edit::{Copied, Edits};
use crate::shared::share::SequenceShare;
use profinfer_trace::model::Parts;

/// A call follows at once if the time before it is at most this part of the prompt's time so far.
const AT_ONCE: u64 = 100;
/// A shift of a full context leaves at most this many cells free, of the cells that attention covers.
const FREE_CELLS: i64 = 8;
/// Most draft tokens of a call. A longer part is of a text whose tokens all have an output.
const LONGEST_DRAFT: u64 = 64;

/// The required data of a `llama_decode` call.
pub(super) struct Call<'a> {
    pub(super) row: u32,
    pub(super) start_ns: u64,
    pub(super) duration_ns: u64,
    pub(super) n_tokens: u32,
    /// Time of the graphs between the process's call before and this one, ns.
    pub(super) encode_ns: u64,
    /// Time until the draft has read the same batch: before, the engine takes no token from it. ns
    pub(super) draft_reads_ns: u64,
    /// Its tokens go to an encoder.
    pub(super) encodes: bool,
    /// It is known to compute logits; without, its outputs are embeddings.
    pub(super) logits: bool,
    /// See [`crate::shared::shift`].
    pub(super) shifted: bool,
    /// Its batch lists sequences.
    pub(super) lists_sequences: bool,
    /// Cells that its attention covers, if known.
    pub(super) cells: Option<u64>,
    /// It is known that nobody takes its outputs.
    pub(super) untaken: bool,
    /// Its tokens are consecutive ones of one sequence.
    pub(super) single: bool,
    /// What the engine did after each call.
    pub(super) edits: &'a Edits,
}

impl Call<'_> {
    const fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.duration_ns)
    }

    /// Tokens of a sequence's part that the engine kept; `None` if nothing shows it.
    fn kept(&self, seq: i32, part: SequencePart) -> Option<i64> {
        let (pos, n) = (u32::try_from(part.pos).ok(), u32::try_from(part.n).ok()?);
        let share = SequenceShare { seq: Some(seq).filter(|_| self.lists_sequences), pos, n, outputs: None };
        self.edits.kept(self.row as usize, &share, self.single).map(i64::from)
    }
}

/// A part with a single sequence, in numbers that cannot overflow.
#[derive(Debug, Clone, Copy)]
pub(super) struct SequencePart {
    pub(super) pos: i64,
    /// First position after it.
    pub(super) next: i64,
    pub(super) n: u64,
    pub(super) outputs: u64,
    /// All tokens have the first position.
    pub(super) same: bool,
}

impl SequencePart {
    /// All tokens request an output: those of an answer do, and so does the last token of a prompt.
    const fn all_ask(self) -> bool {
        self.outputs == self.n
    }
}

/// The sequences of one context.
#[derive(Default)]
pub(super) struct Slots {
    slots: BTreeMap<i32, State>,
    done: Vec<(i32, Open)>,
    composition: Composition,
    not_whole: u64,
    has_sequences: bool,
    /// A token of an answer was of several sequences: these are branches of a search.
    branches: bool,
    /// The context was recorded from its beginning.
    pub(super) from_start: bool,
}

/// One sequence.
#[derive(Default)]
struct State {
    open: Option<Open>,
    /// The prompt of another sequence was copied to it, and no token of it came since.
    copied: Option<copied::Prompt>,
    /// A call was not completely recorded since its last part.
    gap: bool,
}

/// A request whose calls are still being read.
struct Open {
    first_call: u32,
    /// An encoder read the prompt, and its decoder has not begun.
    encoded: bool,
    start_ns: u64,
    end_ns: u64,
    begin: Begin,
    reused: i64,
    prompt_tokens: u64,
    prompt_calls: u64,
    /// Its complete prompt was recorded.
    prompt_whole: bool,
    /// Outputs of its prompt.
    prompt_outputs: u64,
    /// How often all of its tokens were read.
    reads: u64,
    /// Time of the calls that computed the prompt, ns.
    prompt_ns: u64,
    /// Time of graphs between these calls, ns.
    encode_ns: u64,
    /// First position after the prompt, and end of the call with the first output (ns).
    answered: Option<(i64, u64)>,
    /// Last part: first position, and first position after it.
    last: (i64, i64),
    /// Tokens of the last part of the prompt.
    last_n: u64,
    /// Its tokens have one position, as those of an image may.
    last_same: bool,
    /// Time of the last call of the prompt, ns.
    last_ns: u64,
    /// End of the call before the last one with an output, ns.
    before_ns: u64,
    /// Several outputs of one call are draft tokens, of which only some are accepted.
    guesses: bool,
    /// Tokens of the last part that the engine kept, where known.
    kept: Option<i64>,
    /// The last part was of the answer.
    answering: bool,
    /// Nobody took its output.
    untaken: bool,
}

impl Slots {
    /// Whether any batch named a sequence.
    pub(super) const fn has_sequences(&self) -> bool {
        self.has_sequences
    }

    /// Whether the sequences are branches of a search.
    pub(super) const fn branches(&self) -> bool {
        self.branches
    }

    /// Adds the next call of the context, with its rows of `parts`.
    pub(super) fn call(&mut self, call: &Call<'_>, parts: &Parts, rows: Range<usize>) {
        let tokens: u64 = parts.n[rows.clone()].iter().map(|n| u64::from(*n)).sum();
        let end = rows.end.checked_sub(1).filter(|_| !rows.is_empty());
        let last_token = end.map_or(0, |i| u64::from(parts.first[i]) + u64::from(parts.n[i]));
        let whole =
            !rows.is_empty() && tokens == last_token && [0, tokens].contains(&u64::from(call.n_tokens));
        if !whole {
            self.not_whole += 1;
            self.slots.values_mut().for_each(|s| s.gap = true);
        }
        let (mut sequences, mut prompt, mut answer) = (Vec::new(), 0, 0);
        let rows_of_call = rows.clone();
        for i in rows {
            let (Some(seq), Some(pos)) = (parts.seq[i], parts.pos[i]) else { continue };
            self.has_sequences = true;
            // The other sequences of the tokens are not recorded: a prompt that several sequences
            // share belongs to none.
            if parts.n_seq[i] != 1 {
                // A prompt that several share has an output at its end.
                let answer = pos > 0 && parts.outputs[i] == Some(parts.n[i]);
                self.branches |= parts.n_seq[i] > 1 && answer;
                continue;
            }
            let n = u64::from(parts.n[i]);
            // Without a list, the engine gives an output for the batch's last token.
            let outputs = parts.outputs[i].map_or_else(|| u64::from(whole && Some(i) == end), u64::from);
            let pos = i64::from(pos);
            let next = pos + if parts.same[i] { 1 } else { i64::from(parts.n[i]) };
            // Sequences whose prompt is a copy of another one's go on together with it.
            let twin = |j: usize| j != i && parts.pos[j] == parts.pos[i] && parts.n[j] == 1;
            let alone = !rows_of_call.clone().any(twin);
            let is_prompt =
                self.part(seq, call, SequencePart { pos, next, n, outputs, same: parts.same[i] }, alone);
            *(if is_prompt { &mut prompt } else { &mut answer }) += n;
            sequences.push(seq);
        }
        sequences.sort_unstable();
        sequences.dedup();
        if whole && !sequences.is_empty() {
            let n = u32::try_from(sequences.len()).unwrap_or(u32::MAX);
            self.composition.add(n, prompt, answer, call.duration_ns);
        }
    }

    /// Adds a copy of a sequence, after its last call.
    pub(super) fn copy(&mut self, copy: Copied) {
        let source = self.slots.get(&copy.seq).filter(|state| !state.gap);
        let prompt = source.and_then(|state| state.open.as_ref()?.as_prompt(copy.until));
        if let Some(prompt) = prompt {
            self.slots.entry(copy.target).or_default().copied = Some(prompt);
        }
    }

    /// Adds the next call of a context whose batches show no sequences.
    pub(super) fn implied(&mut self, call: &Call<'_>, part: SequencePart) {
        self.part(0, call, part, true);
    }

    /// Adds a part. Returns whether it is of a prompt.
    fn part(&mut self, seq: i32, call: &Call<'_>, part: SequencePart, alone: bool) -> bool {
        let is_prompt = self.add(seq, call, part, alone);
        if let Some(open) = self.slots.get_mut(&seq).and_then(|state| state.open.as_mut()) {
            open.kept = call.kept(seq, part);
        }
        is_prompt
    }

    /// `alone`: no other sequence of the call is at its position.
    fn add(&mut self, seq: i32, call: &Call<'_>, part: SequencePart, alone: bool) -> bool {
        let from_start = self.from_start;
        let state = self.slots.entry(seq).or_default();
        let gap = std::mem::take(&mut state.gap);
        let prompt = state.copied.take().filter(|prompt| prompt.answers(part));
        if let Some(open) = state.open.as_mut().filter(|open| call.shifted && open.is_full(call)) {
            open.shift(part);
        }
        if let Some(open) = &mut state.open {
            if open.encoded && !call.encodes && part.pos == 0 {
                open.decode(call, part);
                return true;
            }
            if call.logits && open.is_read_again(part) {
                open.reads += 1;
                open.end_ns = open.end_ns.max(call.end_ns());
                return true;
            }
            if open.goes_on_with(part, gap) || open.is_cut(call, part) {
                return open.add(call, part, gap);
            }
        }
        // After a gap, earlier parts show nothing.
        let held = state.open.as_ref().filter(|_| !gap).map_or(0, |open| open.last.1);
        // If nothing before this is missing, tokens that nobody computed came from a prompt that the server
        // keeps in memory.
        let copied = from_start && !gap && part.n == 1 && alone;
        let open = match prompt {
            Some(prompt) => Open::copied(call, part, &prompt),
            None => Open::new(call, part, copied || part.pos < held),
        };
        let is_prompt = open.prompt_calls > 0;
        if let Some(done) = state.open.replace(open) {
            self.done.push((seq, done));
        }
        is_prompt
    }

    /// The requests, the composition of the batches, and the number of incomplete calls.
    pub(super) fn close(
        mut self,
        pid: u32,
        context: Option<&String>,
    ) -> (Vec<SlotRequest>, Vec<Batches>, u64) {
        let open = self.slots.into_iter().filter_map(|(seq, state)| Some((seq, state.open?)));
        self.done.extend(open);
        if self.branches {
            self.done.clear();
        }
        let requests =
            self.done.into_iter().map(|(seq, open)| open.close(pid, context.cloned(), seq)).collect();
        (requests, self.composition.close(), self.not_whole)
    }
}

impl Open {
    /// `held`: the sequence is known to have had this position before.
    fn new(call: &Call<'_>, part: SequencePart, held: bool) -> Self {
        let begin = match (part.all_ask() && part.pos > 0, held) {
            (false, _) => Begin::Prompt,
            (true, true) if part.n == 1 => Begin::Back,
            (true, true) => Begin::Prompt,
            (true, false) => Begin::Unseen,
        };
        let unseen = begin == Begin::Unseen;
        let mut open = Self {
            first_call: call.row,
            encoded: call.encodes,
            start_ns: call.start_ns,
            end_ns: call.end_ns(),
            begin,
            reused: part.pos,
            prompt_tokens: 0,
            prompt_calls: 0,
            prompt_whole: !unseen,
            prompt_outputs: 0,
            reads: 1,
            prompt_ns: 0,
            encode_ns: 0,
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
        };
        if !unseen {
            open.prompt(call, part);
        }
        open
    }

    /// The context was shifted: positions go back, and the next token of the answer comes there.
    const fn shift(&mut self, part: SequencePart) {
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
    fn is_full(&self, call: &Call<'_>) -> bool {
        let free =
            |cells: u64| i64::try_from(cells).is_ok_and(|n| n <= self.last.1.saturating_add(FREE_CELLS));
        call.cells.is_none_or(free)
    }

    /// Whether a part of the sequence belongs to this request.
    const fn goes_on_with(&self, part: SequencePart, gap: bool) -> bool {
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
    const fn is_cut(&self, call: &Call<'_>, part: SequencePart) -> bool {
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
    const fn is_read_again(&self, part: SequencePart) -> bool {
        self.is_scored()
            && self.prompt_outputs == self.prompt_tokens
            && part.all_ask()
            && part.pos == self.reused
            && part.n == self.prompt_tokens
    }

    /// Adds a part that continues the request. Returns whether it is of the prompt.
    fn add(&mut self, call: &Call<'_>, part: SequencePart, gap: bool) -> bool {
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
    fn decode(&mut self, call: &Call<'_>, part: SequencePart) {
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

    fn close(self, pid: u32, context: Option<String>, slot: i32) -> SlotRequest {
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
            tpot_ns: (steps > 0).then(|| passed.saturating_add(steps / 2) / steps),
        }
    }
}
