//! Sessions in which operator probes were there for some of the tokens.

use std::ops::Range;

use profinfer_trace::model::*;
use profinfer_trace::test_support::random::Random;

use super::planted;
use super::small::PID;

/// Leaves the operators of these token calls in a session, and takes out those of all others, as if the probes had been put in
/// just before and taken out just behind each range. Putting in ends with the call before the range, so that this call is at an edge,
/// and taking out begins with the call behind it, which is at an edge too.
pub(crate) fn thin(m: &mut Model, traced: &[Range<usize>]) {
    let pid = m.threads.get(m.llama_calls.thread[0]).pid;
    let switch = |on, reason, began_ns, done_ns| ProbeSwitch {
        pid,
        on,
        reason,
        began_ns,
        done_ns,
        probes: 2,
        pause_ns: Some(900),
    };
    let start = |call: usize| m.llama_calls.start_ns[call];
    let mut switches = vec![switch(false, SwitchReason::Begin, 0, 0)];
    for range in traced {
        let began = range.start.checked_sub(1).map_or(1, |before| start(before) + 1);
        switches.push(switch(true, SwitchReason::Duty, began, start(range.start) - 1));
        if range.end < m.llama_calls.len() {
            switches.push(switch(false, SwitchReason::Duty, start(range.end), start(range.end) + 1));
        }
    }
    m.duty.switches = switches;
    m.capture.duty_permille = 100;
    keep_spans(m, |decode| traced.iter().any(|range| range.contains(&decode)));
}

/// Takes out the spans of other token calls.
fn keep_spans(m: &mut Model, keep: impl Fn(usize) -> bool) {
    let decode = &m.graph_calls.decode;
    let kept: Vec<bool> = (m.spans.graph_call.iter())
        .map(|call| decode[call.0 as usize].is_none_or(|d| keep(d.0 as usize)))
        .collect();
    fn only<T>(column: &mut Vec<T>, kept: &[bool]) {
        let mut rows = kept.iter();
        column.retain(|_| *rows.next().unwrap());
    }
    let s = &mut m.spans;
    only(&mut s.graph_call, &kept);
    only(&mut s.thread, &kept);
    only(&mut s.node, &kept);
    only(&mut s.last_node, &kept);
    only(&mut s.start_ns, &kept);
    only(&mut s.work_ns, &kept);
    only(&mut s.wait_ns, &kept);
    only(&mut s.cpu, &kept);
    only(&mut s.migrated, &kept);
    let n = m.spans.len() as u64;
    m.health.spans_received = n;
    m.health.ledger = Some(Ledger { span_starts: n, span_ends: n, spans_sent: n, ..Ledger::default() });
}

/// What to make of tokens without operators, whose times alone count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) tokens: usize,
    /// Tokens of a burst, and from the start of one to that of the next.
    pub(crate) burst: usize,
    pub(crate) period: usize,
    /// A traced token takes so many times as long.
    pub(crate) factor: f64,
    /// Deviation of a token's time, and of a burst's, as parts of it.
    pub(crate) noise: f64,
    pub(crate) weather: f64,
    /// Growth with every token, ns.
    pub(crate) growth: f64,
}

/// A tenth of the tokens, which take 5 % longer.
pub(crate) const TIMES: Times =
    Times { tokens: 800, burst: 4, period: 40, factor: 1.05, noise: 0.0, weather: 0.0, growth: 0.0 };

/// Time of a token, ns.
pub(crate) const TOKEN_NS: f64 = 1e7;

/// The session; a prompt, then the tokens.
pub(crate) fn timed(t: &Times, seed: u64) -> Model {
    let mut m = Model::default();
    let thread = m.threads.find_or_add(100);
    m.threads.describe(thread, 7, Text::default());
    let mut random = Random(seed);
    let traced = |i: usize| i % t.period >= t.period / 2 && i % t.period < t.period / 2 + t.burst;
    let (mut now, mut weather, mut place) = (1_000_000, 0.0, usize::MAX);
    let mut ranges = Vec::new();
    for i in 0..=t.tokens {
        // The weather changes with the periods: a burst and its neighbours have the same.
        if i / t.period != place {
            (place, weather) = (i / t.period, random.normal() * t.weather);
        }
        let factor = if i > 0 && traced(i) { t.factor } else { 1.0 };
        let ns = (TOKEN_NS + t.growth * i as f64) * factor * (1.0 + weather + random.normal() * t.noise);
        let d = &mut m.llama_calls;
        d.start_ns.push(now);
        d.duration_ns.push(ns as u64);
        d.function.push(DecodeFunction::LlamaDecode);
        d.thread.push(thread);
        d.context.push(1);
        d.n_tokens.push(if i == 0 { 16 } else { 1 });
        d.status.push(0);
        now += ns as u64 + 1_000;
        if i > 0 && traced(i) && !traced(i - 1) {
            ranges.push(i..(i + t.burst).min(t.tokens + 1));
        }
    }
    thin(&mut m, &ranges);
    m
}

/// What the times of [`everything`] are from.
const START: u64 = 500;

/// Forty tokens with all that a capture may tell: a duty, filters in force and refused, a refused option, steps of a controller.
pub(crate) fn everything() -> Model {
    let mut m = planted::tokens(0, 0, 0, false);
    thin(&mut m, &[10..12, 30..32]);
    m.session.start_ns = START;
    m.capture.keep_above_milli = Some(5_000);
    m.capture.refused = vec![(CaptureOption::Ends, Refusal::Counters)];
    let filter = |on, text: &str, place, refused| Filter { on, text: text.to_owned(), place, refused };
    m.capture.filters = vec![
        filter(FilterOn::Token, "1-400", FilterPlace::Trap, None),
        filter(FilterOn::Request, "3-5", FilterPlace::Nowhere, Some(Refusal::Unseen)),
    ];
    let step = |at_ns, reason, speed, before, after| ControllerStep {
        at_ns,
        pid: PID,
        limit: ControllerLimit::KeepAbove(5_000),
        reason,
        speed_milli: Some(speed),
        slowdown: Some(MeasuredSlowdown { low_ppm: 1_000, ppm: 2_000, high_ppm: 3_000 }),
        before_permille: before,
        after_permille: after,
    };
    m.controller_steps = vec![
        step(5_000, StepReason::TooSlow, 4_200, 1_000, 100),
        step(15_000, StepReason::FastEnough, 6_100, 100, 300),
    ];
    m
}
