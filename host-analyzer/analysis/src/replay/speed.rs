//! Operators whose speed changes in the middle, all at once and for many calls.
//!
//! Heat, a clock that is lowered, or another user of the memory (a GPU, a camera, another guest of the hardware)
//! makes all operators slower while no thread lacks a CPU. Calls of one graph multiply with the same weights, whatever
//! their context is. What these products take longer than in the fastest part of the recording is no usual work.

use std::collections::BTreeMap;

use super::{CallReplay, Cause, SEEN};
use crate::shared::phase::Phase;
use profinfer_trace::model::{Layer, LlamaCallId, Model, TopologyId};

/// A change of the operators' speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpeedChange {
    /// The first call after it.
    pub call: LlamaCallId,
    /// Work of the operators of a call that multiply with weights, in the geometric mean of some calls before it
    /// and after it, ns.
    pub before_ns: u64,
    pub after_ns: u64,
}

/// Calls before a change, and after it, that are compared. The caches hold hardly less of the weights after so few.
const SIDE: usize = 16;
/// Least change of the time, and least time of a slow part by that of the fastest.
const LEAST: f64 = 1.1;
/// Causes took at most this part of the time of an undisturbed call.
const UNDISTURBED: f64 = 0.05;

/// Assigns what slow calls with one sequence take longer to [`Cause::LowerSpeed`]. Returns the changes.
pub(super) fn assign(model: &Model, calls: &mut [CallReplay]) -> Vec<SpeedChange> {
    let topologies = topologies(model);
    let mut of_context: BTreeMap<(u32, u64), Vec<&mut CallReplay>> = BTreeMap::new();
    for call in calls.iter_mut().filter(|c| c.phase == Phase::Decode) {
        let key = (call.pid(model), model.llama_calls.context[call.call.0 as usize]);
        of_context.entry(key).or_default().push(call);
    }
    of_context.into_values().flat_map(|mut calls| of_calls(&topologies, &mut calls)).collect()
}

fn of_calls(topologies: &[Option<TopologyId>], calls: &mut [&mut CallReplay]) -> Vec<SpeedChange> {
    // The calls of each graph, with the logarithms of their work.
    let mut of_graph: BTreeMap<TopologyId, Vec<(usize, f64)>> = BTreeMap::new();
    for (i, call) in calls.iter().enumerate() {
        let quiet = call.caused.total() as f64 <= call.time_ns as f64 * UNDISTURBED;
        let computed = call.traced && quiet && call.weights_ns > 0;
        if let Some(topology) = topologies[call.call.0 as usize].filter(|_| computed) {
            of_graph.entry(topology).or_default().push((i, (call.weights_ns as f64).ln()));
        }
    }
    let mut changes: Vec<Step> = Vec::new();
    for values in of_graph.values() {
        let logs: Vec<f64> = values.iter().map(|(_, log)| *log).collect();
        changes.extend(steps(&logs).into_iter().map(|step| Step { at: values[step.at].0, ..step }));
    }
    changes.sort_by_key(|step| step.at);
    // Of each call, the sum of the changes before it.
    let mut levels = vec![0.0; calls.len()];
    for step in &changes {
        levels[step.at..].iter_mut().for_each(|level| *level += step.by());
    }
    let fastest = levels.iter().copied().fold(0.0, f64::min);
    let traced = || calls.iter().filter(|c| c.traced);
    let (weights, work) = (sum(traced().map(|c| c.weights_ns)), sum(traced().map(|c| c.usual.work)));
    let weights_share = weights / work.max(1.0);
    for (call, level) in calls.iter_mut().zip(levels).filter(|(_, level)| level - fastest >= LEAST.ln()) {
        move_time(call, weights_share, 1.0 - (fastest - level).exp());
    }
    let ns = |log: f64| log.exp().round() as u64;
    let change =
        |s: &Step| SpeedChange { call: calls[s.at].call, before_ns: ns(s.before), after_ns: ns(s.after) };
    changes.iter().map(change).collect()
}

