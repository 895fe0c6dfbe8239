//! The ladders of many parts of a session as one.

use std::collections::{BTreeMap, BTreeSet};

use profinfer_analysis::Analysis;
use profinfer_analysis::ladder::{Ladder, LadderSum, LadderSums, MOST_PROGRAMS, Question, StepKind};
use profinfer_trace::model::{Model, ThreadId};

use crate::models::planted::{DELAY, TOKENS, disturbed};
use crate::models::small::PID;
use crate::replay::{RECORDINGS, recording};

/// What the sum keeps apart of a ladder's steps: the operators are one step, and so are all programs
/// here, because small ones are not in the ladder.
fn kinds(steps: impl Iterator<Item = (StepKind, i64)>) -> BTreeMap<StepKind, i64> {
    let mut of_kind = BTreeMap::new();
    for (kind, ns) in steps {
        let kind = match kind {
            StepKind::Floor => StepKind::AboveFloor,
            StepKind::Caused(_) => StepKind::SmallCauses,
            kind => kind,
        };
        *of_kind.entry(kind).or_default() += ns;
    }
    of_kind
}

fn of_sum(sum: &LadderSum) -> BTreeMap<StepKind, i64> {
    kinds(sum.steps().into_iter().map(|(kind, ns)| (kind, ns.cast_signed())))
}

fn of(sums: &LadderSums, pid: u32, question: Question) -> Option<LadderSum> {
    sums.of(pid).into_iter().find(|(of, _)| *of == question).map(|(_, sum)| sum)
}

#[test]
fn the_sums_of_one_part_are_its_ladders() {
    let mut questions = BTreeSet::new();
    for m in RECORDINGS.iter().map(|name| recording(name)).chain([disturbed()]) {
        let a = Analysis::compute(&m);
        let mut sums = LadderSums::default();
        sums.add(&m, &a.phases, &a.replay);
        // Requests and starts are not summed.
        let summed = |l: &&Ladder| !matches!(l.question, Question::FirstToken | Question::StartUp);
        for ladder in a.ladder.rows.iter().filter(summed) {
            let sum = of(&sums, ladder.pid, ladder.question).unwrap();
            assert_eq!((sum.parts, sum.units, sum.measured_ns), (1, ladder.units, ladder.measured_ns));
            assert_eq!(of_sum(&sum), kinds(ladder.steps.iter().map(|s| (s.kind, s.ns))));
            questions.insert(ladder.question);
            // The same part again: its calls are counted.
            let mut again = sums.clone();
            again.add(&m, &a.phases, &a.replay);
            let twice = of(&again, ladder.pid, ladder.question).unwrap();
            assert_eq!((twice.parts, twice.units, twice.measured_ns), (2, sum.units, sum.measured_ns));
            assert_eq!(twice.steps(), sum.steps());
        }
    }
    assert!(questions.len() >= 3, "{questions:?}");
}

/// The disturbed session, later, of another process, with another program.
fn part(later: u64, pid: u32, program: &str) -> Model {
    let mut m = disturbed();
    let moved = [
        &mut m.llama_calls.start_ns,
        &mut m.graph_calls.start_ns,
        &mut m.spans.start_ns,
        &mut m.sched.states.start_ns,
        &mut m.sched.turns.start_ns,
    ];
    moved.into_iter().flatten().for_each(|ns| *ns += later);
    (0..2).for_each(|thread| m.threads.describe(ThreadId(thread), pid, Default::default()));
    m.sched.tasks[0].name = m.texts.intern(program);
    m
}

/// Duration of a part and more, ns.
const LATER: u64 = 1_000_000;

#[test]
fn a_session_of_any_length_is_kept_in_bounded_memory() {
    let (mut sums, parts) = (LadderSums::default(), 3 * MOST_PROGRAMS as u64);
    let mut entries = Vec::new();
    for i in 0..parts {
        sums.add_model(&part(i * LATER, PID, &format!("program-{i}")));
        let sum = of(&sums, PID, Question::Decode).unwrap();
        entries.push(sum.programs.names().count());
    }
    let sum = of(&sums, PID, Question::Decode).unwrap();
    // The first token of each part warms up.
    assert_eq!((sum.parts, sum.units), (parts, parts * (TOKENS - 1)));
    assert_eq!(sum.steps().iter().map(|(_, ns)| ns).sum::<u64>(), sum.measured_ns);
    // None of so many programs is large.
    let small = sum.steps().into_iter().find(|(kind, _)| *kind == StepKind::SmallCauses);
    assert_eq!(small.map(|(_, ns)| ns), Some(parts * (TOKENS - 1) * DELAY));
    assert!(sum.steps().iter().all(|(kind, _)| kind.program().is_none()), "{:?}", sum.steps());
    // More parts and calls have no more entries.
    assert_eq!(entries[MOST_PROGRAMS / 2], MOST_PROGRAMS / 2 + 1);
    assert!(entries[MOST_PROGRAMS..].iter().all(|n| *n == MOST_PROGRAMS), "{entries:?}");
}

#[test]
fn programs_of_one_name_are_one_and_engines_are_apart() {
    let mut sums = LadderSums::default();
    for i in 0..40 {
        let pid = if i % 2 == 0 { PID } else { 1_000 + u32::try_from(i).unwrap() };
        sums.add_model(&part(i * LATER, pid, "hog"));
    }
    let sum = of(&sums, PID, Question::Decode).unwrap();
    assert_eq!((sum.parts, sum.programs.names().collect::<Vec<_>>()), (20, vec!["hog"]));
    // An engine that restarts is a new process: those that called last are kept.
    let kept = (0..40).filter(|i| !sums.of(1_000 + i).is_empty()).collect::<Vec<_>>();
    assert_eq!(kept, [27, 29, 31, 33, 35, 37, 39]);
    assert_eq!(sums.latest(), Some(1_039));
}
