//! Changes by the controller, in order of time.

use profinfer_wire::record::controller as wire;

use crate::model::{ControllerStep, MeasuredSlowdown};

pub(super) fn step(steps: &mut Vec<ControllerStep>, r: &wire::ControllerStep) {
    steps.push(ControllerStep {
        at_ns: r.at_ns,
        pid: r.pid,
        limit: r.limit.into(),
        reason: r.reason.into(),
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

/// Sorts by time.
pub(super) fn finish(steps: &mut [ControllerStep]) {
    steps.sort_by_key(|step| (step.at_ns, step.pid));
}
