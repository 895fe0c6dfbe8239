//! What the engine does for itself: copies of states, and allocations of graphs.

use profinfer_analysis::Analysis;
use profinfer_analysis::findings::{Remedy, Requirement, Value};
use profinfer_analysis::ladder::{Question, StepKind};
use profinfer_trace::model::*;

use super::Answer::{Found, NotKnown, RuledOut, Silent};
use super::{PROCESS, answer, evidence, findings, number, remedy};
use crate::models::calls::{call, model};
use crate::models::planted::{Plant, TOKENS, each, tokens};
use crate::models::small::PID;

/// In each token's gap of `gap` + 50 ns, or in its call of 400, `length` ns of this work.
fn with(gap: u64, kind: HousekeepingKind, into: u64, length: u64) -> Model {
    let mut m = each(|_| Plant { before: gap, ..Plant::default() });
    for call in 0..TOKENS as usize {
        let start_ns = m.llama_calls.start_ns[call] + into - gap;
        let done = Housekeeping { pid: PID, tid: 100, kind, start_ns, duration_ns: length, bytes: 1 << 20 };
        m.housekeeping.push(done);
    }
    m
}

const SAVE: HousekeepingKind = HousekeepingKind::SaveState;

#[test]
fn copies_of_states_are_not_sampling() {
    let m = with(1_000_000, SAVE, 0, 900_000);
    let Found(low, high) = answer(&m, "state_copies") else { panic!("{:?}", answer(&m, "state_copies")) };
    // 0.9 ms of 1.0005 in each token, which differs by 7.8 % from session to session.
    assert!(low <= 900_000 && 900_000 <= high && high - low < 150_000, "{low} to {high}");
    assert_eq!(remedy(&m, "state_copies"), Remedy::FewerStateCopies);
    assert_eq!(evidence(&m, "state_copies", "saved_states"), Some(Value::Count(TOKENS)));
    assert_eq!(evidence(&m, "state_copies", "bytes_of_a_state"), Some(Value::Bytes(1 << 20)));
    // The application has the other 0.1 ms, which is what any has.
    assert_eq!(answer(&m, "sampling"), RuledOut);
    assert_eq!(answer(&with(1_000_000, SAVE, 0, 9_000), "state_copies"), RuledOut);
    assert_eq!(answer(&tokens(0, 0, 0, false), "state_copies"), Silent);
}

/// A server saves what a slot held before it reads the next prompt: between the last call of a request and the
/// first one of the next.
#[test]
fn copies_before_a_prompt_delay_its_first_token() {
    // Requests of a prompt and four tokens, in calls of 100 ns, 10 ns apart, but 1,000 before each prompt.
    let with = |copy: u64| {
        let mut calls = Vec::new();
        for request in 0..10_u32 {
            let past = request * 24;
            calls.push(call(0x5000, 20, &[1], past));
            calls.extend((0..4).map(|i| call(0x5000, 1, &[1], past + 20 + i)));
        }
        let mut m = model(&calls, true);
        let later = |start: &mut u64| *start += (*start - 1_000) / 550 * 1_000;
        m.llama_calls.start_ns.iter_mut().for_each(later);
        m.graph_calls.start_ns.iter_mut().for_each(later);
        m.spans.start_ns.iter_mut().for_each(later);
        for prompt in (5..m.llama_calls.len()).step_by(5) {
            let start_ns = m.llama_calls.start_ns[prompt] - 950;
            let caller = m.threads.get(m.llama_calls.thread[prompt]);
            let (pid, tid) = (caller.pid, caller.tid);
            m.housekeeping.push(Housekeeping { pid, tid, kind: SAVE, start_ns, duration_ns: copy, bytes: 1 });
        }
        m
    };
    let m = with(900);
    let first = findings(&m).found.into_iter().find(|f| f.rule.code == "state_copies").unwrap();
    let gain = first.gain().unwrap();
    // Nine of ten requests wait 900 ns.
    assert_eq!((gain.question, gain.likely_ns), (Question::FirstToken, 810));
    assert_eq!(evidence(&m, "state_copies", "before_request_ns"), Some(Value::Nanoseconds(810)));
    assert_eq!(answer(&with(1), "state_copies"), RuledOut);
}

