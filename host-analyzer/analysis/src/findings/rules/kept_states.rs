//! The engine's memory grows by the states of prompts that it keeps.

use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use profinfer_trace::model::HousekeepingKind;

pub(super) const RULE: Rule = Rule {
    code: "kept_states",
    topic: "memory of kept prompts",
    title: "The engine's memory grows with each prompt that it keeps",
    question: "Why is the server killed after some hours?",
    condition: "The anonymous memory of the engine grew by at least a twentieth of what was available, and at least half of that are copies of the states of sequences, of which there were at least four.",
    formula: "No time is promised. Memory: what it grew by.",
    remedy: "Limit the cache of finished prompts (--cache-ram N, in MiB; 0: none) and the checkpoints of a prompt (--ctx-checkpoints N).",
    source: "llama.cpp #26293 (8 GiB by default), LLMKube #1413",
    questions: ANY,
    requires: &[Requirement::Fact("rss.anonymous"), Requirement::Fact("memory.available")],
    steps: |_, _| false,
    judge,
};

/// Part of the available memory, and number of copies, from which on it is growth.
const MUCH: u64 = 20;
const COPIES: usize = 4;

fn judge(case: &Case<'_>) -> Verdict {
    let saved = case.model.housekeeping.iter().filter(|h| h.pid == case.pid);
    let saved: Vec<u64> = saved.filter(|h| h.kind == HousekeepingKind::SaveState).map(|h| h.bytes).collect();
    if saved.len() < COPIES {
        return Verdict::DoesNotApply;
    }
    let kept = saved.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
    let process = case.process();
    let grew =
        process.and_then(|p| p.rss_anonymous_bytes.value()).map_or(0, |c| c.last.saturating_sub(c.first));
    let available = case.analysis.conditions.system.memory_available_bytes.value().map_or(0, |c| c.first);
    let limit = process.and_then(|p| p.cgroup.memory_limit_bytes.value()?.get().copied());
    let room = limit.map_or(available, |limit| limit.min(available));
    let mut evidence = vec![
        Evidence::new("memory_grew", Value::Bytes(grew), Place::Conditions),
        Evidence::new("saved_states", Value::Count(saved.len() as u64), Place::Requests),
        Evidence::new("bytes_of_a_state", Value::Bytes(kept / saved.len() as u64), Place::Requests),
        Evidence::new("memory_available", Value::Bytes(available), Place::Conditions),
    ];
    evidence.extend(limit.map(|limit| Evidence::new("memory_limit", Value::Bytes(limit), Place::Conditions)));
    if grew < room / MUCH || kept < grew / 2 {
        return Verdict::RuledOut(evidence);
    }
    let remedy = Remedy::FewerStateCopies;
    Verdict::Found(Found { evidence, remedy, gains: Vec::new(), confidence: Confidence::Medium })
}
