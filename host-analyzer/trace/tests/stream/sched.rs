//! The scheduler level: events become states and turns; lost time stays unknown.

use profinfer_trace::model::ThreadState::{Blocked, Preempted, Running, Sleeping, Woken};
use profinfer_trace::model::{DamageKind, Model, ThreadState};

use crate::{read, write_views};
use profinfer_trace::test_support::bytes::{Fields, frame, hello};
use profinfer_trace::test_support::records::{self, Record};

const PID: u32 = 50;
const A: u64 = 51;
const B: u64 = 52;

/// Events of one batch, as in docs/wire-format.md, each with its CPU.
struct Events {
    fields: Fields,
    count: u64,
    base: u64,
    at: u64,
    tid: i64,
}

impl Events {
    fn new(base: u64) -> Self {
        Self { fields: Fields::default(), count: 0, base, at: base, tid: 0 }
    }

    fn begin(mut self, kind: u64, at: u64, cpu: Option<u64>) -> Self {
        let other = if cpu.is_some() { 4 } else { 0 };
        self.fields = self.fields.uint(kind + other).int(at as i64 - self.at as i64);
        if let Some(cpu) = cpu {
            self.fields = self.fields.uint(cpu);
        }
        (self.at, self.count) = (at, self.count + 1);
        self
    }

    fn thread(&mut self, tid: u64) -> u64 {
        let step = tid as i64 - std::mem::replace(&mut self.tid, tid as i64);
        if step < 0 { (-(step + 1)) as u64 * 2 + 1 } else { step as u64 * 2 }
    }

    /// `left` as on the wire; threads from 50 on are the engine's, others are tasks.
    fn switch(self, at: u64, cpu: u64, prev: u64, left: u64, next: u64) -> Self {
        let mut all = self.begin(left * 8, at, Some(cpu));
        for who in [prev, next] {
            let packed = if who >= 50 { all.thread(who) * 2 + 1 } else { who * 2 };
            all.fields = all.fields.uint(packed);
        }
        all
    }

    fn of_thread(self, kind: u64, at: u64, cpu: u64, tid: u64) -> Self {
        let mut all = self.begin(kind, at, Some(cpu));
        let step = all.thread(tid);
        all.fields = all.fields.uint(step);
        all
    }

    fn wake(self, at: u64, cpu: u64, tid: u64) -> Self {
        self.of_thread(1, at, cpu, tid)
    }

    fn moved(self, at: u64, cpu: u64, tid: u64) -> Self {
        self.of_thread(2, at, cpu, tid)
    }

    fn gap(self, at: u64, length: u64) -> Self {
        let mut all = self.begin(3, at, None);
        all.fields = all.fields.uint(length);
        all
    }

    fn batch(self, seq: u64) -> Record {
        (0x61, Fields::default().uint(seq).uint(self.base).uint(self.count).bytes(&self.fields.0).0)
    }
}

fn task(id: u64, tid: u64, pid: u64, name: &str) -> Record {
    (0x60, Fields::default().uint(id).uint(tid).uint(pid).text(name).text("command of it").text("/group").0)
}

fn loss(at: u64, switches: u64, sent: u64) -> Record {
    let zeros = |f: Fields, n: u64| (0..n).fold(f, |f, _| f.uint(0));
    (0x7c, zeros(zeros(Fields::default().uint(at).uint(7).uint(switches), 3).uint(sent), 6).0)
}

