//! Which time each question covers.

use profinfer_analysis::Analysis;
use profinfer_analysis::ladder::{Ladder, Question, StepKind};
use profinfer_analysis::replay::Cause;
use profinfer_trace::model::*;

use super::{COMPLETE, recording, sums_are_exact};
use crate::models::graph::outer_graph;

/// Calls of process and thread 1: function, context, tokens, start, end.
pub(crate) type Row = (DecodeFunction, u64, u32, u64, u64);

pub(crate) const DECODE: DecodeFunction = DecodeFunction::LlamaDecode;

pub(crate) fn calls(rows: &[Row]) -> Model {
    let mut m = Model::default();
    let thread = m.threads.find_or_add(1);
    m.threads.describe(thread, 1, Text::default());
    let mut past = std::collections::HashMap::new();
    for (i, (function, context, n_tokens, start, end)) in (0..).zip(rows) {
        let p = &mut m.parts;
        p.decode.push(LlamaCallId(i));
        p.first.push(0);
        p.n.push(*n_tokens);
        p.seq.push(None);
        p.n_seq.push(0);
        let past: &mut i32 = past.entry(*context).or_default();
        p.pos.push(Some(*past));
        *past += *n_tokens as i32;
        p.same.push(false);
        p.outputs.push(None);
        let d = &mut m.llama_calls;
        d.start_ns.push(*start);
        d.duration_ns.push(end - start);
        d.function.push(*function);
        d.thread.push(thread);
        d.context.push(*context);
        d.n_tokens.push(*n_tokens);
        d.status.push(0);
    }
    m
}

pub(crate) fn ladders(m: &Model) -> Vec<Ladder> {
    sums_are_exact(m);
    Analysis::compute(m).ladder.rows
}

pub(crate) fn of(rows: &[Ladder], question: Question) -> Option<&Ladder> {
    rows.iter().find(|l| l.question == question)
}

pub(crate) fn step(ladder: &Ladder, kind: StepKind) -> i64 {
    ladder.steps.iter().filter(|s| s.kind == kind).map(|s| s.ns).sum()
}

#[test]
fn the_first_token_is_the_prompt_and_what_follows_until_the_next_call() {
    let m = calls(&[
        // A prompt in two parts, and three tokens; then a prompt without an answer.
        (DECODE, 7, 512, 1_000, 1_500),
        (DECODE, 7, 100, 1_510, 1_700),
        (DECODE, 7, 1, 1_730, 1_800),
        (DECODE, 7, 1, 1_801, 1_900),
        (DECODE, 7, 1, 1_902, 2_000),
        (DECODE, 7, 40, 9_000, 9_100),
    ]);
    let rows = ladders(&m);
    let first = of(&rows, Question::FirstToken).unwrap();
    assert_eq!((first.units, first.measured_ns), (1, 1_730 - 1_000));
    assert_eq!(step(first, StepKind::Application), 10 + 30);
    let between = of(&rows, Question::BetweenCalls).unwrap();
    assert_eq!((between.units, between.measured_ns), (5, 10 + 30 + 1 + 2 + 7_000));
    assert_eq!(of(&rows, Question::Encode), None);
    assert_eq!(of(&rows, Question::StartUp), None);
}

#[test]
fn a_call_of_an_encoder_is_neither_prompt_nor_token() {
    let m = calls(&[
        (DecodeFunction::LlamaEncode, 7, 20, 1_000, 1_500),
        (DecodeFunction::LlamaEncode, 7, 20, 1_600, 2_000),
        (DECODE, 8, 1, 3_000, 3_100),
        (DECODE, 8, 1, 3_200, 3_300),
    ]);
    let rows = ladders(&m);
    let encode = of(&rows, Question::Encode).unwrap();
    assert_eq!((encode.units, encode.measured_ns), (2, 500 + 400));
    assert_eq!(of(&rows, Question::Prompt), None);
    assert_eq!(of(&rows, Question::FirstToken), None);
    assert_eq!(of(&rows, Question::Decode).unwrap().measured_ns, 3_300 - 2_000);
    // The first call of the decoder follows a call of another context.
    let between = of(&rows, Question::BetweenCalls).unwrap();
    assert_eq!((between.units, between.measured_ns), (2, 200));
}

#[test]
fn sleep_between_calls_is_told_from_the_application() {
    let mut m = calls(&[(DECODE, 7, 4, 0, 100), (DECODE, 7, 1, 1_100, 1_200)]);
    m.sched.recorded = true;
    let thread = ThreadId(0);
    for (start, duration, state) in [
        (0, 300, ThreadState::Running),
        (300, 500, ThreadState::Sleeping),
        (800, 100, ThreadState::Stopped),
        (900, 300, ThreadState::Running),
    ] {
        let s = &mut m.sched.states;
        s.thread.push(thread);
        s.start_ns.push(start);
        s.duration_ns.push(duration);
        s.state.push(state);
        s.cpu.push(0);
    }
    let rows = ladders(&m);
    let between = of(&rows, Question::BetweenCalls).unwrap();
    let of = |kind| step(between, kind);
    assert_eq!(of(StepKind::Idle), 500);
    assert_eq!(of(StepKind::Caused(Cause::Stopped)), 100);
    assert_eq!(of(StepKind::Application), 200 + 200);
}

