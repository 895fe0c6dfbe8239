//! The processor looks up pages all the time.

use super::super::case::{MIN_CALLS, MIN_TRACED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{GENERATING, Remedy};
use crate::ladder::StepKind;

pub(super) const RULE: Rule = Rule {
    code: "huge_pages",
    topic: "page size",
    title: "Small pages",
    question: "Would huge pages help?",
    condition: "The engine holds at least 512 MiB of weights in memory of its own, less than a tenth of it in huge pages, and page-table walks are counted: at least one for every 8 KiB that a token reads.",
    formula: "No time is promised: what a walk costs depends on the caches that hold the page tables.",
    remedy: "Switch transparent huge pages to always or madvise (/sys/kernel/mm/transparent_hugepage/enabled) and load without the mapping (--load-mode none; older builds: --no-mmap).",
    source: "ik_llama.cpp #278 (10 to 13 % on a large CPU model), llama.cpp #22022, #12444",
    questions: GENERATING,
    requires: &[
        Requirement::Calls(MIN_CALLS),
        Requirement::TracedCalls(MIN_TRACED),
        Requirement::AllOperators,
        Requirement::Counter("DTLB_WALK"),
    ],
    steps: |_, kind| matches!(kind, StepKind::AboveFloor),
    judge,
};

const LARGE: u64 = 512 << 20;
/// A walk for so many bytes is one for nearly every page.
const BYTES_PER_WALK: f64 = 8192.0;

fn judge(case: &Case<'_>) -> Verdict {
    let own: u64 =
        case.analysis.weight.iter().filter(|w| w.pid == case.pid).filter_map(|w| w.own_bytes).sum();
    let huge = case.process().and_then(|p| p.huge_anonymous_bytes.value()).map_or(0, |c| c.last);
    let counts = &case.model.spans.counts;
    let column = counts.names.iter().position(|n| n == "DTLB_WALK");
    let walks: u64 = column.map_or(0, |c| case.captured_spans().filter_map(|i| counts.value(c, i)).sum());
    let per_token = walks as f64 / case.calls.traced_units();
    let bytes = case.analysis.roof.decode.map_or(0.0, |d| d.bytes_per_token);
    let evidence = vec![
        Evidence::new("page_walks_per_token", Value::Mean(per_token), Place::Operators),
        Evidence::new("own_weights", Value::Bytes(own), Place::Weights),
        Evidence::new("huge_pages", Value::Bytes(huge), Place::Conditions),
    ];
    if own < LARGE || huge >= own / 10 || per_token < bytes / BYTES_PER_WALK {
        return Verdict::RuledOut(evidence);
    }
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::HugePages,
        gains: Vec::new(),
        confidence: Confidence::Low,
    })
}
