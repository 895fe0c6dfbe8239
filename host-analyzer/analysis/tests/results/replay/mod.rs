//! The replay: its parts sum to what was measured, and a delay that is inserted into a recording by
//! computation comes out as that delay.

mod holders;
pub(crate) mod insert;
mod left_out;
pub(crate) mod questions;
mod resumed;
mod speeds;
mod starts;
mod stops;
mod workers;

use profinfer_analysis::Analysis;
use profinfer_analysis::ladder::StepKind;
use profinfer_trace::model::Model;
use proptest::prelude::*;

use crate::models::rows::spec;
use profinfer_trace::test_support::tables::model;

/// Recordings of real engines.
pub(crate) const RECORDINGS: [&str; 10] = [
    "accelerator/lavapipe.pfi",
    "board.pfi",
    "demo.pfi",
    "published/2026-11-22/dense-q8.pfi",
    "published/2026-11-22/moe-mixtral8.pfi",
    "published/2026-11-22b/dense-q8.pfi",
    "published/2026-11-22b/moe-mixtral8.pfi",
    "published/2026-11-23/dense-q8.pfi",
    "published/2026-11-23/moe-mixtral8.pfi",
    "sample.pfi",
];

/// Those of dense and MoE models whose operators were all captured, for tests that change them.
pub(crate) const COMPLETE: [&str; 3] =
    ["demo.pfi", "published/2026-11-23/dense-q8.pfi", "published/2026-11-23/moe-mixtral8.pfi"];

pub(crate) fn recording(name: &str) -> Model {
    let path = format!("{}/../tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    profinfer_trace::read(&std::fs::read(path).unwrap()).unwrap()
}

/// The parts of every call, and the steps of every ladder, sum to the measured time.
pub(crate) fn sums_are_exact(m: &Model) {
    let a = Analysis::compute(m);
    assert!(!a.replay.calls.is_empty());
    for c in &a.replay.calls {
        let parts = c.usual.total()
            + c.application_ns
            + c.encoder_ns
            + c.state_copies_ns
            + c.preparation_ns
            + c.allocation_ns
            + c.other_backend_ns
            + c.not_recorded_ns
            + c.caused.total()
            + c.unexplained_ns;
        assert_eq!(parts, c.time_ns, "{c:?}");
    }
    for c in &a.replay.gaps {
        let parts = c.usual.probes
            + c.application_ns
            + c.idle_ns
            + c.encoder_ns
            + c.state_copies_ns
            + c.caused.total()
            + c.unexplained_ns;
        assert_eq!(parts, c.time_ns, "{c:?}");
    }
    for l in &a.ladder.rows {
        let sum: i64 = l.steps.iter().map(|s| s.ns).sum();
        assert_eq!(u64::try_from(sum).unwrap(), l.measured_ns, "{l:?}");
        if let Some(floor) = &l.floor {
            let least: u64 = floor.groups.iter().map(|g| g.floor_ns).sum();
            let above: u64 = floor.groups.iter().map(|g| g.above_ns()).sum();
            assert_eq!(i64::try_from(least).unwrap(), l.sum(|kind| kind == StepKind::Floor), "{l:?}");
            assert_eq!(i64::try_from(above).unwrap(), l.sum(|kind| kind == StepKind::AboveFloor), "{l:?}");
        }
        for step in &l.steps {
            assert!(step.gain.is_none_or(|g| g.low_ns <= g.likely_ns && g.likely_ns <= g.high_ns));
        }
    }
    // The time of the calls is that of the budget, which walks them on its own.
    let of_budget: u64 = a.budget.tokens.iter().map(|t| t.time_ns).sum();
    assert_eq!(a.replay.calls.iter().map(|c| c.time_ns).sum::<u64>(), of_budget);
}

#[test]
fn sums_of_real_recordings_are_exact() {
    RECORDINGS.iter().for_each(|name| sums_are_exact(&recording(name)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sums_of_any_session_are_exact(spec in spec()) {
        sums_are_exact(&model(&spec));
    }
}
