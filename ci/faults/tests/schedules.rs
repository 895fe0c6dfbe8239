//! A short run of ci/faults.sh.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

#[test]
fn a_thousand_schedules() {
    let sums = profinfer_faults::run_all(1, 1000).unwrap();
    println!("{}", sums.table());
    // Each kind of fault and each kind of loss occurred, and most frames arrived.
    assert!(sums.faults.iter().all(|n| *n > 0) && sums.repaired > 100, "{sums:?}");
    assert!(sums.frames.iter().all(|n| *n > 0) && sums.damaged > 0, "{sums:?}");
    assert!(sums.frames[1] * 2 > sums.frames[0], "{sums:?}");
}

/// The last byte of the last frame flips: nothing after it shows that, but the frame does not end.
#[test]
fn a_last_frame_that_does_not_end() {
    profinfer_faults::run_all(53_299, 1).unwrap();
}
