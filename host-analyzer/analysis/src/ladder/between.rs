//! The time between two calls of a context.

use std::collections::HashSet;

use super::sources::{Calls, Sources, pid_of};
use crate::replay::CallReplay;
use crate::shared::phase::Phase;

/// The time before each call whose context had a call before, without the time of other contexts'
/// calls. Between a trial call and the first prompt the engine starts up.
pub(super) fn calls<'a>(sources: &Sources<'a>, pid: u32) -> Calls<'a> {
    let Sources { model, phases, replay, .. } = *sources;
    let calls = &model.llama_calls;
    let (mut seen, mut follows) = (HashSet::new(), vec![false; calls.len()]);
    for (i, follows) in follows.iter_mut().enumerate() {
        if phases.llama_calls[i] != Phase::WarmUp {
            *follows = !seen.insert((model.threads.get(calls.thread[i]).pid, calls.context[i]));
        }
    }
    let between = |c: &&CallReplay| pid_of(model, c) == pid && follows[c.call.0 as usize];
    let rows: Vec<&CallReplay> = replay.gaps.iter().filter(between).collect();
    let units = rows.len() as u64;
    Calls { rows, phases: Vec::new(), units, traced_units: units, tokens: 0 }
}
