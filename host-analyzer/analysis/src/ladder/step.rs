//! The steps of a ladder.

use super::floor::Floor;
use super::gain::{Gain, Removal};
use crate::replay::{CallReplay, Cause};
use crate::stats::mean::Mean;

/// What a step is, in the order of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepKind {
    /// Operators at the limit of the board that bounds each.
    Floor,
    /// Operators above that limit; all operators where no limit is known.
    AboveFloor,
    /// Threads that computed longer than the mean.
    Imbalance,
    /// Barriers, and the start of operators.
    Dispatch,
    /// In the call and outside of graphs.
    Preparation,
    /// In the call: the memory of a graph is allocated anew.
    Allocation,
    /// Sampling and the application.
    Application,
    /// Between calls: the states of sequences are copied.
    StateCopies,
    /// Between calls: the calling thread slept.
    Idle,
    /// Between calls: graphs of an encoder of images or sound.
    Encoder,
    /// Start-up: until the engine's code was loaded.
    BeforeEngine,
    /// Start-up: the main thread slept while data was read from storage.
    PageIn,
    /// Start-up: CPU time in the kernel.
    PageFaults,
    /// Start-up: CPU time outside of the kernel while a model is loaded; all of it where the functions of
    /// the loader have no names.
    Loading,
    /// Start-up: CPU time outside of the kernel while a context is created.
    Context,
    /// Start-up: trial calls, without what delayed them.
    WarmUp,
    /// Graphs of other backends.
    OtherBackend,
    /// The probes of this recording.
    Probes,
    /// A cause that delayed operators.
    Caused(Cause),
    /// Causes that are too small to list.
    SmallCauses,
    /// Operators that were not captured.
    NotRecorded,
    /// Delays without a recorded cause.
    Unexplained,
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    pub kind: StepKind,
    /// Time of all units, ns; negative only for operators that are faster than their limit.
    pub ns: i64,
    /// Half width of the 95 % interval of `ns`, ns.
    pub half_ns: u64,
    /// Effect of removing the cause; `None` for other steps.
    pub gain: Option<Gain>,
}

/// Share of the time below which a cause is not listed.
pub(crate) const SMALL: f64 = 0.005;

/// Steps of every call, in order. Causes come after them.
const USUAL: [StepKind; 13] = [
    StepKind::AboveFloor,
    StepKind::Imbalance,
    StepKind::Dispatch,
    StepKind::Preparation,
    StepKind::Allocation,
    StepKind::Application,
    StepKind::StateCopies,
    StepKind::Idle,
    StepKind::Encoder,
    StepKind::OtherBackend,
    StepKind::Probes,
    StepKind::NotRecorded,
    StepKind::Unexplained,
];

/// The steps of one call with their times, ns. They sum to its time. The limits of the board are those
/// of a recording, so all of the operators' time is in one step, and no cause is too small.
pub(crate) fn steps_of(call: &CallReplay) -> impl Iterator<Item = (StepKind, u64)> + '_ {
    let causes = call.caused.iter().map(|(cause, _)| StepKind::Caused(cause));
    USUAL.into_iter().chain(causes).map(|kind| (kind, time(call, kind))).filter(|(_, ns)| *ns > 0)
}

/// Time of a call in one of its steps, ns.
fn time(call: &CallReplay, kind: StepKind) -> u64 {
    match kind {
        StepKind::AboveFloor => call.usual.work,
        StepKind::Imbalance => call.usual.imbalance,
        StepKind::Dispatch => call.usual.dispatch,
        StepKind::Preparation => call.preparation_ns,
        StepKind::Allocation => call.allocation_ns,
        StepKind::Application => call.application_ns,
        StepKind::StateCopies => call.state_copies_ns,
        StepKind::Idle => call.idle_ns,
        StepKind::Encoder => call.encoder_ns,
        StepKind::OtherBackend => call.other_backend_ns,
        StepKind::Probes => call.usual.probes,
        StepKind::Caused(cause) => call.caused.get(cause),
        StepKind::NotRecorded => call.not_recorded_ns,
        StepKind::Unexplained => call.unexplained_ns,
        // Steps of a set of calls, and of a start.
        StepKind::Floor
        | StepKind::SmallCauses
        | StepKind::BeforeEngine
        | StepKind::PageIn
        | StepKind::PageFaults
        | StepKind::Loading
        | StepKind::Context
        | StepKind::WarmUp => 0,
    }
}