/// A server copies the state of a sequence between two calls, and the engine allocates a graph in a call.
#[test]
fn copies_of_states_and_allocations_are_steps() {
    let mut m = calls(&[
        (DECODE, 7, 512, 1_000, 1_500),
        (DECODE, 7, 4, 1_700, 1_800),
        (DECODE, 7, 1, 1_900, 2_000),
        (DECODE, 7, 1, 2_010, 2_100),
    ]);
    let done = |tid, kind, start_ns, duration_ns| Housekeeping {
        pid: 1,
        tid,
        kind,
        start_ns,
        duration_ns,
        bytes: 8,
    };
    m.housekeeping = vec![
        // In the call itself it belongs to the call.
        done(1, HousekeepingKind::SaveState, 1_400, 50),
        done(1, HousekeepingKind::SaveState, 1_510, 150),
        // Another thread's does not delay this one.
        done(2, HousekeepingKind::SaveState, 1_820, 30),
        // It goes on in the call, where it is not counted.
        done(1, HousekeepingKind::RestoreState, 1_880, 40),
    ];
    let rows = ladders(&m);
    let first = of(&rows, Question::FirstToken).unwrap();
    assert_eq!(first.measured_ns, 1_900 - 1_000);
    assert_eq!(step(first, StepKind::StateCopies), 150 + 20);
    assert_eq!(step(first, StepKind::Application), 50 + 80);
    let between = of(&rows, Question::BetweenCalls).unwrap();
    assert_eq!(step(between, StepKind::StateCopies), 150 + 20);
}

/// An encoder reads an image before the first part of a prompt, or between two parts. In a trial call before
/// it, the engine warms up.
#[test]
fn an_encoder_is_a_step_of_the_first_token() {
    let mut m = calls(&[
        (DECODE, 7, 40, 1_000, 1_100),
        (DECODE, 7, 9, 1_400, 1_500),
        (DECODE, 7, 1, 1_510, 1_600),
        // A second prompt begins with its image.
        (DECODE, 7, 30, 5_000, 5_100),
        (DECODE, 7, 1, 5_110, 5_200),
    ]);
    for (start, length) in [(1_110, 250), (4_000, 900)] {
        outer_graph(&mut m, start, length);
    }
    let rows = ladders(&m);
    let first = of(&rows, Question::FirstToken).unwrap();
    assert_eq!((first.units, first.measured_ns), (2, (1_510 - 1_000) + (5_110 - 4_000)));
    assert_eq!(step(first, StepKind::Encoder), 250 + 900);
    assert_eq!(step(first, StepKind::Application), 10 + 40 + 10 + 100 + 10);
    let between = of(&rows, Question::BetweenCalls).unwrap();
    assert_eq!(step(between, StepKind::Encoder), 250 + 900);
    let requests = Analysis::compute(&m).token.requests;
    let of: Vec<_> = requests.iter().map(|r| (r.ttft_ns, r.encode_ns)).collect();
    assert_eq!(of, [(Some(500), 250), (Some(1_100), 900)]);
}

pub(crate) fn sample(
    at_ns: u64,
    moment: StartMoment,
    run: u64,
    wait: u64,
    read: u64,
    held_ns: u64,
) -> StartSample {
    StartSample {
        pid: 1,
        at_ns,
        exec_ns: 1_000,
        moment,
        run_ns: Some(run),
        wait_ns: Some(wait),
        user_ns: Some(run / 4 * 3),
        system_ns: Some(run / 4),
        process_ns: Some(run + 50),
        minor_faults: Some(run),
        major_faults: Some(0),
        read_bytes: Some(read),
        resident_bytes: Some(4_096),
        file_bytes: Some(1_024),
        held_ns,
    }
}

