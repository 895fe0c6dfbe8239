//! Examples of the CPUs' use.

use profinfer_wire::cpu_use::{CpuUses, Cursor, MAX_USED_LEN, Used, Window};
use profinfer_wire::record::Record;
use profinfer_wire::record::cpu_use::{CpuUseBatch, CpuUseLoss};
use profinfer_wire::sched::{IDLE, Who};

const BASE_NS: u64 = 3_000_000_000;

/// Task 7, two threads of the engine and the idle task on CPU 2; then task 7 alone on CPU 0; then
/// tasks that were not distinguished.
pub(crate) fn uses() -> [Used; 6] {
    let first = Window { cpu: 2, start_ns: BASE_NS, duration_ns: 10_004_000 };
    let second = Window { cpu: 0, start_ns: BASE_NS + 10_000_000, duration_ns: 120_000_000 };
    let row = |window, first, who, busy_ns| Used { window, first, who, busy_ns };
    [
        row(first, true, Some(Who::Task(IDLE)), 5_000),
        row(first, false, Some(Who::Task(7)), 9_000_000),
        row(first, false, Some(Who::Thread(43)), 600_000),
        row(first, false, Some(Who::Thread(42)), 399_000),
        row(second, true, Some(Who::Task(7)), 119_000_000),
        row(second, false, None, 1_000_000),
    ]
}

pub(crate) fn packed_uses() -> Vec<u8> {
    let (mut bytes, mut cursor) = ([0; 256], Cursor::new(BASE_NS));
    let len = uses().iter().fold(0, |at, u| cursor.encode(u, &mut bytes, at).expect("room"));
    bytes[..len].to_vec()
}

pub(crate) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let bytes = packed_uses();
    check(
        "cpu use batch",
        &Record::CpuUseBatch(CpuUseBatch { seq: 4, base_ns: BASE_NS, count: 6, bytes: &bytes }),
    );
    let loss = CpuUseLoss {
        at_ns: 5_000_000_000,
        windows: 400,
        sent: 380,
        queue_full: 20,
        windows_late: 3,
        small_ns: 90_000,
        switches_no_room: 2,
    };
    check("cpu use loss", &Record::CpuUseLoss(loss));
}

#[test]
fn packed_uses_decode_to_what_was_packed() {
    let bytes = packed_uses();
    let mut whole = CpuUses::new(BASE_NS, 6, &bytes);
    assert_eq!(whole.by_ref().collect::<Vec<_>>(), uses());
    assert!(!whole.failed);
    for cut in 0..bytes.len() {
        let mut short = CpuUses::new(BASE_NS, 6, &bytes[..cut]);
        assert!(short.by_ref().count() < 6 && short.failed);
    }
    // A row before the first window; an unknown kind; further tasks with a number; a thread before
    // the first one; a CPU that is no 16-bit number.
    let bad = [
        &[0, 9][..],
        &[1 | 3 << 2, 0, 1, 1],
        &[1 | 2 << 2 | 1 << 4, 0, 1, 1],
        &[1 | 1 << 2 | 1 << 4, 0, 1, 1],
    ];
    for bad in bad.into_iter().chain([&[3, 0, 1, 0x80, 0x80, 4, 1][..]]) {
        assert_eq!(CpuUses::new(0, 1, bad).next(), None, "{bad:?}");
    }
    // A CPU in the middle of a window.
    assert_eq!(CpuUses::new(0, 2, &[1, 0, 9, 9, 2, 3, 1]).count(), 1);
    // The limits of what can be coded.
    let window = Window { cpu: u16::MAX, start_ns: u64::MAX, duration_ns: u64::MAX };
    let ends = Used { window, first: true, who: Some(Who::Thread(u32::MAX)), busy_ns: u64::MAX };
    let mut bytes = [0; MAX_USED_LEN];
    let len = Cursor::new(0).encode(&ends, &mut bytes, 0).expect("room");
    assert_eq!(CpuUses::new(0, 1, &bytes[..len]).next(), Some(ends));
}
