//! What the engine removed from sequences after each call: guesses that it rejected, so that a removal shows
//! where the accepted tokens end.

use std::collections::HashMap;

use super::share::SequenceShare;
use profinfer_trace::model::Model;

/// Removals after the end of each call and before the next one of its context.
#[derive(Debug, Default)]
pub(crate) struct Cuts(Vec<Vec<(i32, i32)>>);

impl Cuts {
    pub(crate) fn compute(model: &Model) -> Self {
        let d = &model.llama_calls;
        let mut after = vec![Vec::new(); d.len()];
        if model.cuts.is_empty() {
            return Self(after);
        }
        // Later calls first, so that the next call of a context is known.
        let mut next: HashMap<(u32, u64), u64> = HashMap::new();
        for i in (0..d.len()).rev() {
            let pid = model.threads.get(d.thread[i]).pid;
            let end_ns = d.start_ns[i].saturating_add(d.duration_ns[i]);
            let until_ns = next.insert((pid, d.context[i]), d.start_ns[i]).unwrap_or(u64::MAX);
            let first = model.cuts.partition_point(|cut| cut.at_ns < end_ns);
            let between = model.cuts[first..].iter().take_while(|cut| cut.at_ns < until_ns);
            after[i] = between.filter(|cut| cut.pid == pid).map(|cut| (cut.seq, cut.pos)).collect();
        }
        Self(after)
    }

    /// Number of tokens that were kept of a sequence's share of a call; `None` if nothing was removed. The token
    /// before the guesses is always kept.
    pub(crate) fn kept(&self, call: usize, share: &SequenceShare) -> Option<u32> {
        let pos = share.pos?;
        let of = |(seq, at): &(i32, i32)| {
            let kept = u32::try_from(*at).ok()?.checked_sub(pos)?;
            let own = share.seq.is_none_or(|own| own == *seq);
            (own && (1..=share.n).contains(&kept)).then_some(kept)
        };
        self.0.get(call)?.iter().find_map(of)
    }
}
