//! How a session ended, for every possible ending.

use profinfer_analysis::Analysis;
use profinfer_analysis::ending::{Child, Ending, EndingCode, EndingState, Memory};
use profinfer_analysis::health::{Remark, Severity};
use profinfer_trace::model::*;

use crate::models::small;

fn row(kind: EndingKind, pid: u32) -> EndingRow {
    let text = String::new();
    EndingRow { at_ns: 0, kind, pid, other: 0, status: None, signal: None, since_ns: 0, text }
}

/// A completely recorded session without any computation, with a probe in place.
fn silent() -> Model {
    let mut m = Model::default();
    m.session.processes.push(Process {
        pid: small::PID,
        name: "llama-cli".into(),
        command: String::new(),
        engine_version: String::new(),
    });
    m.session.probes.push(Probe {
        pid: small::PID,
        level: Some(Level::Token),
        what: String::new(),
        symbol: String::new(),
        library: String::new(),
        offset: 1,
        attached: true,
        note: String::new(),
    });
    m.health.ledger = Some(Ledger::default());
    m.health.end = small::model().health.end;
    m
}

fn ending(m: &Model) -> Ending {
    Analysis::compute(m).ending
}

/// Code and state of a silent session with these rows.
fn of(rows: Vec<EndingRow>) -> (EndingCode, EndingState, bool) {
    let mut m = silent();
    m.endings = rows;
    let e = ending(&m);
    // The remark comes first, and no remark claims that all is well.
    let health = Analysis::compute(&m).health;
    assert!(matches!(health.remarks[0], Remark::Ending(_)));
    assert!(
        health.remarks.iter().all(|r| !matches!(r, Remark::Complete { .. } | Remark::NothingSeen { .. }))
    );
    assert!(health.remarks.iter().all(|r| r.severity() != Severity::Good));
    (e.code, e.state, e.traced)
}

#[test]
fn each_row_has_its_code() {
    use EndingState::{Bad, Nothing};
    let one = |kind| of(vec![row(kind, small::PID)]);
    assert_eq!(one(EndingKind::NoProcess), (EndingCode::NoProcess, Nothing, false));
    assert_eq!(one(EndingKind::NoProbe), (EndingCode::NoProbe, Bad, false));
    assert_eq!(one(EndingKind::Exited), (EndingCode::EngineFailed, Bad, false));
    assert_eq!(one(EndingKind::Killed), (EndingCode::EngineFailed, Bad, false));
    assert_eq!(one(EndingKind::CallOpen), (EndingCode::CallUnreturned, Bad, false));
    assert_eq!(one(EndingKind::PidNamespace), (EndingCode::PidNamespace, Bad, false));
    assert_eq!(one(EndingKind::PackedLibrary), (EndingCode::PackedLibrary, Bad, false));
    assert_eq!(one(EndingKind::Child), (EndingCode::ChildrenCompute, Bad, false));
    // From a newer agent: derived from the tables.
    assert_eq!(one(EndingKind::Unknown(99)), (EndingCode::EngineEnded, Nothing, false));
    // What makes everything else meaningless comes first.
    let all = [EndingKind::Exited, EndingKind::NoProbe, EndingKind::PidNamespace];
    assert_eq!(of(all.map(|kind| row(kind, small::PID)).into()).0, EndingCode::PidNamespace);
}

#[test]
fn recordings_without_rows_tell_what_their_tables_do() {
    assert_eq!(of(vec![]), (EndingCode::EngineEnded, EndingState::Nothing, false));
    let changed = |change: &dyn Fn(&mut Model)| {
        let mut m = silent();
        change(&mut m);
        ending(&m).code
    };
    let refused = |m: &mut Model| m.session.probes[0].attached = false;
    assert_eq!(changed(&refused), EndingCode::NoProbe);
    let mut m = silent();
    refused(&mut m);
    assert_eq!(ending(&m).tried, Some(1));
    assert_eq!(changed(&|m| m.health.end = None), EndingCode::CutShort);
    let refused = |m: &mut Model| m.health.refused = Some(RefusedPlan::default());
    assert_eq!(changed(&refused), EndingCode::Refused);
    let nobody = |m: &mut Model| {
        m.session.processes.clear();
        m.session.probes.clear();
    };
    assert_eq!(changed(&nobody), EndingCode::NoProcess);
    let stopped = |m: &mut Model| m.health.end.as_mut().unwrap().reason = EndReason::HostStopped;
    assert_eq!(changed(&stopped), EndingCode::NothingComputed);
    // No level of the engine was requested, so nothing is missing.
    let asked = |levels: &[Level]| {
        let mut m = silent();
        (m.session.agent, m.session.levels) = ("0.1.0".into(), levels.to_vec());
        ending(&m)
    };
    for levels in [&[][..], &[Level::Sched]] {
        let e = asked(levels);
        assert_eq!(
            (e.code, e.state, e.traced, e.nothing_traced()),
            (EndingCode::NotAsked, EndingState::Good, false, false)
        );
    }
    assert!(asked(&[Level::Token, Level::Sched]).nothing_traced());
    let whole = ending(&small::model());
    assert_eq!((whole.code, whole.state, whole.traced), (EndingCode::Computed, EndingState::Good, true));
}

