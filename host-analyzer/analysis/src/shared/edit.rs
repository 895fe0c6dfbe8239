//! What the engine did to the memory of a context between two of its calls. Guesses that it rejected are cut, so
//! that a cut shows where the accepted tokens end; a prompt that several answers share is copied.
//!
//! The outputs that it took show the same where it cuts nothing, because it ends.
//!
//! Nothing shows which memory a context has: the edits between two calls of a context are those of its process.

use std::collections::HashMap;

use super::share::SequenceShare;
use super::taken::taken;
use profinfer_trace::model::{Edit, EditKind, Model};

/// What the engine did after the end of each call and before the next one of its context, by row of `llama_calls`.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    after: Vec<Vec<Edit>>,
    /// Outputs that it took, where known.
    taken: Vec<Option<u32>>,
}

impl Edits {
    pub(crate) fn compute(model: &Model) -> Self {
        let d = &model.llama_calls;
        let taken = taken(model);
        let mut after = vec![Vec::new(); d.len()];
        if model.edits.is_empty() {
            return Self { after, taken };
        }
        // Later calls first, so that the next call of a context is known.
        let mut next: HashMap<(u32, u64), u64> = HashMap::new();
        for i in (0..d.len()).rev() {
            let pid = model.threads.get(d.thread[i]).pid;
            let end_ns = d.start_ns[i].saturating_add(d.duration_ns[i]);
            let until_ns = next.insert((pid, d.context[i]), d.start_ns[i]).unwrap_or(u64::MAX);
            let first = model.edits.partition_point(|edit| edit.at_ns < end_ns);
            let between = model.edits[first..].iter().take_while(|edit| edit.at_ns < until_ns);
            after[i] = between.filter(|edit| edit.pid == pid).copied().collect();
        }
        Self { after, taken }
    }

    fn after(&self, call: usize, kind: EditKind) -> impl Iterator<Item = &Edit> {
        self.after.get(call).into_iter().flatten().filter(move |edit| edit.kind == kind)
    }

    /// Whether the outputs of a call are known to be of no use.
    pub(crate) fn untaken(&self, call: usize) -> bool {
        self.taken.get(call).copied().flatten() == Some(0)
    }

    /// Number of tokens that were kept of a sequence's share of a call, whose other tokens are rejected guesses;
    /// `None` if neither a cut shows it nor, of the `only` sequence of a call, the outputs that were taken. The
    /// token before the guesses is always kept.
    pub(crate) fn kept(&self, call: usize, share: &SequenceShare, only: bool) -> Option<u32> {
        // One may also be all outputs at once (`llama_get_logits`).
        let taken = || self.taken.get(call).copied().flatten().filter(|n| only && (2..=share.n).contains(n));
        self.cut(call, share).or_else(taken)
    }

    fn cut(&self, call: usize, share: &SequenceShare) -> Option<u32> {
        let pos = share.pos?;
        let of = |cut: &Edit| {
            let kept = u32::try_from(cut.from).ok()?.checked_sub(pos)?;
            // A negative one stands for all.
            let own = cut.seq < 0 || share.seq.is_none_or(|own| own == cut.seq);
            (own && cut.to < 0 && (1..=share.n).contains(&kept)).then_some(kept)
        };
        self.after(call, EditKind::Cut).find_map(of)
    }

    /// Sequences that were copied from their beginning on after a call.
    pub(crate) fn copies(&self, call: usize) -> impl Iterator<Item = Copied> {
        self.after(call, EditKind::Copy).filter(|copy| copy.from <= 0).map(|copy| Copied {
            seq: copy.seq,
            target: copy.target,
            until: (copy.to >= 0).then_some(i64::from(copy.to)),
        })
    }

    /// Whether the memory was cleared after a call.
    pub(crate) fn cleared(&self, call: usize) -> bool {
        self.after(call, EditKind::Clear).next().is_some()
    }
}

/// A sequence got the tokens of another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copied {
    pub(crate) seq: i32,
    pub(crate) target: i32,
    /// Position after the last one; `None`: all.
    pub(crate) until: Option<i64>,
}
