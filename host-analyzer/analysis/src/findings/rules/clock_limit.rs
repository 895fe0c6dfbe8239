//! The CPUs' clock is held below what they can do.

use super::super::case::{MIN_CALLS, MIN_TRACED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy, of_clocks};

pub(super) const RULE: Rule = Rule {
    code: "clock_limit",
    topic: "clock limits",
    title: "CPU clocks are limited",
    question: "Why do the CPUs run at a low clock while tokens are generated?",
    condition: "On the CPUs that compute, the governor's upper limit is below the hardware's highest clock, or the clock that was measured meanwhile is more than 5 % below that limit.",
    formula: "At most all of the time shrinks by the ratio of clocks. Memory has a clock of its own, and what waits for it is not recorded: at least nothing.",
    remedy: "Set the governor to performance and raise scaling_max_freq; raise cpu.uclamp.max of the control group, which Android lowers for applications in the background; then look at power supply and cooling.",
    source: "koboldcpp #318, rknn-llm #29 (408 MHz); Documentation/admin-guide/pm/cpufreq.rst; Documentation/scheduler/sched-util-clamp.rst",
    questions: ANY,
    requires: &[
        Requirement::Calls(MIN_CALLS),
        Requirement::TracedCalls(MIN_TRACED),
        Requirement::Cpus,
        Requirement::Fact("cpu.frequency.max"),
    ],
    steps: of_clocks,
    judge,
};

/// A clock that is lower by this part of the limit is low.
const LOW: f64 = 0.95;

fn judge(case: &Case<'_>) -> Verdict {
    let used = case.working_cpus();
    let cpus: Vec<_> = used.iter().filter_map(|(cpu, _)| case.analysis.conditions.cpu(*cpu)).collect();
    let highest = cpus.iter().filter_map(|c| c.frequency_max_hz.value()).min().copied();
    let Some(highest) = highest.filter(|hz| *hz > 0) else { return Verdict::DoesNotApply };
    let limit = cpus.iter().filter_map(|c| Some(c.frequency_limit_hz.value()?.min)).min().unwrap_or(highest);
    let measured = case.clock().map(|hz| hz as u64);
    let clock = measured.unwrap_or(limit).min(limit.max(1));
    let mut evidence = vec![
        Evidence::new("clock_limit", Value::Hertz(limit), Place::Conditions),
        Evidence::new("highest_clock", Value::Hertz(highest), Place::Conditions),
    ];
    if let Some(hz) = measured {
        evidence.insert(0, Evidence::new("clock_in_decode", Value::Hertz(hz), Place::Gauges));
    }
    let governor = cpus.iter().find_map(|c| c.governor.value());
    if let Some(governor) = governor {
        evidence.push(Evidence::new("governor", Value::Name(governor.clone()), Place::Conditions));
    }
    let clamp = case.process().and_then(|p| p.cgroup.uclamp_max.value()?.get().copied());
    evidence
        .extend(clamp.map(|n| Evidence::new("uclamp_max", Value::Share(n as f64 / 1e4), Place::Conditions)));
    if clock as f64 >= highest as f64 * LOW {
        return Verdict::RuledOut(evidence);
    }
    let saved = (1.0 - clock as f64 / highest as f64) * case.calls.unit_ns as f64;
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::Clock { hertz: highest },
        gains: vec![case.gain(0.0, saved)],
        confidence: if limit < highest { Confidence::High } else { Confidence::Medium },
    })
}