fn model(middle: &[Record]) -> Model {
    let mut all = vec![records::session(100), records::process(PID)];
    all.extend([A, B].map(|tid| records::thread(tid as u32, PID, "worker")));
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

fn states(m: &Model) -> Vec<(u64, u64, u64, ThreadState, u16)> {
    let s = &m.sched.states;
    let tid = |i: usize| u64::from(m.threads.get(s.thread[i]).tid);
    (0..s.len())
        .map(|i| (tid(i), s.start_ns[i], s.start_ns[i] + s.duration_ns[i], s.state[i], s.cpu[i]))
        .collect()
}

fn turns(m: &Model) -> Vec<(u16, u64, u64, &str)> {
    let t = &m.sched.turns;
    let name = |i: usize| m.texts.get(m.sched.tasks[t.task[i].0 as usize].name);
    (0..t.len()).map(|i| (t.cpu[i], t.start_ns[i], t.start_ns[i] + t.duration_ns[i], name(i))).collect()
}

const LEFT_PREEMPTED: u64 = 0;
const LEFT_YIELDED: u64 = 1;
const LEFT_SLEEPING: u64 = 2;
const LEFT_BLOCKED: u64 = 3;

#[test]
fn preempted_yielded_woken_moved_and_an_idle_cpu() {
    let events = Events::new(1000)
        .switch(1000, 0, 0, 6, A)
        // Another task, then a second under a new name, then back.
        .switch(2000, 0, A, LEFT_PREEMPTED, 1)
        .switch(2500, 0, 1, LEFT_PREEMPTED, 2)
        .switch(3000, 0, 2, LEFT_SLEEPING, A)
        // It yields: still runnable.
        .switch(3500, 0, A, LEFT_YIELDED, B)
        .switch(3600, 0, B, LEFT_BLOCKED, A)
        .switch(4000, 0, A, LEFT_SLEEPING, 0)
        // Woken for CPU 1, which task 1 has had since before; moved to CPU 0, which is idle.
        .wake(5000, 1, A)
        .switch(5200, 1, 1, LEFT_PREEMPTED, 2)
        .moved(5300, 0, A)
        .switch(5900, 0, 0, 6, A);
    let all = [task(1, 7, 7, "sh"), task(2, 7, 7, "backup"), events.batch(0), loss(6000, 11, 11)];
    let m = model(&all);
    assert!(m.health.damage.is_empty() && m.sched.recorded, "{:?}", m.health);
    let expected = [
        (A, 1000, 2000, Running, 0),
        (A, 2000, 3000, Preempted, 0),
        (A, 3000, 3500, Running, 0),
        (A, 3500, 3600, Preempted, 0),
        (A, 3600, 4000, Running, 0),
        (A, 4000, 5000, Sleeping, 0),
        (A, 5000, 5300, Woken, 1),
        (A, 5300, 5900, Woken, 0),
        (A, 5900, 6000, Running, 0),
        (B, 3500, 3600, Running, 0),
        (B, 3600, 6000, Blocked, 0),
    ];
    assert_eq!(states(&m), expected);
    let expected = [
        (0, 2000, 2500, "sh"),
        (0, 2500, 3000, "backup"),
        (0, 3500, 3600, "worker"),
        (0, 5300, 5900, "idle"),
        (1, 5000, 5200, "sh"),
        (1, 5200, 5300, "backup"),
    ];
    assert_eq!(turns(&m), expected);
    assert!(m.sched.tasks.iter().any(|t| t.tid == 0));
    // Order does not matter.
    let mut back = all.to_vec();
    back.reverse();
    assert_eq!((states(&model(&back)), turns(&model(&back))), (states(&m), turns(&m)));
}

#[test]
fn a_lost_wake_up_is_unknown_and_not_zero() {
    let events = Events::new(1000)
        .switch(1000, 0, A, LEFT_SLEEPING, 0)
        .switch(3000, 0, 0, 6, A)
        // Put on another CPU unseen: it is unknown since when it ran there.
        .switch(4000, 1, A, LEFT_PREEMPTED, 0)
        .switch(4500, 1, 0, 6, A);
    let m = model(&[events.batch(0), loss(5000, 4, 4)]);
    assert_eq!(states(&m), [(A, 4000, 4500, Preempted, 1), (A, 4500, 5000, Running, 1)]);
}

#[test]
fn a_gap_ends_what_was_known_and_nothing_begins_in_it() {
    let events = Events::new(1000)
        .switch(1000, 0, 0, 6, A)
        .switch(1500, 1, 0, 6, B)
        // On CPU 0 some events were lost from 2000 to 3000; those of CPU 1 in that time may be
        // incomplete.
        .switch(2500, 1, B, LEFT_PREEMPTED, 0)
        .gap(3000, 1000)
        .switch(3000, 0, A, LEFT_PREEMPTED, 0)
        .switch(3600, 0, 0, 6, A);
    let m = model(&[events.batch(0), loss(4000, 5, 5)]);
    let expected = [
        (A, 1000, 2000, Running, 0),
        (A, 3000, 3600, Preempted, 0),
        (A, 3600, 4000, Running, 0),
        (B, 1500, 2000, Running, 1),
    ];
    assert_eq!(states(&m), expected);
    assert_eq!(turns(&m), [(0, 3000, 3600, "idle")]);
    // The same when a whole batch is missing.
    let first = Events::new(1000).switch(1000, 0, 0, 6, A).switch(2000, 1, 0, 6, B);
    let third = Events::new(3000).switch(3000, 0, A, LEFT_PREEMPTED, 0).switch(3600, 0, 0, 6, A);
    let m = model(&[first.batch(0), third.batch(2), loss(4000, 6, 4)]);
    let expected = [(A, 1000, 2000, Running, 0), (A, 3000, 3600, Preempted, 0), (A, 3600, 4000, Running, 0)];
    assert_eq!(states(&m), expected);
}

#[test]
fn damage_is_told_and_the_level_is_off_where_nothing_came() {
    let unknown = Events::new(1000).switch(1000, 0, A, LEFT_PREEMPTED, 9).switch(2000, 0, 9, 2, A);
    let m = model(&[unknown.batch(0), loss(3000, 2, 2)]);
    assert!(m.health.damage.iter().any(|d| d.kind == DamageKind::Unresolved));
    assert!(turns(&m).is_empty() && states(&m).len() == 2);
    let bad = (0x61, Fields::default().uint(0).uint(1000).uint(3).bytes(&[0, 0]).0);
    let m = model(&[bad]);
    assert!(m.health.damage.iter().any(|d| d.kind == DamageKind::Malformed));
    let m = model(&[]);
    assert!(!m.sched.recorded && !m.sched.interrupts_recorded);
}
