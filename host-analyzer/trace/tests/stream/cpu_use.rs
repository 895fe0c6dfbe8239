//! Who had the CPUs: windows become rows; lost ones are unknown, and so is everything in recordings
//! without them.

use profinfer_trace::model::{DamageKind, Model, OTHER_TASKS};
use profinfer_trace::test_support::bytes::{Fields, frame, hello};
use profinfer_trace::test_support::cpu_use::By::{Others, Task, Thread};
use profinfer_trace::test_support::cpu_use::{Uses, loss};
use profinfer_trace::test_support::records::{self, Record};

use crate::{read, write_views};

const PID: u32 = 50;
const A: u64 = 51;

fn task(id: u64, tid: u64, name: &str) -> Record {
    (0x60, Fields::default().uint(id).uint(tid).uint(tid).text(name).text("command").text("/group").0)
}

fn model(middle: &[Record]) -> Model {
    let mut all =
        vec![records::session(100), records::process(PID), records::thread(A as u32, PID, "worker")];
    all.extend(middle.iter().cloned());
    all.push(records::end(9_000, 0, all.len() as u32));
    let mut bytes = hello(1);
    for (seq, (kind, payload)) in (0..).zip(&all) {
        bytes.extend(frame(*kind, seq, payload));
    }
    let model = read(&bytes, 7).unwrap();
    write_views(&model);
    model
}

/// CPU, start, end, task, busy.
fn rows(m: &Model) -> Vec<(u16, u64, u64, &str, u64)> {
    let u = &m.sched.cpu_use;
    let name = |i: usize| m.texts.get(m.sched.tasks[u.task[i].0 as usize].name);
    let row = |i: usize| (u.cpu[i], u.start_ns[i], u.start_ns[i] + u.duration_ns[i], name(i), u.busy_ns[i]);
    (0..u.len()).map(row).collect()
}

#[test]
fn windows_come_by_cpu_and_start_with_all_kinds_of_tasks() {
    let uses = Uses::new(1000)
        .window(1, (1000, 1100), &[(Task(0), 10), (Task(7), 60), (Thread(A), 30)])
        .window(0, (900, 1200), &[(Task(7), 250), (Others, 50)])
        .window(0, (700, 900), &[(Task(8), 150)]);
    let all = [task(7, 70, "busy"), task(8, 80, "sh"), uses.batch(0), loss(2000, 3, 3)];
    let m = model(&all);
    assert!(m.health.damage.is_empty() && m.sched.cpu_use_recorded && !m.sched.recorded, "{:?}", m.health);
    let expected = [
        (0, 700, 900, "sh", 150),
        (0, 900, 1200, "busy", 250),
        (0, 900, 1200, "others", 50),
        (1, 1000, 1100, "idle", 10),
        (1, 1000, 1100, "busy", 60),
        (1, 1000, 1100, "worker", 30),
    ];
    assert_eq!(rows(&m), expected);
    let tid = |i: usize| m.sched.tasks[m.sched.cpu_use.task[i].0 as usize].tid;
    assert_eq!([0, 1, 2, 3, 5].map(tid), [80, 70, OTHER_TASKS, 0, A as u32]);
    assert_eq!((m.health.cpu_use_received, m.sched.cpu_use_gaps.len()), (3, 0));
    assert!(m.health.cpu_use.is_some_and(|l| l.nothing_lost()));
    // Order does not matter.
    let mut back = all.to_vec();
    back.reverse();
    assert_eq!(rows(&model(&back)), rows(&m));
}

#[test]
fn a_lost_batch_is_a_gap() {
    let batch = |end: u64, seq| Uses::new(end).window(0, (end - 100, end), &[(Task(7), 90)]).batch(seq);
    let m = model(&[task(7, 70, "busy"), batch(1000, 0), batch(3000, 2), loss(4000, 3, 2)]);
    // Of two windows sent, both came: the third is counted as lost, possibly after the last one.
    assert_eq!(m.sched.cpu_use_gaps, [(1000, u64::MAX)]);
    assert_eq!(m.sched.cpu_use.len(), 2);
    assert!(!m.health.perfect());
    // Sent, but not here.
    let m = model(&[task(7, 70, "busy"), batch(1000, 0), loss(4000, 2, 2)]);
    assert_eq!(m.sched.cpu_use_gaps, [(1000, u64::MAX)]);
    assert!(!m.health.perfect());
}

#[test]
fn recordings_without_it_say_nothing_and_damage_is_told() {
    let m = model(&[]);
    assert!(!m.sched.cpu_use_recorded && m.sched.cpu_use_gaps.is_empty() && m.health.cpu_use.is_none());
    // Recorded, and nobody else was there.
    let m = model(&[loss(2000, 0, 0)]);
    assert!(m.sched.cpu_use_recorded && m.sched.cpu_use.is_empty() && m.sched.cpu_use_gaps.is_empty());
    let damaged = |m: &Model, kind| m.health.damage.iter().any(|d| d.kind == kind);
    // An undescribed task; a window that overlaps another one; more time than the window has.
    let uses = Uses::new(1000)
        .window(0, (1000, 1100), &[(Task(9), 10), (Task(7), 60)])
        .window(0, (1050, 1200), &[(Task(7), 70)])
        .window(0, (1100, 1200), &[(Task(7), 700)]);
    let m = model(&[task(7, 70, "busy"), uses.batch(0), loss(2000, 3, 3)]);
    assert!(damaged(&m, DamageKind::Unresolved));
    assert_eq!(rows(&m), [(0, 1000, 1100, "busy", 60), (0, 1100, 1200, "busy", 100)]);
    let bad = (0x63, Fields::default().uint(0).uint(1000).uint(3).bytes(&[0, 0]).0);
    assert!(damaged(&model(&[bad]), DamageKind::Malformed));
}