#[test]
fn an_end_after_tokens_is_no_lack_of_them() {
    let with = |row: EndingRow| {
        let mut m = small::model();
        m.endings.push(row);
        let e = ending(&m);
        (e.code, e.state, e.traced)
    };
    let killed = |signal| EndingRow { signal: Some(signal), ..row(EndingKind::Killed, small::PID) };
    assert_eq!(with(killed(11)), (EndingCode::EngineFailed, EndingState::Nothing, true));
    // People stop a working engine with these signals.
    for signal in [1, 2, 13, 15] {
        assert_eq!(with(killed(signal)), (EndingCode::Computed, EndingState::Good, true));
    }
    // A call that runs when the session ends is normal. One that runs ten times as long as any
    // other and for more than 5 s is not.
    let open = |ns: u64| EndingRow {
        at_ns: 9_000_000_000 + ns,
        since_ns: 9_000_000_000,
        ..row(EndingKind::CallOpen, small::PID)
    };
    assert_eq!(with(open(5_000_000_000)).0, EndingCode::Computed);
    assert_eq!(with(open(5_000_000_001)), (EndingCode::CallUnreturned, EndingState::Nothing, true));
}

#[test]
fn graphs_of_a_first_call_that_was_cut_are_no_call() {
    let mut m = small::model();
    m.llama_calls = LlamaCalls::default();
    m.graph_calls.decode.iter_mut().for_each(|d| *d = None);
    m.parts = Parts::default();
    // An engine without `llama_decode` calls.
    assert_eq!((ending(&m).code, ending(&m).traced), (EndingCode::Computed, true));
    m.endings.push(EndingRow { signal: Some(11), ..row(EndingKind::Killed, small::PID) });
    assert_eq!((ending(&m).code, ending(&m).traced), (EndingCode::EngineFailed, false));
}

#[test]
fn what_the_rows_say_is_told() {
    let mut m = silent();
    let lines: Vec<String> = (0..7).map(|i| format!("error {i}")).collect();
    m.endings =
        vec![EndingRow { status: Some(1), text: lines.join("\n"), ..row(EndingKind::Exited, small::PID) }];
    let e = ending(&m);
    assert_eq!(
        (e.status, e.signal, e.pid, e.name.as_deref()),
        (Some(1), None, Some(small::PID), Some("llama-cli"))
    );
    assert_eq!(e.output, lines[2..]);
    m.endings = vec![EndingRow { text: "llama-sever".into(), ..row(EndingKind::NoProcess, 0) }];
    assert_eq!((ending(&m).waited_for.as_deref(), ending(&m).pid), (Some("llama-sever"), None));
    m.endings = vec![EndingRow { other: 5, ..row(EndingKind::PidNamespace, small::PID) }];
    assert_eq!(ending(&m).inside_pid, Some(5));
    m.endings = vec![EndingRow { text: "/a/base.apk".into(), ..row(EndingKind::PackedLibrary, small::PID) }];
    assert_eq!(ending(&m).file.as_deref(), Some("/a/base.apk"));
    let child =
        |pid, name: &str| EndingRow { other: pid, text: name.into(), ..row(EndingKind::Child, small::PID) };
    m.endings = vec![child(8, "a"), child(9, "b\nb -m x.gguf")];
    let expected = [(8, "a", ""), (9, "b", "b -m x.gguf")];
    let expected =
        expected.map(|(pid, name, command)| Child { pid, name: name.into(), command: command.into() });
    assert_eq!(ending(&m).children, expected);
}

