//! The weights are of a type that is not repacked.

use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::StepKind;
use profinfer_trace::model::Role;

pub(super) const RULE: Rule = Rule {
    code: "repacking",
    topic: "weight types",
    title: "The weights are of a type without fast kernels here",
    question: "Why is the prompt so slow on Arm?",
    condition: "On an Arm processor with dot products, none of the weights is repacked, and most of their bytes are of a type for which the engine has no repacked kernels.",
    formula: "No time of decode is promised; prompts become 1.6 to 3.5 times faster.",
    remedy: "Use Q4_0, Q4_K or Q8_0 and a build with dotprod or i8mm.",
    source: "llama.cpp #17494, #16739, #18096, #18888, #10757",
    questions: ANY,
    requires: &[Requirement::Fact("cpu.features")],
    steps: |_, kind| matches!(kind, StepKind::AboveFloor),
    judge,
};

/// Types that recent engines repack on Arm.
const REPACKED: [&str; 8] = ["q4_0", "q4_K", "q5_K", "q6_K", "q8_0", "q1_0", "iq4_nl", "mxfp4"];

fn judge(case: &Case<'_>) -> Verdict {
    let features = case.analysis.conditions.system.cpu_features.value();
    if !features.is_some_and(|f| f.iter().any(|f| f == "asimddp")) {
        return Verdict::DoesNotApply;
    }
    let repacked: u64 =
        case.analysis.weight.iter().filter(|w| w.pid == case.pid).filter_map(|w| w.own_bytes).sum();
    let mut types: Vec<(&str, u64)> = Vec::new();
    for topology in case.model.topologies.rows.iter().filter(|t| t.pid == case.pid) {
        let weights = topology.nodes.iter().filter(|n| n.role == Role::Weight && n.ne[1] > 1);
        for node in weights {
            let name = case.model.texts.get(node.dtype);
            match types.iter_mut().find(|(t, _)| *t == name) {
                Some((_, bytes)) => *bytes = bytes.saturating_add(node.bytes),
                None => types.push((name, node.bytes)),
            }
        }
    }
    let Some((most, _)) = types.iter().max_by_key(|(_, bytes)| *bytes) else { return Verdict::DoesNotApply };
    let evidence = vec![
        Evidence::new("type_of_weights", Value::Name((*most).to_owned()), Place::Weights),
        Evidence::new("repacked", Value::Bytes(repacked), Place::Weights),
    ];
    let float = ["f16", "f32", "bf16"].contains(most);
    if repacked > 0 || float || REPACKED.contains(most) {
        return Verdict::RuledOut(evidence);
    }
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::RepackedType,
        gains: Vec::new(),
        confidence: Confidence::Low,
    })
}
