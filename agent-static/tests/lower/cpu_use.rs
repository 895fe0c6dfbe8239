//! Who had the CPUs: the host gets the kernel's windows and those that were open at the end, and
//! dropped ones are counted.

use profinfer_agent::bpf::CpuUseTotals;
use profinfer_agent::bpf::cpu_use::Open;
use profinfer_agent::bpf::ring::{CpuUse, Event, TASK_COMM, Who};
use profinfer_agent::link::output::Weight;
use profinfer_agent::observe::sched::format::Format;
use profinfer_agent::observe::sched::formats::Formats;
use profinfer_agent::observe::sched::states::States;
use profinfer_trace::model::Model;

use crate::run::{PID, Run, TID};

fn begin(run: &mut Run) {
    let format = "ID: 1\nprint fmt: { 0x1, \"S\" }, { 0x2, \"D\" }, REC->prev_state & 0x100 ? \"+\"";
    let states = States::new(&Format::parse(format).unwrap()).unwrap();
    run.lower.begin_sched(&Formats::given(states, Vec::new()), 1, false);
}

fn other(tid: u32, text: &str) -> Who {
    let name: [u8; TASK_COMM] = std::array::from_fn(|k| text.as_bytes().get(k).copied().unwrap_or(0));
    Who::Other(tid, name)
}

/// An id that no task has.
const BUSY: u32 = PID + 77;

fn window(cpu: u32, from_ns: u64, to_ns: u64, tasks: &[(Who, u64)]) -> CpuUse {
    let used: u64 = tasks.iter().map(|(_, ns)| ns).sum();
    let mut window = CpuUse::idle(cpu, from_ns, to_ns, to_ns - from_ns - used);
    tasks.iter().for_each(|(who, ns)| window.add(*who, *ns));
    window
}

fn rows(model: &Model) -> Vec<(u16, u64, u64, u32, u64)> {
    let u = &model.sched.cpu_use;
    let tid = |i: usize| model.sched.tasks[u.task[i].0 as usize].tid;
    (0..u.len()).map(|i| (u.cpu[i], u.start_ns[i], u.duration_ns[i], tid(i), u.busy_ns[i])).collect()
}

#[test]
fn windows_of_the_kernel_and_open_ones_arrive() {
    let mut run = Run::new();
    begin(&mut run);
    let both = [(other(BUSY, "busy"), 60), (Who::Engine(PID, TID), 30)];
    run.event(&Event::CpuUse(window(1, 1000, 1100, &both)));
    run.event(&Event::CpuUse(window(0, 1000, 1200, &[(other(BUSY, "busy"), 200)])));
    let last = window(1, 1100, 9000, &[(other(BUSY, "busy"), 7900)]);
    run.lower.open_cpu_uses(&Open { windows: vec![last], small_ns: 40 });
    let totals = CpuUseTotals { windows: 2, windows_late: 1, small_ns: 2, ..CpuUseTotals::default() };
    run.lower.emit_cpu_use_loss(9000, &totals, Weight::Essential);
    let model = run.finish();
    let expected = [
        (0, 1000, 200, BUSY, 200),
        (1, 1000, 100, 0, 10),
        (1, 1000, 100, BUSY, 60),
        (1, 1000, 100, TID, 30),
        (1, 1100, 7900, BUSY, 7900),
    ];
    assert_eq!(rows(&model), expected);
    let ledger = model.health.cpu_use.unwrap();
    assert_eq!((ledger.windows, ledger.sent, ledger.windows_late, ledger.small_ns), (3, 3, 1, 42));
    assert!(model.health.perfect() && model.sched.cpu_use_recorded && model.sched.cpu_use_gaps.is_empty());
    let tasks: Vec<&str> = model.sched.tasks.iter().map(|t| model.texts.get(t.name)).collect();
    assert!(tasks.contains(&"busy"), "{tasks:?}");
}

#[test]
fn dropped_windows_are_counted_and_a_gap() {
    let mut run = Run::new();
    begin(&mut run);
    let (mut at_ns, mut seen) = (0, 0);
    let mut windows = |run: &mut Run, n: u64| {
        for _ in 0..n {
            run.event(&Event::CpuUse(window(0, at_ns, at_ns + 100, &[(other(BUSY, "busy"), 90)])));
            (at_ns, seen) = (at_ns + 100, seen + 1);
        }
    };
    windows(&mut run, 1000);
    run.lower.emit.flush();
    run.close_link(true);
    windows(&mut run, 400_000);
    run.close_link(false);
    run.lower.emit.flush();
    windows(&mut run, 1000);
    let totals = CpuUseTotals { windows: seen, ..CpuUseTotals::default() };
    run.lower.emit_cpu_use_loss(at_ns, &totals, Weight::Essential);
    let model = run.finish();
    let ledger = model.health.cpu_use.unwrap();
    assert!(ledger.queue_full > 0 && ledger.balances() && !model.health.perfect());
    assert_eq!(ledger.sent, model.health.cpu_use_received);
    let starts = &model.sched.cpu_use.start_ns;
    // Every window is here, or its end is in a gap.
    let here: std::collections::HashSet<u64> = starts.iter().copied().collect();
    let unknown = |end: u64| model.sched.cpu_use_gaps.iter().any(|(from, to)| (*from..=*to).contains(&end));
    assert!((0..seen).all(|n| here.contains(&(n * 100)) || unknown(n * 100 + 100)));
    assert!(here.len() as u64 == ledger.sent && ledger.sent < seen);
}

#[test]
fn a_window_of_which_no_task_is_known_arrives_too() {
    let mut run = Run::new();
    begin(&mut run);
    run.event(&Event::CpuUse(CpuUse::idle(1, 1000, 1100, 0)));
    let totals = CpuUseTotals { windows: 1, ..CpuUseTotals::default() };
    run.lower.emit_cpu_use_loss(9000, &totals, Weight::Essential);
    let model = run.finish();
    assert_eq!(rows(&model).iter().map(|r| (r.0, r.1, r.2, r.4)).collect::<Vec<_>>(), [(1, 1000, 100, 0)]);
    assert!(model.health.cpu_use.unwrap().nothing_lost());
}