/// The steps of some calls, without those that have no time.
pub(super) fn steps(
    rows: &[&CallReplay],
    removal: &Removal,
    measured_ns: u64,
    floor: Option<&Floor>,
) -> Vec<Step> {
    let sum = |kind: StepKind, of: &dyn Fn(&CallReplay) -> u64| {
        let values: Vec<u64> = rows.iter().map(|c| of(c)).collect();
        let sum = values.iter().fold(0, |sum: u64, ns| sum.saturating_add(*ns));
        let half = Mean::new(&values).half * values.len() as f64;
        Step { kind, ns: i64::try_from(sum).unwrap_or(i64::MAX), half_ns: half as u64, gain: None }
    };
    let step = |kind: StepKind| sum(kind, &|c| time(c, kind));
    let mut steps = Vec::new();
    let work = step(StepKind::AboveFloor);
    match floor {
        Some(floor) => {
            let least = i64::try_from(floor.ns).unwrap_or(i64::MAX);
            steps.push(Step { kind: StepKind::Floor, ns: least, half_ns: floor.half_ns, gain: None });
            steps.push(Step { ns: work.ns - least, half_ns: work.half_ns.max(floor.half_ns), ..work });
        }
        None => steps.push(work),
    }
    let usual = |kind: &StepKind| *kind != StepKind::AboveFloor && *kind < StepKind::SmallCauses;
    steps.extend(USUAL.into_iter().filter(usual).map(step));
    let mut small = Vec::new();
    for (cause, ns) in causes(rows) {
        if ns as f64 >= measured_ns as f64 * SMALL {
            let gain = Some(removal.without(|c| c == cause));
            steps.push(Step { gain, ..step(StepKind::Caused(cause)) });
        } else {
            small.push(cause);
        }
    }
    let of_small = |c: &CallReplay| small.iter().map(|cause| c.caused.get(*cause)).sum();
    steps.extend([
        sum(StepKind::SmallCauses, &of_small),
        step(StepKind::NotRecorded),
        step(StepKind::Unexplained),
    ]);
    steps.retain(|s| s.ns != 0);
    steps
}

/// Steps in the order of the ladder, the longest cause first. Causes below [`SMALL`] are one step.
pub(super) fn in_order(steps: Vec<Step>, measured_ns: u64) -> Vec<Step> {
    let small = |s: &Step| {
        let cause = matches!(s.kind, StepKind::Caused(_) | StepKind::SmallCauses);
        cause && (s.ns as f64) < measured_ns as f64 * SMALL
    };
    let (mut causes, mut others): (Vec<Step>, Vec<Step>) = (Vec::new(), Vec::new());
    let mut rest = Step { kind: StepKind::SmallCauses, ns: 0, half_ns: 0, gain: None };
    for step in steps {
        match step.kind {
            _ if small(&step) => rest.ns += step.ns,
            StepKind::Caused(_) => causes.push(step),
            _ => others.push(step),
        }
    }
    match others.iter_mut().find(|s| s.kind == StepKind::SmallCauses) {
        Some(step) => step.ns += rest.ns,
        None => others.push(rest),
    }
    causes.sort_by_key(|s| std::cmp::Reverse(s.ns));
    others.sort_by_key(|s| s.kind);
    let at = others.partition_point(|s| s.kind < StepKind::SmallCauses);
    others.splice(at..at, causes);
    others.retain(|s| s.ns != 0);
    others
}

/// Causes with their times, longest first.
fn causes(rows: &[&CallReplay]) -> Vec<(Cause, u64)> {
    let mut all = crate::replay::Amounts::default();
    rows.iter().for_each(|c| all.add_all(&c.caused));
    let mut causes: Vec<_> = all.iter().collect();
    causes.sort_by_key(|(cause, ns)| (std::cmp::Reverse(*ns), *cause));
    causes
}
