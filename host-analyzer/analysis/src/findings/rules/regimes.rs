//! The conditions change in the middle, and calls take longer from then on.

use std::collections::{BTreeSet, HashMap};

use super::super::case::MIN_CALLS;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{IGNORED, Ladder, NAMED, StepKind};
use crate::replay::{CallReplay, Cause, CulpritId, SpeedChange};
use crate::results::budget::TokenBudget;
use crate::results::fact::{READING_NS, list};
use crate::stats::mean::Mean;
use profinfer_trace::model::{Fact, FactScope, FactValue, Model};

pub(super) const RULE: Rule = Rule {
    code: "regimes",
    topic: "changed conditions",
    title: "The conditions changed in the middle",
    question: "Why does it become slow all at once?",
    condition: "The CPUs that the engine may use, its quota, the capacity that the scheduler assumes for it (cpu.uclamp.max), or the limit of a clock changed, or a CPU went offline, between two of the judged calls, or a program came that then held up the calls until the end, in the mean for a tenth of their time. The calls before the change took at least a tenth less time than those after it, and 3 % less than the mean; calls that read prompts, per token. Or the operators of tokens changed their speed (step lower_speed), and the slow part costs at least 3 % of the time.",
    formula: "The mean time of the session less the mean before the change, with the 95 % interval of the latter. What a program takes is in the finding about it. What a change of the operators' speed takes is in the ladder; nothing is promised where no record shows what caused it.",
    remedy: "Undo the change, and find what made it: a cpuset or quota of a container manager, an application that went to the background, taskset, a power or thermal policy that lowers clocks or takes CPUs offline; or the program that came. Where only the speed of the operators changed: clocks, heat, or another user of the memory (GPU, camera, another guest of the hardware) at that moment.",
    source: "Documentation/admin-guide/cgroup-v2.rst, cpuset.cpus, cpu.max, cpu.uclamp.max; sched_setaffinity(2)",
    questions: ANY,
    requires: &[Requirement::Calls(MIN_CALLS)],
    steps: |_, kind| {
        matches!(
            kind,
            StepKind::Caused(Cause::TooManyThreads | Cause::SharedCpu | Cause::Placement | Cause::Throttled)
                | StepKind::AboveFloor
                | StepKind::Caused(Cause::LowerSpeed)
        )
    },
    judge,
};

/// Facts that slow an engine down when they change.
const FACTS: [&str; 6] = [
    "affinity",
    "cgroup.cpuset",
    "cgroup.quota_us",
    "cgroup.uclamp_max",
    "cpu.frequency.limit",
    "cpu.online",
];
/// Calls before the change take this part less.
const SHORTER: f64 = 0.9;
/// Fewest calls before it.
const CALLS: usize = 8;

/// A changed fact, or a program that came, that made calls slower.
pub(super) struct Change<'a> {
    name: &'a str,
    at_ns: u64,
    /// What the fact was and became; empty for a program.
    details: Vec<Evidence>,
    before: Mean,
    after: Mean,
}

/// The change with the largest effect.
pub(super) fn slowest<'a>(case: &'a Case<'_>) -> Option<Change<'a>> {
    let model = case.model;
    let own = |scope: FactScope| match scope {
        FactScope::Process(pid) => pid == case.pid,
        FactScope::Thread(tid) => model.threads.iter().any(|(_, t)| (t.tid, t.pid) == (tid, case.pid)),
        FactScope::Cpu(_) => true,
        FactScope::System => false,
    };
    let changes = FACTS.iter().filter_map(|name| model.texts.find(name)).flat_map(|name| {
        let rows = model.facts.rows.iter().filter(move |f| f.name == name && own(f.scope));
        let rows: Vec<&'a Fact> = rows.collect();
        let changed = |(i, fact): (usize, &'a Fact)| {
            let before = rows[..i].iter().rev().find(|f| f.scope == fact.scope)?;
            let values = [value(model, before)?, value(model, fact)?];
            is_less(&values).then_some((fact, values))
        };
        rows.iter().copied().enumerate().filter_map(changed).collect::<Vec<_>>()
    });
    let times = case.calls.comparable(model);
    let effect = |(fact, values): (&'a Fact, [Value; 2])| {
        let (name, at_ns) = (model.texts.get(fact.name), fact.at_ns);
        let split = split(&case.calls.all, &times, at_ns.saturating_sub(model.session.start_ns));
        let (before, after) = times.split_at(split);
        let mean = |times: &[u64]| case.calls.per_unit(Mean::new(times));
        let enough = before.len() >= CALLS && !after.is_empty();
        enough.then(|| {
            let details = details(fact, values);
            Change { name, at_ns, details, before: mean(before), after: mean(after) }
        })
    };
    let slower = changes.filter_map(effect).filter(|c| c.before.mean <= c.after.mean * SHORTER);
    slower.max_by(|a, b| a.after.mean.total_cmp(&b.after.mean))
}

