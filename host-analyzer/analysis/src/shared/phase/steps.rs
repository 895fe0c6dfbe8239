//! The calls that generate text: those of one token, or of one token for each of several sequences.
//!
//! A session has both if clients come and go. Figures per token are those of the kind that has more
//! calls.

use super::{Phase, Role};
use profinfer_trace::model::Model;

/// At most one in this many calls with several outputs may be something else (guesses), if the calls are to
/// count as those of several sequences.
const OTHERS: usize = 10;

/// The phase with most calls that generate text.
pub(super) fn main_phase(model: &Model, phases: &[Phase], roles: &[Role]) -> Phase {
    let d = &model.llama_calls;
    let of = |phase: Phase| (0..d.len()).filter(move |i| phases[*i] == phase && d.status[*i] == 0);
    let single = of(Phase::Decode).count();
    let (steps, others): (Vec<usize>, Vec<usize>) =
        of(Phase::BatchDecode).partition(|i| roles[*i] != Role::Verify && one_each(model, *i));
    if steps.len() > single && others.len() * OTHERS <= steps.len() {
        Phase::BatchDecode
    } else {
        Phase::Decode
    }
}

/// Each token of the call belongs to a different sequence; also true if the sequences are unknown.
pub(crate) fn one_each(model: &Model, call: usize) -> bool {
    let mut sequences: Vec<i32> = Vec::new();
    model.parts.of_row(call).into_iter().all(|i| match model.parts.seq[i] {
        Some(seq) if sequences.contains(&seq) => false,
        Some(seq) => {
            sequences.push(seq);
            model.parts.n[i] == 1
        }
        None => true,
    })
}
