//! The time until the first token of each request.

use std::collections::HashMap;

use super::sources::{Calls, Sources, pid_of};
use crate::replay::CallReplay;
use crate::results::request::Request;
use crate::shared::phase::Phase;
use profinfer_trace::model::{DecodeFunction, LlamaCallId};

/// Requests that generated tokens: the calls of their prompts, the time between them, the time of an encoder
/// before the first one, and the time from the last one to the next call of the process, in which the first token is sampled. Requests
/// that share calls with others are left out: their times overlap.
pub(super) fn calls<'a>(sources: &Sources<'a>, pid: u32) -> Calls<'a> {
    let Sources { model, replay, .. } = *sources;
    let own = |c: &&CallReplay| pid_of(model, c) == pid;
    let by_call: HashMap<LlamaCallId, &CallReplay> =
        replay.calls.iter().filter(own).map(|c| (c.call, c)).collect();
    // By start, because the calls of a process do not overlap.
    let gaps: Vec<&CallReplay> = replay.gaps.iter().filter(own).collect();
    let start = |c: &CallReplay| model.llama_calls.start_ns[c.call.0 as usize];
    let (mut rows, mut units, mut traced_units) = (Vec::new(), 0, 0);
    for request in sources.requests.iter().filter(|r| r.slot.is_none() && r.generated > 0) {
        let calls: Vec<&CallReplay> =
            prompt(sources, request).into_iter().filter_map(|id| by_call.get(&id).copied()).collect();
        let Some(last) = calls.last() else { continue };
        let last_end = start(last).saturating_add(model.llama_calls.duration_ns[last.call.0 as usize]);
        let first = gaps.partition_point(|g| start(g) <= start(calls[0]));
        let inside = gaps[first..].iter().take_while(|g| start(g) < last_end);
        let sampling = gaps.get(gaps.partition_point(|g| start(g) < last_end));
        // An encoder reads an image before the part of the prompt that it belongs to.
        rows.extend(replay.encodes.iter().filter(|e| e.call == calls[0].call));
        // The time of a call that generates has what is before it.
        let apart = |g: &&&CallReplay| calls.iter().any(|c| c.call == g.call && !c.phase.generates());
        rows.extend(inside.filter(apart).copied());
        rows.extend(sampling.copied());
        units += 1;
        traced_units += u64::from(calls.iter().all(|c| c.traced));
        rows.extend(calls);
    }
    Calls { rows, phases: vec![Phase::Prefill], units, traced_units, tokens: 0 }
}

/// The prefill calls of a request: those of its context before the first one that generates. After an
/// encoder, also that one: it has the first output.
fn prompt(sources: &Sources<'_>, request: &Request) -> Vec<LlamaCallId> {
    let calls = &sources.model.llama_calls;
    let first = request.first_call as usize;
    let Some(context) = calls.context.get(first) else { return Vec::new() };
    let pid = |i: usize| sources.model.threads.get(calls.thread[i]).pid;
    let own = |i: &usize| calls.context[*i] == *context && pid(*i) == pid(first) && calls.status[*i] == 0;
    let phase = |i: &usize| sources.phases.llama_calls[*i];
    let mut rows: Vec<usize> = (first..calls.len())
        .filter(own)
        .take_while(|i| !phase(i).generates())
        .filter(|i| phase(i) == Phase::Prefill)
        .collect();
    if let Some(last) = rows.last().filter(|i| calls.function[**i] == DecodeFunction::LlamaEncode) {
        rows.extend((last + 1..calls.len()).find(own));
    }
    // A draft reads the last part before the first token is taken from it.
    let reads = rows.last().map_or(&[][..], |i| &sources.phases.draft_reads[*i]);
    rows.extend(reads);
    rows.into_iter().map(|i| LlamaCallId(u32::try_from(i).unwrap_or(u32::MAX))).collect()
}
