//! The board becomes hot and lowers its clocks.

use super::super::case::{MIN_TOKENS, WORTH};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Missing, Rule, Verdict};
use super::Remedy;
use crate::analyses::budget::TokenBudget;
use crate::model::GaugeKind;

pub(super) const RULE: Rule = Rule {
    code: "heat",
    title: "Thermal throttling",
    question: "Why does it become slower in long sessions?",
    condition: "In the last third of the decode tokens the CPUs' clock is at least 5 % lower than in the first third, the temperature is higher, and tokens take longer.",
    formula: "The difference between the mean token of the session and that of its first third, 0.5 to 1.2 of it: what enough cooling would have kept. A longer session loses more.",
    remedy: "Cool the board (heat sink, fan); or use fewer or slower cores, and judge by the sustained speed, not the first seconds.",
    source: "arXiv 2603.23640 (sustained speed on phones and boards); llama.cpp #10444, #7372",
    needs: &[Missing::DecodeCalls(MIN_TOKENS), Missing::Gauge("frequency"), Missing::Gauge("temperature")],
    judge,
};

/// The clock falls by at least this part.
const FALLS: f64 = 0.05;

fn judge(case: &Case<'_>) -> Verdict {
    let n = case.tokens.len() / 3;
    let third = |tokens: &[&TokenBudget]| {
        let from = tokens.first().map_or(0, |t| t.start_ns);
        let to = tokens.last().map_or(0, |t| t.start_ns + t.time_ns);
        let time = tokens.iter().map(|t| t.time_ns as f64).sum::<f64>() / tokens.len().max(1) as f64;
        (from, to, time)
    };
    let (first, last) = (third(&case.tokens[..n]), third(&case.tokens[case.tokens.len() - n..]));
    let of = |kind| (case.gauge_mean(kind, first.0, first.1), case.gauge_mean(kind, last.0, last.1));
    let ((Some(clock_first), Some(clock_last)), (Some(cool), Some(hot))) =
        (of(GaugeKind::Frequency), of(GaugeKind::Temperature))
    else {
        return Verdict::NotEnoughData(vec![Missing::Gauge("frequency"), Missing::Gauge("temperature")]);
    };
    let evidence = vec![
        Evidence::new("clock_at_first", Value::Hertz(clock_first as u64), Place::Gauges),
        Evidence::new("clock_at_last", Value::Hertz(clock_last as u64), Place::Gauges),
        Evidence::new("temperature_at_last", Value::Millidegrees(hot as i64), Place::Gauges),
        Evidence::new("token_ns_at_first", Value::Nanoseconds(first.2 as u64), Place::Tokens),
        Evidence::new("token_ns_at_last", Value::Nanoseconds(last.2 as u64), Place::Tokens),
    ];
    let slower = last.2 - first.2;
    if clock_last > clock_first * (1.0 - FALLS) || hot <= cool || slower < case.token_ns() as f64 * WORTH {
        return Verdict::RuledOut(evidence);
    }
    let kept = (case.token_ns() as f64 - first.2).max(0.0);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::Cooling,
        gain: Some(Gain::of(case.token_ns(), kept * 0.5, kept * 1.2)),
        confidence: Confidence::High,
    })
}