fn details(fact: &Fact, values: [Value; 2]) -> Vec<Evidence> {
    let of = |(key, value)| Evidence::new(key, value, Place::Conditions);
    let cpu = match fact.scope {
        FactScope::Cpu(cpu) => Some(("cpus", Value::Cpus(vec![cpu]))),
        _ => None,
    };
    let values = ["value_before", "value_after"].into_iter().zip(values);
    cpu.into_iter().chain(values).map(of).collect()
}

/// Whether a fact changed to something that can make calls slower. Other CPUs may be slower ones.
fn is_less(values: &[Value; 2]) -> bool {
    match values {
        [Value::MilliCpus(before), Value::MilliCpus(after)]
        | [Value::Hertz(before), Value::Hertz(after)]
        | [Value::Count(before), Value::Count(after)] => after < before,
        [Value::Share(before), Value::Share(after)] => after < before,
        // No limit.
        [_, Value::Name(_)] => false,
        [before, after] => before != after,
    }
}

/// The value of a fact, with its unit; `None` if it could not be read.
fn value(model: &Model, fact: &Fact) -> Option<Value> {
    let number = match fact.value {
        FactValue::Absent(_) => return None,
        FactValue::Text(text) => {
            let text = model.texts.get(text);
            return Some(list::cpus(text).map_or_else(|| Value::Name(text.to_owned()), Value::Cpus));
        }
        FactValue::Number(number) => number,
    };
    Some(match model.texts.get(fact.name) {
        "cgroup.quota_us" => {
            let period = model.texts.find("cgroup.period_us")?;
            let until = model.facts.of(fact.scope, period).take_while(|f| f.at_ns <= fact.at_ns).last();
            let Some(FactValue::Number(period_us)) = until.map(|f| f.value) else { return None };
            Value::MilliCpus(number.saturating_mul(1000).checked_div(period_us)?)
        }
        "cgroup.uclamp_max" => Value::Share(number as f64 / 1e4),
        "cpu.frequency.limit" => Value::Hertz(number),
        _ => Value::Count(number),
    })
}

/// The first call after a change that a reading at `at_ns` shows. Facts are read once a second: of
/// the calls since the reading before, the one where the times change their level most.
fn split(calls: &[&TokenBudget], times: &[u64], at_ns: u64) -> usize {
    let first = calls.partition_point(|t| t.start_ns < at_ns.saturating_sub(READING_NS));
    let last = calls.partition_point(|t| t.start_ns < at_ns);
    let logs: Vec<f64> = times.iter().map(|ns| ((*ns).max(1) as f64).ln()).collect();
    let within = |logs: &[f64]| {
        let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
    };
    let scatter = |at: &usize| within(&logs[..*at]) + within(&logs[*at..]);
    (first..=last).min_by(|a, b| scatter(a).total_cmp(&scatter(b))).unwrap_or(last)
}

/// A program that held up hardly any call before some moment, and the calls from then on until the end: the one
/// with the largest effect.
fn came<'a>(case: &'a Case<'_>) -> Option<Change<'a>> {
    let replayed: HashMap<u32, &CallReplay> =
        case.analysis.replay.calls.iter().map(|c| (c.call.0, c)).collect();
    let calls: Vec<&CallReplay> =
        case.calls.all.iter().map(|t| replayed.get(&t.call).copied()).collect::<Option<_>>()?;
    let times = case.calls.comparable(case.model);
    let programs: BTreeSet<CulpritId> =
        calls.iter().flat_map(|c| c.caused.iter()).filter_map(|(cause, _)| program(cause)).collect();
    let change = |id: CulpritId| {
        let share = |c: &&CallReplay| {
            let of = c.caused.iter().filter(|(cause, _)| program(*cause) == Some(id));
            of.map(|(_, ns)| ns).sum::<u64>() as f64 / c.time_ns.max(1) as f64
        };
        let at = came_at(&calls.iter().map(share).collect::<Vec<_>>())?;
        let mean = |times: &[u64]| case.calls.per_unit(Mean::new(times));
        let (before, after) = (mean(&times[..at]), mean(&times[at..]));
        let name = case.analysis.replay.culprit(id)?.program();
        let at_ns = case.model.session.start_ns.saturating_add(case.calls.all[at].start_ns);
        (before.mean <= after.mean * SHORTER).then_some(Change {
            name,
            at_ns,
            details: Vec::new(),
            before,
            after,
        })
    };
    programs.into_iter().filter_map(change).max_by(|a, b| a.after.mean.total_cmp(&b.after.mean))
}

