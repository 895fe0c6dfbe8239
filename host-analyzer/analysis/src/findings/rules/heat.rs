//! The board becomes hot and lowers its clocks.

use std::ops::Range;

use super::super::case::MIN_GAIN_SHARE;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy, of_clocks};
use crate::stats::mean::Mean;
use profinfer_trace::model::GaugeKind;

pub(super) const RULE: Rule = Rule {
    code: "heat",
    topic: "temperature",
    title: "Thermal throttling",
    question: "Why does it become slower in long sessions?",
    condition: "In the last third of the judged calls the CPUs' clock is at least 5 % lower than in the first third, the temperature is higher, and they take longer; calls that read prompts, per token.",
    formula: "The difference between the mean call of the session and that of its first third, with the 95 % interval of the last third's against the first's, and the spread between sessions: what enough cooling would have kept. A longer session loses more.",
    remedy: "Cool the board (heat sink, fan); or use fewer or slower cores, and judge by the sustained speed, not the first seconds.",
    source: "arXiv 2603.23640 (sustained speed on phones and boards); llama.cpp #10444, #7372",
    questions: ANY,
    requires: &[
        Requirement::Calls(LEAST_CALLS),
        Requirement::Gauge("frequency"),
        Requirement::Gauge("temperature"),
    ],
    steps: of_clocks,
    judge,
};

/// Each third has as many as the mean of a series needs.
const LEAST_CALLS: u64 = 24;
/// The clock falls by at least this part.
const FALLS: f64 = 0.05;

fn judge(case: &Case<'_>) -> Verdict {
    let (calls, times) = (&case.calls.all, case.calls.comparable(case.model));
    let n = calls.len() / 3;
    let part = |rows: Range<usize>| {
        let from = calls[rows.clone()].first().map_or(0, |t| t.start_ns);
        let to = calls[rows.clone()].last().map_or(0, |t| t.start_ns + t.time_ns);
        (from, to, case.calls.per_unit(Mean::new(&times[rows])))
    };
    let (first, last) = (part(0..n), part(calls.len() - n..calls.len()));
    let of = |kind| (case.gauge_mean(kind, first.0, first.1), case.gauge_mean(kind, last.0, last.1));
    let ((Some(clock_first), Some(clock_last)), (Some(cool), Some(hot))) =
        (of(GaugeKind::Frequency), of(GaugeKind::Temperature))
    else {
        return Verdict::NotEnoughData(vec![
            Requirement::Gauge("frequency"),
            Requirement::Gauge("temperature"),
        ]);
    };
    let evidence = vec![
        Evidence::new("clock_at_first", Value::Hertz(clock_first as u64), Place::Gauges),
        Evidence::new("clock_at_last", Value::Hertz(clock_last as u64), Place::Gauges),
        Evidence::new("temperature_at_last", Value::Millidegrees(hot as i64), Place::Gauges),
        case.per_unit("time_ns_at_first", Value::Nanoseconds(first.2.mean as u64), Place::Tokens),
        case.per_unit("time_ns_at_last", Value::Nanoseconds(last.2.mean as u64), Place::Tokens),
    ];
    let slower = last.2.minus(first.2);
    let throttled = clock_last <= clock_first * (1.0 - FALLS) && hot > cool;
    if let Some(noisy) = case.noisy(slower, MIN_GAIN_SHARE, &evidence).filter(|_| throttled) {
        return noisy;
    }
    if !throttled || case.share(slower.mean) < MIN_GAIN_SHARE {
        return Verdict::RuledOut(evidence);
    }
    // As little of the mean as the session was hot for.
    let hot_for = (case.calls.unit_ns as f64 - first.2.mean).max(0.0) / slower.mean;
    let gain = case.gain(slower.low() * hot_for, slower.high() * hot_for);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::Cooling,
        gains: vec![gain.in_other_sessions()],
        confidence: Confidence::High,
    })
}
