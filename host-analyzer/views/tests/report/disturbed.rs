//! A session whose worker thread loses its CPU in every decode call, with facts and ceilings.

use profinfer_trace::model::{
    Ceiling, CeilingKind, CeilingSource, Fact, FactScope, FactValue, GraphCallId, InterruptKind, Model, Task,
    TaskId, ThreadId, ThreadState,
};

use crate::session::{DECODE_NS, PAUSE_NS, PREFILL_NS, with_decodes};

/// Enough for findings.
pub(crate) const DISTURBED: u64 = 24;

/// Time for which the other task uses the worker's CPU in each decode call, ns.
pub(crate) const TAKEN_NS: u64 = 3_000_000;
/// The worker, and the CPU that it runs on.
pub(crate) const WORKER: u32 = 4712;
const CPU: u16 = 1;
/// One interrupt in each decode call, ns.
pub(crate) const INTERRUPT_NS: u64 = 20_000;

/// `text`: name and command line of the task.
pub(crate) fn disturbed(text: &str) -> Model {
    let mut m = with_decodes(DISTURBED);
    scheduler(&mut m, text);
    facts(&mut m, text);
    m.ceilings = vec![
        ceiling(CeilingKind::Read, vec![0, 1], 12_000_000_000, ""),
        ceiling(CeilingKind::Int8, vec![0, 1], 400_000_000_000, text),
        ceiling(CeilingKind::Barrier, vec![0, 1], 900, ""),
    ];
    m
}

fn scheduler(m: &mut Model, text: &str) {
    let worker = m.threads.find_or_add(WORKER);
    let (name, command) = (m.texts.intern(text), m.texts.intern(text));
    let cgroup = m.texts.intern("/");
    m.sched.recorded = true;
    m.sched.interrupts_recorded = true;
    m.sched.tasks = vec![Task { tid: 999, pid: 998, name, command, cgroup }];
    let timer = m.texts.intern("TIMER");
    let first = m.session.start_ns + 3_000_000 + PREFILL_NS + PAUSE_NS;
    for call in 0..DISTURBED {
        let start = first + call * (DECODE_NS + PAUSE_NS);
        let taken = held_up(m, u32::try_from(call).expect("small") + 1, worker);
        let after = taken + TAKEN_NS;
        for (from, to, state) in [
            (start, taken, ThreadState::Running),
            (taken, after, ThreadState::Preempted),
            (after, start + DECODE_NS, ThreadState::Running),
        ] {
            m.sched.states.thread.push(worker);
            m.sched.states.start_ns.push(from);
            m.sched.states.duration_ns.push(to - from);
            m.sched.states.state.push(state);
            m.sched.states.cpu.push(CPU);
        }
        m.sched.turns.cpu.push(CPU);
        m.sched.turns.start_ns.push(taken);
        m.sched.turns.duration_ns.push(TAKEN_NS);
        m.sched.turns.task.push(TaskId(0));
        m.sched.interrupts.cpu.push(CPU);
        m.sched.interrupts.start_ns.push(after + 100_000);
        m.sched.interrupts.duration_ns.push(INTERRUPT_NS);
        m.sched.interrupts.kind.push(InterruptKind::Soft);
        m.sched.interrupts.name.push(timer);
    }
}

/// Extends the worker's first operator of a call by the time taken from it, and makes the other thread
/// wait for it. Returns when the time is taken, ns.
fn held_up(m: &mut Model, decode: u32, worker: ThreadId) -> u64 {
    let rows: Vec<usize> =
        (0..m.spans.len()).filter(|row| m.spans.graph_call[*row] == GraphCallId(decode * 2 + 1)).collect();
    let begun = rows.iter().map(|row| m.spans.start_ns[*row]).min().expect("spans");
    for row in rows {
        if m.spans.start_ns[row] != begun {
            m.spans.start_ns[row] += TAKEN_NS;
        } else if m.spans.thread[row] == worker {
            m.spans.work_ns[row] += TAKEN_NS;
        } else {
            m.spans.wait_ns[row] += u32::try_from(TAKEN_NS).expect("small");
        }
    }
    begun + 200
}

fn facts(m: &mut Model, text: &str) {
    let process = FactScope::Process(4711);
    let at_ns = m.session.start_ns;
    let mut add = |scope, name: &str, value| {
        let name = m.texts.intern(name);
        m.facts.rows.push(Fact { at_ns, scope, name, value });
    };
    add(FactScope::System, "page.size", FactValue::Number(16_384));
    add(process, "cgroup.quota_us", FactValue::Number(150_000));
    add(process, "cgroup.period_us", FactValue::Number(100_000));
    let (variable, why) = (m.texts.intern(text), m.texts.intern("there is no such file"));
    let mut add = |scope, name: &str, value| {
        let name = m.texts.intern(name);
        m.facts.rows.push(Fact { at_ns, scope, name, value });
    };
    add(process, "env.OMP_NUM_THREADS", FactValue::Text(variable));
    add(process, "environment.read", FactValue::Number(1));
    for cpu in 0..2 {
        add(FactScope::Cpu(cpu), "cpu.capacity", FactValue::Number(1_024));
        add(FactScope::Cpu(cpu), "cpu.governor", FactValue::Absent(why));
    }
}

fn ceiling(kind: CeilingKind, cpus: Vec<u16>, median: u64, note: &str) -> Ceiling {
    Ceiling {
        kind,
        core: "cortex-a76".into(),
        cpus,
        how: "by hand".into(),
        repeats: 7,
        median,
        min: median - 100,
        max: median + 100,
        note: note.into(),
        points: Vec::new(),
        load: None,
        source: CeilingSource::Recording,
    }
}