#[test]
fn memory_that_grows_by_kept_states() {
    let grown = |copies: usize, last: u64| {
        let mut m = with(1_000, SAVE, 0, 100);
        m.housekeeping.truncate(copies);
        for (name, values) in [("rss.anonymous", [1_u64 << 20, last]), ("memory.available", [64 << 20; 2])] {
            let scope = if name == "rss.anonymous" { PROCESS } else { FactScope::System };
            values.iter().for_each(|v| number(&mut m, scope, name, *v));
        }
        m
    };
    let m = grown(8, 9 << 20);
    assert_eq!(
        (answer(&m, "kept_states"), remedy(&m, "kept_states")),
        (Found(0, 0), Remedy::FewerStateCopies)
    );
    assert_eq!(evidence(&m, "kept_states", "memory_grew"), Some(Value::Bytes(8 << 20)));
    // Less than a twentieth of what is available; and what grew is something else.
    assert_eq!(
        [grown(8, 3 << 20), grown(8, 40 << 20)].map(|m| answer(&m, "kept_states")),
        [RuledOut, RuledOut]
    );
    assert_eq!(answer(&grown(3, 9 << 20), "kept_states"), Silent);
}

#[test]
fn graphs_that_are_allocated_anew() {
    // A token is 450 ns, the first 20 of its call before the graph.
    let m = with(0, HousekeepingKind::AllocateGraph, 2, 16);
    let Found(low, high) = answer(&m, "allocation") else { panic!("{:?}", answer(&m, "allocation")) };
    assert!(low <= 16 && 16 <= high, "{low} to {high}");
    assert_eq!(remedy(&m, "allocation"), Remedy::SteadyShapes);
    let f = findings(&m);
    let found = f.found.iter().find(|f| f.rule.code == "allocation").unwrap();
    assert_eq!(found.gain().unwrap().question, Question::Decode);
    assert_eq!(evidence(&m, "allocation", "allocation_ns"), Some(Value::Nanoseconds(16)));
    assert_eq!(answer(&with(0, HousekeepingKind::AllocateGraph, 2, 2), "allocation"), RuledOut);
    // Between two calls: the engine creates a context.
    assert_eq!(answer(&with(1_000, HousekeepingKind::AllocateGraph, 10, 500), "allocation"), Silent);
}

/// Another backend computes after the call has returned: the engine waits for it where it takes the outputs.
#[test]
fn waits_for_other_backends_are_not_sampling() {
    let mut m = with(1_000_000, HousekeepingKind::Synchronize, 0, 900_000);
    m.sched.recorded = true;
    let step = |kind: StepKind| {
        let analysis = Analysis::compute(&m);
        let ladder = analysis.ladder.of(Question::Decode).unwrap();
        ladder.sum(|k| k == kind) / i64::try_from(ladder.units).unwrap()
    };
    assert_eq!((step(StepKind::OtherBackend), step(StepKind::Application)), (900_000, 100_050));
    assert_eq!(answer(&m, "sampling"), RuledOut);
    // Threads of its driver may run.
    assert_eq!(answer(&m, "idle_team"), Silent);
}

#[test]
fn without_the_waits_for_other_backends_nothing_is_said_of_sampling() {
    let mut m = each(|_| Plant { before: 1_000_000, ..Plant::default() });
    assert!(matches!(answer(&m, "sampling"), Found(..)));
    let vulkan = m.texts.intern("Vulkan");
    let split = m.graph_calls.layer.iter().position(|layer| *layer == Layer::Backend).unwrap();
    m.graph_calls.backend[split] = vulkan;
    assert_eq!(answer(&m, "sampling"), NotKnown(vec![Requirement::WaitsForBackends]));
    m.session.probes.push(Probe {
        pid: PID,
        level: Some(Level::Graph),
        what: String::new(),
        symbol: "ggml_backend_sched_synchronize".to_owned(),
        library: String::new(),
        offset: 1,
        attached: true,
        note: String::new(),
    });
    assert_ne!(answer(&m, "sampling"), NotKnown(vec![Requirement::WaitsForBackends]));
}
