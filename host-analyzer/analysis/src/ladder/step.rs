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
    /// Sampling and the application.
    Application,
    /// Between calls: the calling thread slept.
    Idle,
    /// Start-up: until the engine's code was loaded.
    BeforeEngine,
    /// Start-up: the main thread slept while data was read from storage.
    PageIn,
    /// Start-up: CPU time in the kernel.
    PageFaults,
    /// Start-up: CPU time outside of the kernel.
    Loading,
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
const SMALL: f64 = 0.005;

/// The steps of some calls, without those that have no time.
pub(super) fn steps(
    rows: &[&CallReplay],
    removal: &Removal,
    measured_ns: u64,
    floor: Option<&Floor>,
) -> Vec<Step> {
    let step = |kind: StepKind, of: &dyn Fn(&CallReplay) -> u64| {
        let values: Vec<u64> = rows.iter().map(|c| of(c)).collect();
        let sum = values.iter().fold(0, |sum: u64, ns| sum.saturating_add(*ns));
        let half = Mean::new(&values).half * values.len() as f64;
        Step { kind, ns: i64::try_from(sum).unwrap_or(i64::MAX), half_ns: half as u64, gain: None }
    };
    let mut steps = Vec::new();
    let work = step(StepKind::AboveFloor, &|c| c.usual.work);
    match floor {
        Some(floor) => {
            let least = i64::try_from(floor.ns).unwrap_or(i64::MAX);
            steps.push(Step { kind: StepKind::Floor, ns: least, half_ns: floor.half_ns, gain: None });
            steps.push(Step { ns: work.ns - least, half_ns: work.half_ns.max(floor.half_ns), ..work });
        }
        None => steps.push(work),
    }
    steps.extend([
        step(StepKind::Imbalance, &|c| c.usual.imbalance),
        step(StepKind::Dispatch, &|c| c.usual.dispatch),
        step(StepKind::Preparation, &|c| c.preparation_ns),
        step(StepKind::Application, &|c| c.application_ns),
        step(StepKind::Idle, &|c| c.idle_ns),
        step(StepKind::OtherBackend, &|c| c.other_backend_ns),
        step(StepKind::Probes, &|c| c.usual.probes),
    ]);
    let mut small = Vec::new();
    for (cause, ns) in causes(rows) {
        if ns as f64 >= measured_ns as f64 * SMALL {
            let gain = Some(removal.without(|c| c == cause));
            steps.push(Step { gain, ..step(StepKind::Caused(cause), &|c| c.caused.get(cause)) });
        } else {
            small.push(cause);
        }
    }
    let of_small = |c: &CallReplay| small.iter().map(|cause| c.caused.get(*cause)).sum();
    steps.extend([
        step(StepKind::SmallCauses, &of_small),
        step(StepKind::NotRecorded, &|c| c.not_recorded_ns),
        step(StepKind::Unexplained, &|c| c.unexplained_ns),
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