/// Gives this part of a call's products with weights to the cause. `weights_share`: their share of the work of traced
/// calls. What an untraced call takes longer than the traced ones is unexplained so far.
fn move_time(call: &mut CallReplay, weights_share: f64, part: f64) {
    let (unexplained, weights_ns) = if call.traced {
        (0, call.weights_ns as f64)
    } else {
        (call.unexplained_ns, call.usual.work.saturating_add(call.unexplained_ns) as f64 * weights_share)
    };
    let ns = (weights_ns * part).round() as u64;
    let of_unexplained = ns.min(unexplained);
    let of_work = (ns - of_unexplained).min(call.usual.work);
    call.unexplained_ns -= of_unexplained;
    call.usual.work -= of_work;
    call.weights_ns = call.weights_ns.saturating_sub(of_work);
    call.caused.add(Cause::LowerSpeed, of_unexplained + of_work);
    call.alone.add(Cause::LowerSpeed, of_unexplained + of_work);
}

fn sum(times: impl Iterator<Item = u64>) -> f64 {
    times.map(|ns| ns as f64).sum()
}

/// Another level of values from one of them on, with the means on both sides.
#[derive(Debug, Clone, Copy)]
struct Step {
    at: usize,
    before: f64,
    after: f64,
}

impl Step {
    fn by(&self) -> f64 {
        self.after - self.before
    }
}

/// Where the mean of values changes; in descending order of the change.
fn steps(values: &[f64]) -> Vec<Step> {
    let at = SIDE..(values.len() + 1).saturating_sub(SIDE);
    let mut seen: Vec<Step> = at.filter_map(|at| step(values, at)).collect();
    seen.sort_by(|a, b| b.by().abs().total_cmp(&a.by().abs()));
    let mut steps: Vec<Step> = Vec::new();
    for step in seen {
        if steps.iter().all(|other| step.at.abs_diff(other.at) >= SIDE) {
            steps.push(step);
        }
    }
    steps
}

/// The means on both sides, if their difference is seen.
fn step(values: &[f64], at: usize) -> Option<Step> {
    let side = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / SIDE as f64;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        (mean, squares / (SIDE - 1) as f64)
    };
    let (before, after) = (side(&values[at - SIDE..at]), side(&values[at..at + SIDE]));
    let error = ((before.1 + after.1) / SIDE as f64).sqrt();
    let step = Step { at, before: before.0, after: after.0 };
    (step.by().abs() >= LEAST.ln().max(SEEN * error)).then_some(step)
}

/// The first graph that was read of each call.
fn topologies(model: &Model) -> Vec<Option<TopologyId>> {
    let graphs = &model.graph_calls;
    let mut found = vec![None; model.llama_calls.len()];
    for i in (0..graphs.len()).filter(|i| graphs.layer[*i] == Layer::Backend) {
        if let Some(call) = graphs.decode[i] {
            let first: &mut Option<TopologyId> = &mut found[call.0 as usize];
            *first = first.or(graphs.topology[i]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times that differ by some per cent, with this level.
    fn level(level: f64, n: u32) -> impl Iterator<Item = f64> {
        (0..n).map(move |i| level + f64::from(i * 7 % 5) * 0.01)
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let values: Vec<f64> = level(0.0, 40).chain(level(0.4, 30)).chain(level(0.1, 30)).collect();
        let [up, down] = steps(&values)[..] else { panic!() };
        assert_eq!((up.at, down.at), (40, 70));
        assert!((up.by() - 0.4).abs() < 0.02 && (down.by() + 0.3).abs() < 0.02, "{up:?} {down:?}");
    }

    #[test]
    fn what_is_small_short_or_noisy_is_no_step() {
        let none = |values: Vec<f64>| assert!(steps(&values).is_empty());
        none(level(0.0, 40).chain(level(0.08, 40)).collect());
        // Some slow calls, and too few calls.
        none(level(0.0, 40).chain(level(1.0, 8)).chain(level(0.0, 40)).collect());
        none(level(0.0, 16).chain(level(1.0, 15)).collect());
        // Two kinds of calls in turns.
        none((0..80).map(|i| f64::from(i % 2)).collect());
        none(Vec::new());
    }

    #[test]
    fn a_context_that_grows_is_no_step() {
        // From 1 to 2 within 200 calls.
        assert!(steps(&(0..200).map(|i| (1.0 + f64::from(i) / 200.0).ln()).collect::<Vec<_>>()).is_empty());
    }
}
