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
mod held;
mod open;

use std::collections::BTreeMap;
use std::ops::Range;

use super::batch::{Batches, Composition};
use super::request::SlotRequest;
use crate::shared::branches::Root;
use crate::shared::edit::{Copied, Edits};
use crate::shared::share::SequenceShare;
use held::Held;
use open::Open;
use profinfer_trace::model::Parts;

/// The required data of a `llama_decode` call.
pub(super) struct Call<'a> {
    pub(super) row: u32,
    pub(super) start_ns: u64,
    pub(super) duration_ns: u64,
    pub(super) n_tokens: u32,
    /// Start of the first graph between the process's call before and this one, ns.
    pub(super) encode_from_ns: Option<u64>,
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
    /// Its tokens are consecutive ones of one sequence, or branches after one.
    pub(super) single: bool,
    /// Its sequences are branches of one text, after this token of it.
    pub(super) root: Option<Root>,
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
    /// Sequences were branches of one text.
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
    held: Held,
    /// A call was not completely recorded since its last part.
    gap: bool,
}

impl Slots {
    /// Whether any batch named a sequence.
    pub(super) const fn has_sequences(&self) -> bool {
        self.has_sequences
    }

    /// Whether sequences were branches of one text.
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
        if let Some(root) = call.root {
            self.search(root, call);
            if whole {
                self.composition.add(1, 0, last_token, call.duration_ns);
            }
            return;
        }
        let (mut sequences, mut prompt, mut answer) = (Vec::new(), 0, 0);
        let rows_of_call = rows.clone();
        // Up to a token of the call, so that the shares of its parts sum to its time.
        let until = |token: u64| {
            let ns = u128::from(call.duration_ns) * u128::from(token) / u128::from(last_token.max(1));
            u64::try_from(ns).unwrap_or(call.duration_ns)
        };
        for i in rows {
            let (Some(seq), Some(pos)) = (parts.seq[i], parts.pos[i]) else { continue };
            self.has_sequences = true;
            // The other sequences of the tokens are not recorded: a prompt that several sequences
            // share belongs to none.
            if parts.n_seq[i] != 1 {
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
            let (first, part) =
                (u64::from(parts.first[i]), SequencePart { pos, next, n, outputs, same: parts.same[i] });
            let is_prompt = self.part(seq, call, part, alone, until(first + n).saturating_sub(until(first)));
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

    /// Adds a call whose sequences are branches of one text: the request is that of the text.
    fn search(&mut self, root: Root, call: &Call<'_>) {
        (self.has_sequences, self.branches) = (true, true);
        let (pos, n) = (i64::from(root.pos), root.share().n);
        let (next, n) = (pos + i64::from(n), u64::from(n));
        let part = SequencePart { pos, next, n, outputs: n, same: false };
        self.part(root.seq, call, part, true, call.duration_ns);
    }

    /// Adds a copy of a sequence, after its last call.
    pub(super) fn copy(&mut self, copy: Copied) {
        let Some(source) = self.slots.get(&copy.seq).filter(|state| !state.gap) else { return };
        let prompt = source.open.as_ref().and_then(|open| open.as_prompt(copy.until));
        let mut held = source.held.clone();
        copy.until.into_iter().for_each(|until| held.cut(until));
        let target = self.slots.entry(copy.target).or_default();
        target.held = held;
        if prompt.is_some() {
            target.copied = prompt;
        }
    }

    /// Adds the next call of a context whose batches show no sequences.
    pub(super) fn implied(&mut self, call: &Call<'_>, part: SequencePart) {
        self.part(0, call, part, true, call.duration_ns);
    }

    /// Adds a part with its share of the time of the call. Returns whether it is of a prompt.
    fn part(&mut self, seq: i32, call: &Call<'_>, part: SequencePart, alone: bool, share_ns: u64) -> bool {
        let is_prompt = self.add(seq, call, part, alone);
        if let Some(open) = self.slots.get_mut(&seq).and_then(|state| state.open.as_mut()) {
            open.kept = call.kept(seq, part);
            open.cost_ns = open.cost_ns.saturating_add(share_ns);
        }
        is_prompt
    }

    /// `alone`: no other sequence of the call is at its position.
    fn add(&mut self, seq: i32, call: &Call<'_>, part: SequencePart, alone: bool) -> bool {
        let from_start = self.from_start;
        let state = self.slots.entry(seq).or_default();
        let gap = std::mem::take(&mut state.gap);
        if gap || call.shifted {
            state.held.forget();
        }
        let prompt = state.copied.take().filter(|prompt| prompt.answers(part));
        if let Some(open) = state.open.as_mut().filter(|open| call.shifted && open.is_full(call)) {
            open.shift(part);
        }
        if let Some(open) = &mut state.open {
            if open.encoded && !call.encodes && part.pos == 0 {
                open.decode(call, part);
                state.held.add(part, false);
                return true;
            }
            if call.logits && open.is_read_again(part) {
                open.reads += 1;
                open.end_ns = open.end_ns.max(call.end_ns());
                return true;
            }
            if open.goes_on_with(part, gap) || open.is_cut(call, part) {
                state.held.add(part, true);
                return open.add(call, part, gap);
            }
        }
        // After a gap, earlier parts show nothing.
        let held = state.open.as_ref().filter(|_| !gap).map_or(0, |open| open.last.1);
        // If nothing before this is missing, tokens that nobody computed came from a prompt that the server
        // keeps in memory.
        let copied = from_start && !gap && part.n == 1 && alone;
        let reused = state.held.before(part.pos).unwrap_or(part.pos);
        state.held.add(part, false);
        let open = match prompt {
            Some(prompt) => Open::copied(call, part, &prompt, reused),
            None => Open::new(call, part, copied || part.pos < held, reused),
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
        let requests =
            self.done.into_iter().map(|(seq, open)| open.close(pid, context.cloned(), seq)).collect();
        (requests, self.composition.close(), self.not_whole)
    }
}