const fn program(cause: Cause) -> Option<CulpritId> {
    match cause {
        Cause::Program(id) | Cause::SharedMemory(id) => Some(id),
        _ => None,
    }
}

/// A program that came has at least this share of the time of the calls, in the mean.
const PRESENT: f64 = 0.1;

/// The first call that a program holds up, by its shares of the calls' times: it has hardly any of those before,
/// and of those after it as much in the second half as in the first.
fn came_at(shares: &[f64]) -> Option<usize> {
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let all: f64 = shares.iter().sum();
    // Where the means before and after differ most, weighted by the number of calls.
    let (mut before, mut most) = (0.0, (0.0, 0));
    for (at, share) in shares.iter().enumerate() {
        let (n, rest) = (at as f64, (shares.len() - at) as f64);
        let apart = ((all - before) / rest - before / n.max(1.0)).max(0.0).powi(2) * n * rest;
        if apart > most.0 && at >= CALLS && shares.len() - at >= CALLS {
            most = (apart, at);
        }
        before += share;
    }
    let (before, after) = shares.split_at_checked(most.1).filter(|_| most.1 > 0)?;
    let (first, last) = after.split_at(after.len() / 2);
    let stays = mean(first).min(mean(last)) * 2.0 >= mean(first).max(mean(last));
    (mean(before) < IGNORED && mean(after) >= PRESENT && stays).then_some(most.1)
}

fn judge(case: &Case<'_>) -> Verdict {
    let fact = slowest(case);
    let of_program = fact.is_none();
    let Some(change) = fact.or_else(|| came(case)) else { return of_operators(case) };
    let ns = |mean: Mean| Value::Nanoseconds(mean.mean as u64);
    let mut evidence = when(case, change.name, change.details, change.at_ns);
    evidence.extend([
        case.per_unit("time_ns_before", ns(change.before), Place::Tokens),
        case.per_unit("time_ns_after", ns(change.after), Place::Tokens),
    ]);
    let (unit, before) = (case.calls.unit_ns as f64, change.before);
    if case.share(unit - before.mean) < NAMED {
        return Verdict::RuledOut(evidence);
    }
    let gain = case.gain(unit - before.high(), unit - before.low());
    let gain = gain.with_likely(unit - before.mean);
    // The finding about the program has its gain.
    let gains = if of_program { Vec::new() } else { vec![gain.in_other_sessions()] };
    Verdict::Found(Found { evidence, remedy: Remedy::KeepConditions, gains, confidence: Confidence::High })
}

/// The largest change of the operators' speed, if those at a lower one cost enough. Nothing is promised: no record
/// shows what to undo.
fn of_operators(case: &Case<'_>) -> Verdict {
    let cost = |ladder: &Ladder| ladder.share(ladder.sum(|kind| kind == StepKind::Caused(Cause::LowerSpeed)));
    let size = |change: &SpeedChange| (change.after_ns as f64 / change.before_ns.max(1) as f64).ln().abs();
    let of_call = |call: u32| case.calls.all.iter().find(|t| t.call == call);
    let changes = case.analysis.replay.speed_changes.iter();
    let changes = changes.filter_map(|change| Some((change, of_call(change.call.0)?)));
    let largest = changes.max_by(|a, b| size(a.0).total_cmp(&size(b.0)));
    let costs = case.judged().is_some_and(|ladder| cost(ladder) >= NAMED);
    let Some((change, token)) = largest.filter(|_| costs) else { return Verdict::DoesNotApply };
    let at_ns = case.model.session.start_ns.saturating_add(token.start_ns);
    let mut evidence = when(case, "operator_speed", Vec::new(), at_ns);
    evidence.extend([
        case.per_unit("weights_ns_before", Value::Nanoseconds(change.before_ns), Place::Tokens),
        case.per_unit("weights_ns_after", Value::Nanoseconds(change.after_ns), Place::Tokens),
    ]);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::KeepConditions,
        gains: Vec::new(),
        confidence: Confidence::High,
    })
}

/// What changed, and when.
fn when(case: &Case<'_>, name: &str, details: Vec<Evidence>, at_ns: u64) -> Vec<Evidence> {
    let at = Value::Nanoseconds(at_ns.saturating_sub(case.model.session.start_ns));
    let changed = Evidence::new("changed", Value::Name(name.to_owned()), Place::Conditions);
    let at = Evidence::new("changed_at", at, Place::Tokens);
    [changed].into_iter().chain(details).chain([at]).collect()
}
