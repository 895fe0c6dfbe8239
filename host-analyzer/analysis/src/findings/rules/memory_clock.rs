//! The memory's clock is low.

use super::super::case::MIN_CALLS;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy, of_clocks};

pub(super) const RULE: Rule = Rule {
    code: "memory_clock",
    topic: "memory clock",
    title: "The memory runs at a low clock",
    question: "Why does this board give half of the published speed?",
    condition: "The memory controller's clock is below 90 % of its highest one.",
    formula: "At most all of the time shrinks by the ratio of clocks. What waits for arithmetic does not, and how much does is not recorded: at least nothing.",
    remedy: "Set the governor of the memory controller (devfreq dmc) to performance.",
    source: "rknn-llm #532, #409, #29; sbc-reviews #2 (12 to 21 tok/s in one report, all clocks fixed)",
    questions: ANY,
    requires: &[Requirement::Calls(MIN_CALLS), Requirement::Fact("ddr.frequency")],
    steps: of_clocks,
    judge,
};

/// A clock below this part of the highest one is low.
const LOW: f64 = 0.9;

fn judge(case: &Case<'_>) -> Verdict {
    let system = &case.analysis.conditions.system;
    let clock = system.ddr_frequency_hz.value().map(|c| c.min).filter(|hz| *hz > 0);
    let Some((clock, highest)) = clock.zip(system.ddr_frequency_max_hz.value().copied()) else {
        return Verdict::NotEnoughData(vec![Requirement::Fact("ddr.frequency.max")]);
    };
    let mut evidence = vec![
        Evidence::new("memory_clock", Value::Hertz(clock), Place::Conditions),
        Evidence::new("highest_memory_clock", Value::Hertz(highest), Place::Conditions),
    ];
    if let Some(governor) = system.ddr_governor.value() {
        evidence.push(Evidence::new("governor", Value::Name(governor.clone()), Place::Conditions));
    }
    if clock as f64 >= highest as f64 * LOW {
        return Verdict::RuledOut(evidence);
    }
    let saved = (1.0 - clock as f64 / highest as f64) * case.calls.unit_ns as f64;
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::MemoryClock { hertz: highest },
        gains: vec![case.gain(0.0, saved)],
        confidence: Confidence::Medium,
    })
}
