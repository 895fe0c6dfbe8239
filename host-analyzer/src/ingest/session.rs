//! The traced processes and the attached probes. A record that comes again replaces the earlier one.

use profinfer_wire::record::control::level;
use profinfer_wire::record::session as wire;

use crate::model::{Level, Library, Probe, Process, Session};

pub(super) fn session(session: &mut Session, r: &wire::Session<'_>) {
    session.agent = r.agent.to_owned();
    session.kernel = r.kernel.to_owned();
    session.machine = r.machine.to_owned();
    session.cpu_model = r.cpu_model.to_owned();
    session.board = r.board.to_owned();
    session.cpus = r.cpus;
    session.levels = [level::TOKEN, level::GRAPH, level::OP, level::EXPERT, level::SCHED]
        .into_iter()
        .filter(|bit| r.levels & bit != 0)
        .filter_map(level_of)
        .collect();
    session.start_ns = r.start_ns;
    session.start_unix_ns = r.start_unix_ns;
}

pub(super) fn process(session: &mut Session, r: &wire::Process<'_>) {
    let process = Process {
        pid: r.pid,
        name: r.name.to_owned(),
        command: r.command.to_owned(),
        engine_version: r.engine_version.to_owned(),
    };
    replace(&mut session.processes, process, |a, b| a.pid == b.pid);
}

pub(super) fn library(session: &mut Session, r: &wire::Library<'_>) {
    let library = Library {
        pid: r.pid,
        path: r.path.to_owned(),
        build_id: r.build_id.iter().map(|b| format!("{b:02x}")).collect(),
        role: r.role.to_owned(),
        // The wire has a list of roles as one text, each by a fixed name.
        has_cpu_backend: r.role.split(", ").any(|role| ["CPU operators", "CPU graph"].contains(&role)),
    };
    replace(&mut session.libraries, library, |a, b| a.pid == b.pid && a.path == b.path);
}

pub(super) fn probe(session: &mut Session, r: &wire::Probe<'_>) {
    let probe = Probe {
        pid: r.pid,
        level: level_of(r.level),
        what: r.what.to_owned(),
        symbol: r.symbol.to_owned(),
        library: r.library.to_owned(),
        offset: r.offset,
        attached: r.attached,
        note: r.note.to_owned(),
    };
    replace(&mut session.probes, probe, |a: &Probe, b: &Probe| {
        let key = |p: &Probe| (p.pid, p.level, p.offset);
        key(a) == key(b) && (&a.what, &a.symbol, &a.library) == (&b.what, &b.symbol, &b.library)
    });
}

fn replace<T>(rows: &mut Vec<T>, new: T, same: impl Fn(&T, &T) -> bool) {
    match rows.iter_mut().find(|old| same(old, &new)) {
        Some(old) => *old = new,
        None => rows.push(new),
    }
}

const fn level_of(bit: u32) -> Option<Level> {
    match bit {
        level::TOKEN => Some(Level::Token),
        level::GRAPH => Some(Level::Graph),
        level::OP => Some(Level::Op),
        level::EXPERT => Some(Level::Expert),
        level::SCHED => Some(Level::Sched),
        _ => None,
    }
}
