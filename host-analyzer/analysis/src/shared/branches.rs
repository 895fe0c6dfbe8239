//! Searches in several sequences: lookahead decoding, drafts that are trees. The sequences are branches of one
//! text: the first token of such a call is the text's last one, and the others are guesses of what follows.

use std::collections::BTreeSet;
use std::ops::Range;

use super::share::SequenceShare;
use profinfer_trace::model::Parts;

/// The last token of the text, in a call whose other tokens are branches after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Root {
    pub(crate) seq: i32,
    pub(crate) pos: u32,
    /// Most guesses after it that this call can verify, one after the other.
    pub(crate) longest: u32,
}

impl Root {
    /// The root and the longest branch, as one sequence.
    pub(crate) fn share(self) -> SequenceShare {
        let n = self.longest.saturating_add(1);
        SequenceShare { seq: Some(self.seq), pos: Some(self.pos), n, outputs: Some(n.into()) }
    }
}

/// The root of a call with these rows, if a token with an output is of several sequences. A prompt that several
/// sequences share has an output at its end only.
pub(crate) fn root(parts: &Parts, rows: Range<usize>) -> Option<Root> {
    let asks = |i: &usize| parts.outputs[*i] == Some(parts.n[*i]);
    let shared = |i: usize| parts.n_seq[i] > 1 && asks(&i) && parts.pos[i].is_some_and(|pos| pos > 0);
    if !rows.clone().any(shared) {
        return None;
    }
    let first = rows.start;
    let (seq, pos) = (parts.seq[first]?, u32::try_from(parts.pos[first]?).ok()?);
    // A branch that is verified has an output for each token, and follows the root or another one of these.
    let others: BTreeSet<Option<i32>> = rows.clone().filter(|i| !asks(i)).map(|i| parts.seq[i]).collect();
    let verified = rows.filter(|i| !others.contains(&parts.seq[*i]));
    let verified = verified.filter_map(|i| Some((u32::try_from(parts.pos[i]?).ok()?, parts.n[i])));
    let mut verified: Vec<(u32, u32)> = verified.collect();
    verified.sort_unstable();
    let reach = verified.into_iter().fold(pos.saturating_add(1), |reach, (pos, n)| {
        if pos <= reach { reach.max(pos.saturating_add(n)) } else { reach }
    });
    Some(Root { seq, pos, longest: reach - pos.saturating_add(1) })
}
