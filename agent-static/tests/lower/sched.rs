//! The scheduler level: the host gets the kernel's events, and dropped ones are counted.

use profinfer_agent::bpf::SchedTotals;
use profinfer_agent::bpf::ring::{Event, Head, Interrupt, Switch, TASK_COMM, Who};
use profinfer_agent::link::output::Weight;
use profinfer_agent::observe::sched::format::Format;
use profinfer_agent::observe::sched::formats::Formats;
use profinfer_agent::observe::sched::states::States;
use profinfer_trace::model::ThreadState::{Preempted, Running, Sleeping, Woken};
use profinfer_trace::model::{InterruptKind, Model, ThreadState};

use crate::run::{PID, Run, TID};

const STATES: &str =
    "ID: 1\nprint fmt: { 0x1, \"S\" }, { 0x2, \"D\" }, { 0x10, \"X\" }, REC->prev_state & 0x100 ? \"+\"";
const SLEEPS: u64 = 1;
const PREEMPTED: u64 = 0x100;

fn name(text: &str) -> [u8; TASK_COMM] {
    std::array::from_fn(|k| text.as_bytes().get(k).copied().unwrap_or(0))
}

fn own(tid: u32) -> Who {
    Who::Engine(PID, tid)
}

fn other(tid: u32, text: &str) -> Who {
    Who::Other(tid, name(text))
}

fn begin(run: &mut Run) {
    let softirqs = vec![(1, "TIMER".to_owned())];
    let states = States::new(&Format::parse(STATES).unwrap()).unwrap();
    run.lower.begin_sched(&Formats::given(states, softirqs), 7, false);
}

fn switch(run: &mut Run, at_ns: u64, cpu: u32, (prev, state): (Who, u64), next: Who) {
    run.event(&Event::Switch(Switch { cpu, at_ns, state, prev, next }));
}

fn states(model: &Model) -> Vec<(u32, u64, u64, ThreadState, u16)> {
    let s = &model.sched.states;
    let row = |i: usize| {
        (model.threads.get(s.thread[i]).tid, s.start_ns[i], s.duration_ns[i], s.state[i], s.cpu[i])
    };
    (0..s.len()).map(row).collect()
}

#[test]
fn switches_become_states_and_turns() {
    let mut run = Run::new();
    begin(&mut run);
    // Seen by a probe first, and again after the tracepoints have reported it.
    let seen = Head { tid: TID, tgid: PID, arg: 1 };
    run.event(&Event::Seen(seen, 500));
    switch(&mut run, 1000, 1, (own(TID), PREEMPTED), other(77, "busy"));
    run.event(&Event::Seen(seen, 1500));
    switch(&mut run, 4000, 1, (other(77, "busy"), SLEEPS), own(TID));
    switch(&mut run, 5000, 1, (own(TID), SLEEPS), other(0, ""));
    let head = Head { tid: TID, tgid: PID, arg: 2 };
    run.event(&Event::Wake(head, 6000));
    run.event(&Event::Migration(Head { arg: 1, ..head }, 6200));
    switch(&mut run, 7000, 1, (other(0, ""), 0), own(TID));
    let interrupt = Interrupt { cpu: 1, start_ns: 7100, end_ns: 7300, soft: None, name: name("eth0") };
    run.event(&Event::Interrupt(interrupt));
    run.event(&Event::Interrupt(Interrupt { soft: Some(1), start_ns: 7310, end_ns: 7400, ..interrupt }));
    let totals =
        SchedTotals { switches: 4, wakes: 1, migrations: 1, interrupts: 2, ..SchedTotals::default() };
    run.lower.emit_sched_loss(8000, &totals, Weight::Essential);
    let model = run.finish();
    let expected = [
        (TID, 500, 500, Running, 1),
        (TID, 1000, 3000, Preempted, 1),
        (TID, 4000, 1000, Running, 1),
        (TID, 5000, 1000, Sleeping, 1),
        (TID, 6000, 200, Woken, 2),
        (TID, 6200, 800, Woken, 1),
        (TID, 7000, 1000, Running, 1),
    ];
    assert_eq!(states(&model), expected);
    let (turns, tasks) = (&model.sched.turns, &model.sched.tasks);
    let turn = |i: usize| {
        (turns.cpu[i], turns.start_ns[i], turns.duration_ns[i], tasks[turns.task[i].0 as usize].tid)
    };
    assert_eq!([0, 1].map(turn), [(1, 1000, 3000, 77), (1, 6200, 800, 0)]);
    let i = &model.sched.interrupts;
    assert_eq!(
        (&*i.duration_ns, &*i.kind),
        (&[200, 90][..], &[InterruptKind::Hard, InterruptKind::Soft][..])
    );
    assert_eq!([i.name[0], i.name[1]].map(|n| model.texts.get(n)), ["eth0", "TIMER"]);
    let ledger = model.health.sched.unwrap();
    assert!(model.health.perfect() && ledger.sent == 9, "{:?}", model.health);
    assert!(model.sched.recorded && model.sched.interrupts_recorded);
}

#[test]
fn a_renamed_task_is_a_new_one_and_dropped_events_are_a_gap() {
    let mut run = Run::new();
    begin(&mut run);
    let mut at_ns = 0;
    let mut seen = 0;
    let mut turns = |run: &mut Run, text: &str, n: u64| {
        for _ in 0..n {
            at_ns += 1000;
            switch(run, at_ns, 0, (own(TID), PREEMPTED), other(77, text));
            switch(run, at_ns + 400, 0, (other(77, text), SLEEPS), own(TID));
            seen += 2;
        }
    };
    turns(&mut run, "sh", 10);
    turns(&mut run, "backup", 1000);
    run.lower.emit.flush();
    run.close_link(true);
    turns(&mut run, "backup", 200_000);
    run.close_link(false);
    run.lower.emit.flush();
    turns(&mut run, "backup", 1000);
    run.lower.emit_sched_loss(
        at_ns + 500,
        &SchedTotals { switches: seen, ..SchedTotals::default() },
        Weight::Essential,
    );
    let model = run.finish();
    let ledger = model.health.sched.unwrap();
    assert!(ledger.queue_full > 0 && ledger.balances() && !model.health.perfect());
    assert_eq!(ledger.sent, model.health.sched_received);
    let names: Vec<&str> = model.sched.tasks.iter().map(|t| model.texts.get(t.name)).collect();
    assert_eq!(names, ["sh", "backup"]);
    assert!(model.sched.tasks.iter().all(|t| t.tid == 77));
    // All received states have their original length.
    let rows = states(&model);
    assert!(
        rows.len() > 2000 && rows.iter().all(|r| r.2 == if r.3 == Preempted { 400 } else { 600 }),
        "{:?}",
        rows.len()
    );
    assert!((rows.len() as u64) < seen);
}
