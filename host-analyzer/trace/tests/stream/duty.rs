//! Options, filters, switches and the controller's steps arrive; the switches determine which calls
//! are traced; left-out events complete the sum.

use profinfer_trace::model::{
    Capture, CaptureOption, ControllerLimit, DamageKind, Duty, Ends, FilterOn, FilterPlace, Refusal,
    StepReason, SwitchReason, Traced, WAIT_UNKNOWN,
};

use crate::read;
use crate::whole_session::{damage, model};
use crate::write_views;
use profinfer_trace::test_support::bytes::{Fields, frame, hello};
use profinfer_trace::test_support::records::{Record, end};
use profinfer_trace::test_support::session::{SMALL, session};

/// Duty, ends, speed, slowdown, and the number of each one's refusal.
fn options(duty: u64, ends: u64, speed: u64, slowdown: u64, refused: [Option<u64>; 4]) -> Record {
    let f = Fields::default().uint(9).uint(duty).uint(ends).uint(speed).uint(slowdown);
    (0x0d, refused.into_iter().fold(f, Fields::maybe).0)
}

fn filter(on: u64, text: &str, place: u64, refused: Option<u64>) -> Record {
    (0x0e, Fields::default().uint(on).text(text).uint(place).maybe(refused).0)
}

fn switch(pid: u64, on: bool, began: u64, done: u64) -> Record {
    (0x71, Fields::default().uint(pid).byte(on.into()).uint(1).uint(began).uint(done).uint(3).byte(0).0)
}

fn capture_loss(filtered: u64, gated: u64) -> Record {
    let f = Fields::default().uint(90).uint(filtered).uint(gated);
    (0x73, f.uint(1).uint(10).uint(20).uint(2).uint(4).uint(5_000).0)
}

#[test]
fn what_is_in_force_arrives() {
    let m = model(&[]);
    assert_eq!((&m.capture, m.duty.switched()), (&Capture::default(), false));
    let refusals = [None, Some(3), None, Some(1)];
    let records = [
        options(100, 0, 5_000, 0, refusals),
        filter(0, "MUL_MAT,ROPE", 2, None),
        filter(5, "3-5", 3, Some(6)),
        filter(0, "MUL_MAT,ROPE", 1, None),
    ];
    let m = model(&records);
    assert_eq!(damage(&m), []);
    let c = &m.capture;
    assert_eq!((c.duty_permille, c.ends, c.keep_above_milli), (100, Ends::Both, Some(5_000)));
    assert_eq!(c.max_slowdown_ppm, None);
    let refused =
        [(CaptureOption::Ends, Refusal::Counters), (CaptureOption::MaxSlowdown, Refusal::NoTokenCalls)];
    assert_eq!(c.refused, refused);
    let filters: Vec<_> = c.filters.iter().map(|f| (f.on, f.place, f.refused)).collect();
    let expected = [
        (FilterOn::Op, FilterPlace::Kernel, None),
        (FilterOn::Request, FilterPlace::Nowhere, Some(Refusal::Unseen)),
    ];
    assert_eq!(filters, expected);
    assert!(c.nodes_left_out());
    write_views(&m);
}

#[test]
fn calls_are_told_apart_by_the_switches() {
    let mut records = vec![
        switch(7, true, 900, 1_000),
        switch(7, false, 2_000, 2_100),
        switch(7, true, 3_000, 3_050),
        // Another process, with an impossible time.
        switch(8, true, 500, 0),
    ];
    let expected = [
        ((7, 800, 850), Traced::Edge),
        ((7, 950, 960), Traced::Edge),
        ((7, 1_000, 1_500), Traced::Whole),
        // The probes stay until it has ended.
        ((7, 1_999, 2_050), Traced::Whole),
        ((7, 2_000, 2_300), Traced::Edge),
        ((7, 2_100, 2_300), Traced::Untraced),
        ((7, 2_900, 3_000), Traced::Untraced),
        ((7, 2_900, 3_001), Traced::Edge),
        ((7, 3_049, 3_060), Traced::Edge),
        ((7, 9_000, 9_999), Traced::Whole),
        ((8, 500, 900), Traced::Whole),
        ((9, 1, 2), Traced::Whole),
    ];
    for _ in 0..2 {
        let m = model(&records);
        for ((pid, start, end), traced) in expected {
            assert_eq!(m.duty.traced(pid, start, end), traced, "{pid}: {start} to {end}");
        }
        assert!(m.duty.switched());
        assert_eq!(m.duty.of(7).iter().filter(|s| s.reason == SwitchReason::Duty).count(), 3);
        // In any order.
        records.reverse();
    }
    assert_eq!(Duty::default().traced(7, 1, 2), Traced::Whole);
}

