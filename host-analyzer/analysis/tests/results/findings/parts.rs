//! Prompts that are read in several calls.

use profinfer_analysis::findings::{Remedy, Value};
use profinfer_analysis::ladder::Question;
use profinfer_trace::model::Model;

use super::Answer::{Found, RuledOut, Silent};
use super::{answer, evidence, findings, remedy};
use crate::models::calls::{Call, call, model};
use crate::server::shared;

const A: u64 = 0x5000;

/// Moves a call and all that is later by `ns`.
fn late(m: &mut Model, row: usize, ns: u64) {
    let from = m.llama_calls.start_ns[row] - 5;
    let starts = [&mut m.llama_calls.start_ns, &mut m.graph_calls.start_ns, &mut m.spans.start_ns];
    starts.into_iter().flatten().filter(|start| **start >= from).for_each(|start| *start += ns);
}

/// Eight prompts of two calls of 10 us, the second one `wait` + 10 ns after the first one, with four tokens of
/// 100 ns each.
fn in_two(wait: u64) -> Model {
    let mut calls = Vec::new();
    for request in 0..8 {
        let past = request * 204;
        let part =
            |rows: u64, at: u32| Call { length: 10_000, work: [20, 9_970], ..call(A, 100, &[rows], at) };
        calls.extend([part(0, past), part(1, past + 100)]);
        calls.extend((0..4).map(|i| call(A, 1, &[1], past + 200 + i)));
    }
    let mut m = model(&calls, true);
    (0..8).for_each(|request| late(&mut m, request * 6 + 1, wait));
    m
}

#[test]
fn parts_that_come_late() {
    let m = in_two(20_000);
    let Found(low, high) = answer(&m, "prompt_parts") else { panic!("{:?}", answer(&m, "prompt_parts")) };
    assert!(low < 20_010 && 20_010 < high && high - low < 5_000, "{low} to {high}");
    let f = findings(&m);
    let found = f.found.iter().find(|f| f.rule.code == "prompt_parts").unwrap();
    let gain = found.gain().unwrap();
    assert_eq!((gain.question, gain.likely_ns), (Question::FirstToken, 20_010));
    // Of each of the eight requests.
    assert_eq!((found.effects.len(), found.effects[0].ns), (1, 8 * 20_010));
    assert_eq!(remedy(&m, "prompt_parts"), Remedy::WholePrompts);
    assert_eq!(evidence(&m, "prompt_parts", "prompts_in_parts"), Some(Value::Count(8)));
    assert_eq!(evidence(&m, "prompt_parts", "calls_of_such_a_prompt"), Some(Value::Mean(2.0)));
    assert_eq!(evidence(&m, "prompt_parts", "late_ns"), Some(Value::Nanoseconds(20_010)));
    assert_eq!(evidence(&m, "prompt_parts", "late_for_others_ns"), None);
    assert_eq!(answer(&in_two(0), "prompt_parts"), RuledOut);
    // Prompts of one call.
    let tokens = (0..20).map(|i| call(A, 1, &[1], 100 + i));
    let one: Vec<Call> = std::iter::once(call(A, 100, &[1], 0)).chain(tokens).collect();
    assert_eq!(answer(&model(&one, true), "prompt_parts"), Silent);
}

/// Nobody asks for a millisecond before each prompt: that is neither sampling nor a late part.
#[test]
fn pauses_between_requests_are_nobodys_time() {
    let mut m = in_two(0);
    (1..8).for_each(|request| late(&mut m, request * 6, 1_000_000));
    assert_eq!(["sampling", "prompt_parts"].map(|code| answer(&m, code)), [RuledOut, RuledOut]);
}

/// The second of two prompts comes in two parts, with a call for the first one of 40 ns between them, and 10 ns
/// before and after it: 60 of 270 ns until both have their first token.
#[test]
fn other_sequences_between_the_parts() {
    let m = shared();
    let f = findings(&m);
    let found = f.found.iter().find(|f| f.rule.code == "prompt_parts").unwrap();
    let gain = found.gain().unwrap();
    // Half of the call for the other one is likely, for each of two requests.
    assert_eq!((gain.question, gain.likely_ns), (Question::FirstToken, 20));
    assert!(gain.low_ns <= 10 && gain.high_ns >= 30, "{gain:?}");
    assert_eq!(found.effects[0].ns, 40);
    assert_eq!(evidence(&m, "prompt_parts", "late_ns"), Some(Value::Nanoseconds(30)));
    assert_eq!(evidence(&m, "prompt_parts", "late_for_others_ns"), Some(Value::Nanoseconds(20)));
}
