//! The scheduler level: figures by hand.

use profinfer_analysis::Analysis;
use profinfer_analysis::sched::pieces::pieces;
use profinfer_analysis::sched::{CpuHolders, Holder, MAX_HOLDERS, OnCpu, StateTimes, Waiter};
use profinfer_trace::model::ThreadState::{Preempted, Running, Sleeping, Woken};
use profinfer_trace::model::*;
use profinfer_views as views;

use crate::models::small;

/// Added to the small session: its two threads on CPUs 0 and 1, a task that takes CPU 0 twice, the
/// idle task of CPU 1. The first call, prefill, is from `calls[0].0` to `calls[0].1`, and so on.
fn model() -> (Model, Vec<(u64, u64)>) {
    let mut m = small::model();
    let calls: Vec<(u64, u64)> =
        m.llama_calls.start_ns.iter().zip(&m.llama_calls.duration_ns).map(|(s, d)| (*s, s + d)).collect();
    let (p, d) = (calls[0].0, calls[1].0);
    let rows = [
        (0, p, 100, Running, 0),
        (0, p + 100, 60, Preempted, 0),
        (0, p + 160, 40, Preempted, 1),
        (0, p + 200, 100, Running, 1),
        // Then 50 unknown ns; then decode.
        (0, p + 350, d - p - 350, Sleeping, 1),
        (0, d, 30, Woken, 0),
        (0, d + 30, 20, Running, 0),
        (1, p + 120, 30, Preempted, 0),
    ];
    let s = &mut m.sched;
    s.recorded = true;
    for (thread, start, length, state, cpu) in rows {
        s.states.thread.push(ThreadId(thread));
        s.states.start_ns.push(start);
        s.states.duration_ns.push(length);
        s.states.state.push(state);
        s.states.cpu.push(cpu);
    }
    // CPU 0: the task all the time except the last 10 ns of the first wait, for which no task is
    // known; CPU 1: idle.
    for (cpu, start, length, task) in [(0, p + 100, 50, 0), (0, d + 5, 25, 0), (1, p + 160, 40, 1)] {
        s.turns.cpu.push(cpu);
        s.turns.start_ns.push(start);
        s.turns.duration_ns.push(length);
        s.turns.task.push(TaskId(task));
    }
    let [backup, idle, command, cgroup] =
        ["backup", "idle", "backup /data", "/system"].map(|t| m.texts.intern(t));
    let none = Text::default();
    m.sched.tasks.push(Task { tid: 90, pid: 89, name: backup, command, cgroup });
    m.sched.tasks.push(Task { tid: 0, pid: 0, name: idle, command: none, cgroup: none });
    (m, calls)
}

#[test]
fn time_by_state_and_phase() {
    let (m, calls) = model();
    let sched = Analysis::compute(&m).sched;
    assert!(calls[0].1 - calls[0].0 >= 300 && calls[1].1 - calls[1].0 >= 50, "{calls:?}");
    let first = &sched.threads[0];
    assert_eq!((first.runs, first.preemptions, first.migrations), (3, 1, 2));
    let sleeping_ns = calls[1].0 - calls[0].0 - 350;
    let whole = StateTimes {
        running_ns: 220,
        preempted_ns: 100,
        woken_ns: 30,
        sleeping_ns,
        blocked_ns: 0,
        stopped_ns: 0,
        unknown_ns: 50,
    };
    assert_eq!(first.whole, whole);
    assert_eq!((first.prefill.running_ns, first.prefill.preempted_ns), (200, 100));
    let decode = StateTimes { running_ns: 20, woken_ns: 30, ..StateTimes::default() };
    assert_eq!(first.decode, decode);
    let in_prefill = first.prefill.sleeping_ns + first.prefill.unknown_ns;
    assert_eq!(in_prefill, calls[0].1 - calls[0].0 - 300);
    assert_eq!(sched.threads[1].whole, StateTimes { preempted_ns: 30, ..StateTimes::default() });
}

#[test]
fn only_time_for_which_a_thread_waited_is_blamed() {
    let (m, _) = model();
    let sched = Analysis::compute(&m).sched;
    let [task, idle] = &*sched.interference else { panic!("{:?}", sched.interference) };
    assert_eq!(
        (task.tid, task.pid, &*task.name, &*task.command, &*task.cgroup),
        (90, 89, "backup", "backup /data", "/system")
    );
    assert_eq!((task.engine, task.idle, idle.idle, idle.tid), (false, false, true, 0));
    assert_eq!((task.turns, task.time_ns, task.prefill_ns, task.decode_ns), (2, 75, 50, 25));
    // Two threads waited at the same time for 30 ns.
    assert_eq!((task.preempted_ns, task.woken_ns), (80, 25));
    assert_eq!(task.cpus, [OnCpu { cpu: 0, turns: 2, time_ns: 75 }]);
    let tid = |t: usize| m.threads.get(ThreadId(t as u32)).tid;
    let waiters = [
        Waiter { tid: tid(0), preempted_ns: 50, woken_ns: 25 },
        Waiter { tid: tid(1), preempted_ns: 30, woken_ns: 0 },
    ];
    assert_eq!(task.threads, waiters);
    assert_eq!((idle.turns, idle.time_ns, idle.preempted_ns), (1, 40, 40));
}