/// Facts of the engine's process, each with two readings.
fn memory(facts: &[(&str, u64, u64)]) -> Option<Memory> {
    let mut m = silent();
    for (at_ns, pick) in [(1, 0), (2, 1)] {
        for (name, first, last) in facts {
            let name = m.texts.intern(&format!("cgroup.memory.{name}"));
            let value = FactValue::Number([*first, *last][pick]);
            m.facts.rows.push(Fact { at_ns, scope: FactScope::Process(small::PID), name, value });
        }
    }
    m.endings = vec![EndingRow { at_ns: 11_000, since_ns: 1_000, ..row(EndingKind::CallOpen, small::PID) }];
    let e = ending(&m);
    assert_eq!((e.code, e.open_ns), (EndingCode::CallUnreturned, Some(10_000)));
    e.memory
}

#[test]
fn memory_of_the_control_group_is_the_reason_where_figures_say_so() {
    assert_eq!(memory(&[]), None);
    let reason = |facts: &[(&str, u64, u64)]| memory(facts).unwrap().is_reason;
    let limit = ("high", 1_000, 1_000);
    // At its limit: 95 % of it are in use.
    assert!(!reason(&[limit, ("used", 0, 949)]) && reason(&[limit, ("used", 0, 950)]));
    assert!(reason(&[("limit", 1_000, 1_000), ("used", 0, 1_000)]));
    // Exceeded in the session, not before it.
    assert!(!reason(&[limit, ("high_events", 3, 3)]) && reason(&[limit, ("high_events", 3, 4)]));
    // All tasks waited for memory during a fifth of the call's time.
    assert!(!reason(&[limit, ("stalled_ns", 100, 2_099)]) && reason(&[limit, ("stalled_ns", 100, 2_100)]));
    // Without a limit, the group is not the cause.
    assert!(!reason(&[("stalled_ns", 0, 10_000)]));
    let told = memory(&[limit, ("used", 7, 960), ("high_events", 1, 5), ("stalled_ns", 2, 9)]).unwrap();
    let expected = Memory {
        high_bytes: Some(1_000),
        limit_bytes: None,
        used_bytes: Some(960),
        high_events: Some(4),
        stalled_ns: Some(7),
        oom_kills: None,
        is_reason: true,
    };
    assert_eq!(told, expected);
}

/// The kernel kills an engine that the agent did not start, so that its status is unknown.
#[test]
fn an_engine_that_was_killed_because_memory_ran_out() {
    let with = |mut m: Model, kills: u64| {
        m.session.processes.truncate(0);
        m.session.processes.extend(silent().session.processes);
        for (at_ns, value) in [(1, 3), (2, 3 + kills)] {
            for (name, value) in [("cgroup.memory.oom_kills", value), ("cgroup.memory.limit", 1 << 30)] {
                let (scope, name) = (FactScope::Process(small::PID), m.texts.intern(name));
                m.facts.rows.push(Fact { at_ns, scope, name, value: FactValue::Number(value) });
            }
        }
        m
    };
    let codes = |m: Model| (ending(&m).code, ending(&m).state, ending(&m).traced);
    assert_eq!(codes(with(silent(), 1)), (EndingCode::OutOfMemory, EndingState::Bad, false));
    assert_eq!(codes(with(small::model(), 1)), (EndingCode::OutOfMemory, EndingState::Nothing, true));
    assert_eq!(codes(with(small::model(), 0)).0, EndingCode::Computed);
    let e = ending(&with(small::model(), 1));
    let memory = e.memory.unwrap();
    assert_eq!((e.pid, memory.oom_kills, memory.limit_bytes), (Some(small::PID), Some(1), Some(1 << 30)));
    // Another process was killed: this one goes on.
    let mut running = with(small::model(), 1);
    running.health.end.as_mut().unwrap().reason = EndReason::HostStopped;
    assert_eq!(ending(&running).code, EndingCode::Computed);
    // One that the agent started was killed by SIGKILL: the figures say by whom.
    let killed = |kills| {
        let mut m = with(small::model(), kills);
        m.endings.push(EndingRow { signal: Some(9), ..row(EndingKind::Killed, small::PID) });
        let e = ending(&m);
        (e.code, e.memory.and_then(|memory| memory.oom_kills))
    };
    assert_eq!(killed(1), (EndingCode::EngineFailed, Some(1)));
    assert_eq!(killed(0), (EndingCode::EngineFailed, None));
}