#[test]
fn a_start_is_split_by_the_counts_of_the_kernel() {
    let mut m = calls(&[(DECODE, 7, 4, 5_000, 5_100), (DECODE, 7, 1, 5_200, 5_300)]);
    m.start_ups = vec![
        // Ten after the exec; then 400 on the CPU and 90 held; then 2,000 with reads, 1,200 of them
        // on the CPU and 200 waiting; then 1,000 of sleep without reads; the last sample is late.
        sample(1_010, StartMoment::Sample, 0, 0, 0, 0),
        sample(1_500, StartMoment::EngineLoaded, 400, 0, 0, 90),
        sample(3_500, StartMoment::Sample, 1_600, 200, 8_192, 90),
        sample(4_500, StartMoment::Sample, 1_600, 200, 8_192, 90),
        sample(5_020, StartMoment::FirstCall, 2_000, 200, 8_192, 90),
    ];
    let rows = ladders(&m);
    let start = of(&rows, Question::StartUp).unwrap();
    assert_eq!((start.units, start.measured_ns), (1, 4_000));
    let of = |kind| step(start, kind);
    assert_eq!(of(StepKind::NotRecorded), 10);
    assert_eq!(of(StepKind::BeforeEngine), 400);
    assert_eq!(of(StepKind::Probes), 90);
    assert_eq!(of(StepKind::PageIn), 600);
    assert_eq!(of(StepKind::Caused(Cause::UnknownHolder)), 200);
    assert_eq!(of(StepKind::Caused(Cause::Asleep)), 1_000 + 100);
    // A quarter of the 1,600 on the CPU after the engine was loaded.
    assert_eq!(of(StepKind::PageFaults), 400);
    assert_eq!(of(StepKind::Loading), 1_200);
    let counts = start.start_up.unwrap();
    assert_eq!(counts.reading_ns, 2_000);
    assert_eq!((counts.read_bytes, counts.minor_faults, counts.other_threads_ns), (8_192, 2_000, 0));
    assert_eq!((counts.resident_bytes, counts.file_bytes), (4_096, 1_024));
}

/// The functions of the loader say which part of the time is whose.
#[test]
fn a_start_is_split_by_what_the_engine_does() {
    let mut m = calls(&[(DECODE, 7, 4, 5_000, 5_100)]);
    m.start_ups = vec![
        sample(1_000, StartMoment::EngineLoaded, 0, 0, 0, 0),
        // 400 of arguments, 2,000 of the model, 40 between, 800 of the context, and the rest.
        sample(1_400, StartMoment::ModelBegins, 400, 0, 0, 0),
        sample(2_000, StartMoment::Sample, 1_000, 0, 0, 0),
        sample(3_400, StartMoment::ModelLoaded, 2_400, 0, 0, 0),
        sample(3_440, StartMoment::ContextBegins, 2_440, 0, 0, 0),
        sample(4_240, StartMoment::ContextCreated, 3_240, 0, 0, 0),
        sample(5_000, StartMoment::FirstCall, 4_000, 0, 0, 0),
    ];
    let rows = ladders(&m);
    let start = of(&rows, Question::StartUp).unwrap();
    let of = |kind| step(start, kind);
    // A quarter is in the kernel.
    assert_eq!((of(StepKind::Loading), of(StepKind::Context)), (1_500, 600));
    assert_eq!(of(StepKind::Application), (400 + 40 + 760) / 4 * 3);
    assert_eq!(of(StepKind::PageFaults), 1_000);
}

#[test]
fn a_start_without_the_time_on_the_cpu_is_not_recorded() {
    let mut m = calls(&[(DECODE, 7, 4, 5_000, 5_100)]);
    let blind = |s| StartSample { run_ns: None, wait_ns: None, ..s };
    m.start_ups = vec![
        blind(sample(1_000, StartMoment::Sample, 0, 0, 0, 0)),
        blind(sample(5_000, StartMoment::FirstCall, 2_000, 0, 8_192, 30)),
    ];
    let rows = ladders(&m);
    let start = of(&rows, Question::StartUp).unwrap();
    assert_eq!(step(start, StepKind::NotRecorded), 4_000 - 30);
}

/// The calls of the recordings follow each other, so both times are differences of two clocks.
#[test]
fn first_tokens_and_gaps_of_real_recordings_are_differences_of_times() {
    for name in COMPLETE {
        let m = recording(name);
        let rows = ladders(&m);
        let d = &m.llama_calls;
        let end = |i: usize| d.start_ns[i] + d.duration_ns[i];
        let answer = (1..d.len()).find(|i| d.n_tokens[*i] == 1 && d.n_tokens[*i - 1] > 1).unwrap();
        let prompt = (0..answer).rev().take_while(|i| d.n_tokens[*i] > 1).last().unwrap();
        // The oldest recording has no positions, so its requests are unknown.
        let first = of(&rows, Question::FirstToken);
        assert_eq!(first.is_none(), name == "demo.pfi");
        if let Some(first) = first.filter(|first| first.units == 1) {
            assert_eq!(first.measured_ns, d.start_ns[answer] - d.start_ns[prompt], "{name}");
        }
        let all: u64 = (prompt + 1..d.len()).map(|i| d.start_ns[i] - end(i - 1)).sum();
        assert_eq!(of(&rows, Question::BetweenCalls).unwrap().measured_ns, all, "{name}");
    }
}