/// The task of the small session also has CPU 1 while the engine's first thread has CPU 0 alone.
#[test]
fn holders_of_a_cpu_count_whether_or_not_a_thread_wanted_it() {
    let (mut m, calls) = model();
    assert!(Analysis::compute(&m).sched.cpu_holders.is_empty());
    m.sched.cpu_use_recorded = true;
    m.session.agent_pid = Some(300);
    m.session.processes.push(Process {
        pid: m.threads.get(ThreadId(0)).pid,
        name: String::new(),
        command: String::new(),
        engine_version: String::new(),
    });
    let (none, (p, d)) = (Text::default(), (calls[0].0, calls[1].0));
    let many = m.texts.intern("others");
    let task = |tid, pid, name| Task { tid, pid, name, command: none, cgroup: none };
    m.sched.tasks.push(task(OTHER_TASKS, 0, many));
    m.sched.tasks.extend((0..12).map(|n| task(300 + n, 300, none)));
    let own = TaskId(m.sched.tasks.len() as u32);
    m.sched.tasks.push(task(m.threads.get(ThreadId(0)).tid, m.threads.get(ThreadId(0)).pid, none));
    // Half of this window is before the first call.
    let mut row = |cpu, start, length, task, busy| {
        let u = &mut m.sched.cpu_use;
        u.cpu.push(cpu);
        u.start_ns.push(start);
        u.duration_ns.push(length);
        u.task.push(task);
        u.busy_ns.push(busy);
    };
    row(0, p - 100, 200, TaskId(0), 120);
    row(0, p - 100, 200, TaskId(1), 50);
    row(0, p - 100, 200, own, 30);
    row(0, d, 40, TaskId(0), 40);
    row(1, p, 40, TaskId(2), 7);
    for n in 0..12 {
        row(1, p + 40, 40, TaskId(3 + n), 12 - u64::from(n));
    }
    let holders = Analysis::compute(&m).sched.cpu_holders;
    let [first, second] = &holders[..] else { panic!("{holders:?}") };
    // The engine's own time is that of its states: 100 in the prefill call and 20 in decode.
    let short = |h: &Holder| (h.tid, h.engine, h.agent, h.busy_ns, h.prefill_ns, h.decode_ns);
    let tid = m.threads.get(ThreadId(0)).tid;
    let expected = [(90, false, Some(false), 160, 60, 40), (tid, true, Some(false), 120, 100, 20)];
    assert_eq!(first.holders.iter().map(short).collect::<Vec<_>>(), expected);
    assert_eq!((&*first.holders[0].name, &*first.holders[0].command), ("backup", "backup /data"));
    // On CPU 1 the engine's first thread ran for 100 ns, and 12 threads of the agent.
    let CpuHolders { cpu: 1, holders, rest_tasks: 3, rest_ns } = second else { panic!("{second:?}") };
    assert_eq!((holders.len(), *rest_ns), (MAX_HOLDERS, 1 + 2 + 3 + 7));
    assert_eq!((holders[0].engine, holders[0].busy_ns), (true, 100));
    assert_eq!((holders[1].agent, holders[1].busy_ns, holders[9].busy_ns), (Some(true), 12, 4));
}

#[test]
fn pieces_make_up_the_stretches_and_the_timelines_show_them() {
    let (m, calls) = model();
    let all: Vec<_> = pieces(&m).collect();
    let sum: u64 = all.iter().map(|p| p.end_ns - p.start_ns).sum();
    assert_eq!(sum, m.sched.states.duration_ns.iter().sum::<u64>());
    let waits: Vec<_> =
        all.iter().filter(|p| p.state == Woken).map(|p| (p.start_ns - calls[1].0, p.turn)).collect();
    assert_eq!(waits, [(0, None), (5, Some(1))]);
    let analysis = Analysis::compute(&m);
    let mut chrome = Vec::new();
    views::chrome::chrome(&m, &analysis, &mut chrome).unwrap();
    let chrome = String::from_utf8(chrome).unwrap();
    for name in
        ["preempted by backup", "woken, waits for backup", "preempted, CPU idle", "\"woken\"", "sleeping"]
    {
        assert!(chrome.contains(name), "{name}");
    }
    let mut perfetto = Vec::new();
    views::perfetto::perfetto(&m, &analysis, &mut perfetto).unwrap();
    assert!(unpacked(&perfetto).windows(19).any(|w| w == b"preempted by backup"));
}

/// A file in Perfetto's format with its bundles of packets (field 50 of a packet, which is its
/// complete content) unpacked.
pub(crate) fn unpacked(mut file: &[u8]) -> Vec<u8> {
    fn varint(bytes: &mut &[u8]) -> usize {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = bytes.split_off_first().unwrap();
            value |= usize::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return value;
            }
        }
    }
    let mut all = Vec::new();
    while file.split_off_first().is_some() {
        let len = varint(&mut file);
        let mut packet = file.split_off(..len).unwrap();
        if packet.starts_with(&[0x92, 0x03]) {
            let _ = packet.split_off(..2);
            varint(&mut packet);
            std::io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(packet), &mut all).unwrap();
        } else {
            all.extend_from_slice(packet);
        }
    }
    all
}
