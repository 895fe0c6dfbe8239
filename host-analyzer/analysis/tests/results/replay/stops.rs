//! Quiet recordings of real engines into which stops are inserted: the original is the exact truth.

use profinfer_analysis::Analysis;
use profinfer_analysis::ladder::{Ladders, Question};
use profinfer_analysis::replay::Cause;
use profinfer_trace::model::{FactScope, Model, Sched, SpanId};

use super::insert::{Place, add_stop, delay_from, ends_after_all_began, meets_inside, stop};
use super::{COMPLETE, recording, sums_are_exact};
use crate::findings::text;

/// A recording without what the scheduler did to it: its own disturbances belong to its usual time.
fn quiet(name: &str) -> Model {
    let mut m = recording(name);
    m.sched = Sched::default();
    m
}

/// Places of a kind, from the last one to the first: in every seventh operator that is long enough,
/// of one decode call in two; at most twelve per call.
fn places(m: &Model, kind: impl Fn(&Model, usize) -> Option<Place>) -> Vec<Place> {
    let s = &m.spans;
    let mut found = Vec::new();
    for (call, rows) in s.by_call() {
        let decode = m.graph_calls.decode[call.0 as usize];
        if decode.is_some_and(|d| m.llama_calls.n_tokens[d.0 as usize] == 1 && d.0 % 2 == 0) {
            found.extend(rows.step_by(7).filter_map(|i| kind(m, i).map(|p| (s.start_ns[i], p))).take(12));
        }
    }
    // Two stops of one operator would overlap.
    found.sort_by_key(|(start, _)| std::cmp::Reverse(*start));
    let apart = |pair: &[(u64, Place)]| pair[0].0 > pair[1].0 + 20_000;
    let keep: Vec<bool> = found.windows(2).map(apart).chain([true]).collect();
    found.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|((_, place), _)| place).collect()
}

/// Inserts the stops, and compares their cost with what the replay assigns to them. Returns the
/// largest relative error.
fn check(name: &str, kind: impl Fn(&Model, usize) -> Option<Place>, ns: u64) {
    check_cause(name, Cause::Stopped, kind, ns, 0.02);
}

fn check_cause(name: &str, cause: Cause, kind: impl Fn(&Model, usize) -> Option<Place>, ns: u64, most: f64) {
    let mut m = quiet(name);
    let places = places(&m, kind);
    assert!(places.len() >= 8, "{name}: {} places", places.len());
    let cost: u64 = places.into_iter().map(|place| stop(&mut m, place, ns)).sum();
    sums_are_exact(&m);
    let a = Analysis::compute(&m);
    let found: u64 = a.replay.calls.iter().map(|c| c.caused.get(cause)).sum();
    let alone: u64 = a.replay.calls.iter().map(|c| c.alone.get(cause)).sum();
    let error = found as f64 / cost as f64 - 1.0;
    println!(
        "{name}: {cause:?} costs {cost} ns, assigned {found} ns, alone {alone} ns ({:+.2} %)",
        error * 100.0
    );
    assert!(error.abs() < most, "{name}: {error}");
    assert_eq!(found, alone);
    in_the_interval(&a.ladder, cost);
}

/// The interval of the gain contains the cost of the stops of decode tokens.
fn in_the_interval(ladders: &Ladders, cost: u64) {
    let decode = ladders.of(Question::Decode).unwrap();
    let gain = decode.all.unwrap();
    assert!(gain.low_ns <= cost && cost <= gain.high_ns + cost / 20, "{gain:?} {cost}");
}

fn long_enough(m: &Model, i: usize) -> bool {
    m.spans.work_ns[i] > 1_000
}

/// Its thread computes another operator of the same graph next.
fn goes_on(m: &Model, i: usize) -> bool {
    let s = &m.spans;
    i + 1 < s.len() && s.graph_call[i] == s.graph_call[i + 1] && s.thread[i] == s.thread[i + 1]
}

/// Its thread computes one before and one after it.
fn between_two(m: &Model, i: usize) -> bool {
    i > 0 && goes_on(m, i) && goes_on(m, i - 1)
}

#[test]
fn stops_inside_operators_cost_what_they_cost() {
    let half = |m: &Model, i: usize| {
        long_enough(m, i).then(|| Place::Operator(SpanId(i as u32), m.spans.work_ns[i] / 2))
    };
    for name in COMPLETE {
        check(name, half, 3_000_000);
        check(name, half, 40_000);
    }
}

#[test]
fn stops_before_the_work_of_an_operator_cost_what_they_cost() {
    let first = |m: &Model, i: usize| long_enough(m, i).then_some(Place::Operator(SpanId(i as u32), 0));
    COMPLETE.iter().for_each(|name| check(name, first, 1_000_000));
}

