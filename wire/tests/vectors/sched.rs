//! Examples of the scheduler level.

use profinfer_wire::interrupt::{self, Interrupt, Interrupts};
use profinfer_wire::record::Record;
use profinfer_wire::record::sched::{InterruptBatch, SchedBatch, SchedLoss, Task};
use profinfer_wire::sched::{Cursor, Happened, IDLE, Left, SchedEvent, SchedEvents, Who};

const BASE_NS: u64 = 3_000_000_000;

/// Task 7 takes CPU 2 from thread 43 and sleeps after 4 ms. The thread runs again, sleeps and is
/// woken on CPU 3, where it waits for the idle task. It is moved; then some events are lost.
pub(crate) fn events() -> [SchedEvent; 6] {
    let event = |after_ns, happened| SchedEvent { at_ns: BASE_NS + after_ns, happened };
    let switch = |prev, left, next| Happened::Switch { cpu: 2, prev, left, next };
    let (thread, task) = (Who::Thread(43), Who::Task(7));
    [
        event(0, switch(thread, Left::Preempted, task)),
        event(4_000_000, switch(task, Left::Sleeping, thread)),
        event(4_050_000, switch(thread, Left::Sleeping, Who::Task(IDLE))),
        event(4_049_000, Happened::Wake { cpu: 3, tid: 43 }),
        event(4_060_000, Happened::Migration { cpu: 2, tid: 44 }),
        event(9_000_000, Happened::Gap { length_ns: 1_000_000 }),
    ]
}

pub(crate) fn packed_events() -> Vec<u8> {
    let (mut bytes, mut cursor) = ([0; 256], Cursor::new(BASE_NS));
    let len = events().iter().fold(0, |at, e| cursor.encode(e, &mut bytes, at).expect("room"));
    bytes[..len].to_vec()
}

/// A timer's handler, and the soft interrupt that it raised, on CPU 2.
pub(crate) fn interrupts() -> [Interrupt; 2] {
    let hard = Interrupt { soft: false, name: 9, cpu: 2, start_ns: BASE_NS + 500, duration_ns: 2_300 };
    [hard, Interrupt { soft: true, name: 10, start_ns: BASE_NS + 2_900, duration_ns: 14_000, ..hard }]
}

pub(crate) fn packed_interrupts() -> Vec<u8> {
    let (mut bytes, mut cursor) = ([0; 256], interrupt::Cursor::new(BASE_NS));
    let len = interrupts().iter().fold(0, |at, i| cursor.encode(i, &mut bytes, at).expect("room"));
    bytes[..len].to_vec()
}

pub(crate) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let task =
        Task { id: 7, tid: 1200, pid: 1199, name: "backup", command: "backup /data", cgroup: "0::/system" };
    check("task", &Record::Task(task));
    let bytes = packed_events();
    check(
        "sched batch",
        &Record::SchedBatch(SchedBatch { seq: 4, base_ns: BASE_NS, count: 6, bytes: &bytes }),
    );
    let bytes = packed_interrupts();
    check(
        "interrupt batch",
        &Record::InterruptBatch(InterruptBatch { base_ns: BASE_NS, count: 2, bytes: &bytes }),
    );
    let loss = SchedLoss {
        at_ns: 5_000_000_000,
        recorded: 7,
        switches: 1_000,
        wakes: 300,
        migrations: 20,
        interrupts: 80,
        sent: 1_382,
        switches_ring_full: 5,
        wakes_ring_full: 4,
        migrations_ring_full: 3,
        interrupts_ring_full: 2,
        queue_full: 4,
        threads_no_room: 1,
    };
    check("sched loss", &Record::SchedLoss(loss));
}

#[test]
fn packed_events_decode_to_what_was_packed() {
    let bytes = packed_events();
    let mut whole = SchedEvents::new(BASE_NS, 6, &bytes);
    assert_eq!(whole.by_ref().collect::<Vec<_>>(), events());
    assert!(!whole.failed);
    for cut in 0..bytes.len() {
        let mut short = SchedEvents::new(BASE_NS, 6, &bytes[..cut]);
        assert!(short.by_ref().count() < 6 && short.failed);
    }
    // An invalid reason; a reason in a wake-up; a CPU in a gap; a thread before the first.
    for bad in [&[7 << 3, 0, 2, 2][..], &[1 | 1 << 3, 0, 2], &[3 | 4, 0, 1, 1], &[1, 0, 1]] {
        assert_eq!(SchedEvents::new(0, 1, bad).next(), None, "{bad:?}");
    }
    // The limits of what can be coded.
    let ends = SchedEvent {
        at_ns: u64::MAX,
        happened: Happened::Switch {
            cpu: u16::MAX,
            prev: Who::Thread(u32::MAX),
            left: Left::Other,
            next: Who::Task(u32::MAX),
        },
    };
    let mut bytes = [0; profinfer_wire::sched::MAX_EVENT_LEN];
    let len = Cursor::new(0).encode(&ends, &mut bytes, 0).expect("room");
    assert_eq!(SchedEvents::new(0, 1, &bytes[..len]).next(), Some(ends));
}

#[test]
fn packed_interrupts_decode_to_what_was_packed() {
    let bytes = packed_interrupts();
    assert_eq!(Interrupts::new(BASE_NS, 2, &bytes).collect::<Vec<_>>(), interrupts());
    for cut in 0..bytes.len() {
        let mut short = Interrupts::new(BASE_NS, 2, &bytes[..cut]);
        assert!(short.by_ref().count() < 2 && short.failed);
    }
}