#[test]
fn steps_come_in_order_of_time() {
    let step = |at: u64, slowdown: bool| {
        let f = Fields::default().uint(at).uint(7).uint(slowdown.into()).uint(5_000);
        let f = f.uint(if slowdown { 2 } else { 0 });
        let f =
            if slowdown { f.byte(0).byte(1).int(-3).int(4).int(9) } else { f.byte(1).uint(4_200).byte(0) };
        (0x72, f.uint(1_000).uint(500).0)
    };
    let m = model(&[step(20, true), step(10, false)]);
    assert_eq!(damage(&m), []);
    let [first, second] = &*m.controller_steps else { panic!("{:?}", m.controller_steps) };
    assert_eq!((first.limit, first.reason), (ControllerLimit::KeepAbove(5_000), StepReason::TooSlow));
    assert_eq!((first.speed_milli, first.slowdown), (Some(4_200), None));
    assert_eq!((second.limit, second.reason), (ControllerLimit::MaxSlowdown(5_000), StepReason::TooDear));
    let slowdown = second.slowdown.map(|s| (s.low_ppm, s.ppm, s.high_ppm));
    assert_eq!((slowdown, second.before_permille, second.after_permille), (Some((-3, 4, 9)), 1_000, 500));
}

#[test]
fn what_was_left_out_completes_the_sum() {
    // 10 more ends than are sent: as many as were left out.
    let mut records = vec![capture_loss(7, 3)];
    let (kind, mut bytes) = end(90, 5, 3);
    // reason, frames, at_ns and starts are one byte each; then come the ends.
    bytes[4] = 15;
    records.push((kind, bytes));
    let stream = |records: &[Record]| {
        let frames = (0..).zip(records).map(|(seq, (kind, payload))| frame(*kind, seq, payload));
        read(&hello(1).into_iter().chain(frames.flatten()).collect::<Vec<u8>>(), 7).unwrap()
    };
    let m = stream(&records);
    let ledger = m.health.ledger.unwrap();
    assert_eq!((ledger.span_ends, ledger.spans_sent, ledger.left_out()), (15, 5, 10));
    assert!(ledger.balances() && ledger.nothing_lost());
    assert_eq!(m.health.capture.map(|c| (c.tokens_traced, c.tokens_untraced)), Some((10, 20)));
    // Without the record the sum is wrong, and reported so.
    records.remove(0);
    assert!(!stream(&records).health.ledger.unwrap().balances());
}

#[test]
fn without_ends_no_wait_is_known() {
    let mut sent = session(3, SMALL);
    let waits = |bytes: &[u8]| read(bytes, 1 << 16).unwrap().spans.wait_ns;
    assert!(waits(&sent.bytes()).iter().all(|w| *w != WAIT_UNKNOWN));
    sent.records.insert(1, options(1_000, 1, 0, 0, [None; 4]));
    let unknown = waits(&sent.bytes());
    assert!(!unknown.is_empty() && unknown.iter().all(|w| *w == WAIT_UNKNOWN));
}

#[test]
fn numbers_of_no_kind_are_damage() {
    let bad = [
        options(100, 2, 0, 0, [None; 4]),
        options(100, 0, 0, 0, [Some(9), None, None, None]),
        filter(6, "", 0, None),
        filter(0, "", 4, None),
        (0x71, Fields::default().uint(1).byte(2).uint(0).uint(0).uint(0).uint(0).byte(0).0),
    ];
    for record in bad {
        assert_eq!(damage(&model(&[record])), [(DamageKind::Malformed, 1)]);
    }
    // A duty beyond all tokens is all tokens.
    assert_eq!(model(&[options(65_535, 0, 0, 0, [None; 4])]).capture.duty_permille, 1_000);
}