#[test]
fn stops_in_waits_cost_what_they_cost() {
    let wait = |m: &Model, i: usize| goes_on(m, i).then_some(Place::Wait(SpanId(i as u32)));
    COMPLETE.iter().for_each(|name| check(name, wait, 1_000_000));
}

/// The others start late too, so their own times show no delay.
#[test]
fn stops_before_a_barrier_cost_what_they_cost() {
    let before = |m: &Model, i: usize| {
        let s = &m.spans;
        let next = i + 1 < s.len() && s.graph_call[i] == s.graph_call[i + 1];
        next.then_some(Place::Barrier(SpanId(i as u32)))
    };
    for name in COMPLETE {
        check(name, before, 1_000_000);
        check(name, before, 4_000_000);
    }
}

/// What a thread computes while it wakes others is no work of the operator that follows. After a
/// sleep it is not visible that threads would have begun at different times.
#[test]
fn sleep_at_barriers_costs_what_it_costs() {
    let asleep = |m: &Model, i: usize| between_two(m, i).then_some(Place::Asleep(SpanId(i as u32)));
    COMPLETE.iter().for_each(|name| check_cause(name, Cause::WakeUp, asleep, 60_000, 0.05));
}

/// Inside an operator too, a thread that wakes others or was woken computes nothing of it meanwhile. How long
/// that takes shows between operators.
#[test]
fn sleep_at_barriers_inside_operators_costs_what_it_costs() {
    let asleep = |m: &Model, i: usize| {
        let span = SpanId(i as u32);
        let meets = meets_inside(m, i) && ends_after_all_began(m, i);
        if meets { Some(Place::AsleepInside(span)) } else { between_two(m, i).then_some(Place::Asleep(span)) }
    };
    COMPLETE.iter().for_each(|name| check_cause(name, Cause::WakeUp, asleep, 60_000, 0.05));
}

/// Threads that have one CPU compute one after the other, so what they compute is no loss, whether they sleep
/// at the barrier inside or not.
#[test]
fn threads_that_take_turns_at_one_cpu_lose_nothing() {
    for (name, last_goes_on) in COMPLETE.into_iter().flat_map(|name| [(name, true), (name, false)]) {
        let meets = |m: &Model, i: usize| {
            let may = long_enough(m, i) && meets_inside(m, i) && ends_after_all_began(m, i);
            may.then_some(Place::Turns(SpanId(i as u32), last_goes_on))
        };
        let mut m = quiet(name);
        m.facts.rows.clear();
        let pid = m.threads.get(m.llama_calls.thread[0]).pid;
        text(&mut m, FactScope::Process(pid), "affinity", "0");
        let places = places(&m, meets);
        assert!(places.len() >= 5, "{name}: {} places", places.len());
        m.sched.recorded = true;
        let lost = |m: &Model| {
            let a = Analysis::compute(m);
            a.replay.calls.iter().map(|c| c.caused.total() + c.unexplained_ns).sum::<u64>()
        };
        let before = lost(&m);
        let longer: u64 = places.into_iter().map(|place| stop(&mut m, place, 0)).sum();
        sums_are_exact(&m);
        let lost = lost(&m).saturating_sub(before);
        println!("{name}, {last_goes_on}: {longer} ns longer, {lost} ns lost");
        assert!(lost * 20 < longer, "{name}, {last_goes_on}: {lost} of {longer} ns");
    }
}

#[test]
fn stops_between_calls_cost_what_they_cost() {
    for name in COMPLETE {
        let mut m = quiet(name);
        let single = |i: &usize| m.llama_calls.n_tokens[*i] == 1 && m.llama_calls.n_tokens[*i + 1] == 1;
        let calls: Vec<usize> = (0..m.llama_calls.len() - 1).filter(single).step_by(3).collect();
        let cost: u64 = calls.iter().rev().map(|i| stop(&mut m, Place::BetweenCalls(*i), 5_000_000)).sum();
        sums_are_exact(&m);
        let a = Analysis::compute(&m);
        let found: u64 = a.replay.calls.iter().map(|c| c.caused.get(Cause::Stopped)).sum();
        assert_eq!(found, cost, "{name}");
    }
}

/// The agent holds the engine there until its probes are attached.
#[test]
fn a_stop_before_the_first_operator_is_the_agents() {
    for name in COMPLETE {
        let mut m = quiet(name);
        let first = m.spans.start_ns.iter().copied().min().unwrap();
        let caller = m.llama_calls.thread[0];
        delay_from(&mut m, first, 3_000_000);
        add_stop(&mut m, caller, first, 3_000_000);
        sums_are_exact(&m);
        let a = Analysis::compute(&m);
        let of = |cause| a.replay.calls.iter().map(|c| c.caused.get(cause)).sum::<u64>();
        // Threads that begin with it may wait longer.
        assert!(of(Cause::Agent) >= 3_000_000, "{name}");
        assert_eq!(of(Cause::Stopped), 0, "{name}");
    }
}
