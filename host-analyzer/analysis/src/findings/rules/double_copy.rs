//! Weights are in memory twice.

use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy};

pub(super) const RULE: Rule = Rule {
    code: "double_copy",
    topic: "second copy of the weights",
    title: "Weights are in memory twice",
    question: "Why does a 1.5 GB model take 3.2 GB?",
    condition: "The engine has repacked weights into memory of its own while the file stays mapped and resident, and less than a quarter of the memory is available.",
    formula: "No time is promised. Memory: the smaller of the repacked bytes and of the resident file.",
    remedy: "Load without the mapping (--load-mode none; older builds: --no-mmap), or without repacking (--no-repack).",
    source: "llama.cpp #19578, #12149, #16761, #23603",
    questions: ANY,
    requires: &[Requirement::Fact("memory.available"), Requirement::Fact("rss.file")],
    steps: |_, _| false,
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let own: u64 =
        case.analysis.weight.iter().filter(|w| w.pid == case.pid).filter_map(|w| w.own_bytes).sum();
    let mapped = case.process().and_then(|p| p.rss_file_bytes.value()).map_or(0, |c| c.last);
    let system = &case.analysis.conditions.system;
    let available = system.memory_available_bytes.value().map_or(0, |c| c.min);
    let total = system.memory_total_bytes.value().copied().unwrap_or(0);
    let evidence = vec![
        Evidence::new("own_weights", Value::Bytes(own), Place::Weights),
        Evidence::new("resident_file", Value::Bytes(mapped), Place::Conditions),
        Evidence::new("memory_available", Value::Bytes(available), Place::Conditions),
    ];
    if own == 0 || mapped < own / 2 || available > total / 4 {
        return Verdict::RuledOut(evidence);
    }
    let remedy = Remedy::OneCopy { bytes: own.min(mapped) };
    Verdict::Found(Found { evidence, remedy, gains: Vec::new(), confidence: Confidence::High })
}
