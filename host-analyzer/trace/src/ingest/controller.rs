//! What the controller changed, in order of time.

use profinfer_wire::record::controller as wire;

use crate::model::{ControllerLimit, ControllerStep, MeasuredSlowdown, StepReason};

pub(super) fn step(steps: &mut Vec<ControllerStep>, r: &wire::ControllerStep) {
    steps.push(ControllerStep {
        at_ns: r.at_ns,
        pid: r.pid,
        limit: match r.limit {
            wire::ControllerLimit::KeepAbove(milli) => ControllerLimit::KeepAbove(milli),
            wire::ControllerLimit::MaxSlowdown(ppm) => ControllerLimit::MaxSlowdown(ppm),
        },
        reason: match r.reason {
            wire::StepReason::TooSlow => StepReason::TooSlow,
            wire::StepReason::FastEnough => StepReason::FastEnough,
            wire::StepReason::TooDear => StepReason::TooDear,
            wire::StepReason::CheapEnough => StepReason::CheapEnough,
        },
        speed_milli: r.speed_milli,
        slowdown: r.slowdown.map(|s| MeasuredSlowdown {
            low_ppm: s.low_ppm,
            ppm: s.ppm,
            high_ppm: s.high_ppm,
        }),
        before_permille: r.before_permille,
        after_permille: r.after_permille,
    });
}

/// Puts what came in any order into the order of time.
pub(super) fn finish(steps: &mut [ControllerStep]) {
    steps.sort_by_key(|step| (step.at_ns, step.pid));
}
