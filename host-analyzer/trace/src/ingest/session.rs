//! The traced processes and the attached probes. A record that comes again replaces the earlier
//! one.

use profinfer_wire::record::control::level;
use profinfer_wire::record::control::{Refused, Refused2};
use profinfer_wire::record::session as wire;
use profinfer_wire::record::session::role;

use crate::model::{
    FactScope, FactValue, Level, Library, LibraryRole, Model, Probe, Process, RefusedPlan, Session,
};

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

pub(super) fn library(session: &mut Session, r: &wire::Library2<'_>) {
    let library = Library {
        pid: r.pid,
        path: r.path.to_owned(),
        build_id: r.build_id.iter().map(|b| format!("{b:02x}")).collect(),
        roles: ROLES.iter().filter(|(bit, ..)| r.roles & bit != 0).map(|(_, role, _)| *role).collect(),
    };
    replace(&mut session.libraries, library, |a, b| a.pid == b.pid && a.path == b.path);
}

/// The record of agents until 2026-11-26, with the roles as text. Only this function parses it.
pub(super) fn library_of_words(session: &mut Session, r: &wire::Library<'_>) {
    let bit = |word: &str| ROLES.iter().find(|(.., name)| *name == word).map_or(0, |(bit, ..)| *bit);
    let roles = r.role.split(", ").fold(0, |bits, word| bits | bit(word));
    library(session, &wire::Library2 { pid: r.pid, path: r.path, build_id: r.build_id, roles });
}

/// The bit of each role, and its word in the record [`wire::Library`].
const ROLES: [(u32, LibraryRole, &str); 6] = [
    (role::TOKEN, LibraryRole::Token, "token"),
    (role::GRAPH, LibraryRole::Graph, "graph"),
    (role::CPU_GRAPH, LibraryRole::CpuGraph, "CPU graph"),
    (role::CPU_OPERATORS, LibraryRole::CpuOperators, "CPU operators"),
    (role::BACKEND_FUNCTIONS, LibraryRole::BackendFunctions, "functions of backends"),
    (role::NAMES_AND_LAYOUT, LibraryRole::NamesAndLayout, "names and layout"),
];

pub(super) fn refused(r: &Refused2<'_>) -> RefusedPlan {
    let [tried, answer, help] = [r.tried, r.answer, r.help].map(str::to_owned);
    RefusedPlan { tried, answer, help }
}

/// The record of agents until 2026-11-26 has one text. Its parts cannot be separated safely.
pub(super) fn refused_in_one(r: &Refused<'_>) -> RefusedPlan {
    RefusedPlan { tried: String::new(), answer: r.reason.to_owned(), help: String::new() }
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

/// Completes names that the kernel cut to 15 bytes, from the file of the program and the command
/// line. A shorter name is complete, and may be one that the process gave itself.
pub(super) fn full_names(model: &mut Model) {
    /// Bytes of a name in the kernel: `TASK_COMM_LEN` without the final zero.
    const KERNEL_NAME: usize = 15;
    let program = model.texts.find("program");
    for process in &mut model.session.processes {
        let file = program.and_then(|name| model.facts.latest(FactScope::Process(process.pid), name));
        let file = match file {
            Some(FactValue::Text(text)) => model.texts.get(text),
            _ => "",
        };
        // The program first: on the command line, a launcher's name precedes it.
        let words = || [file].into_iter().chain(process.command.split(' ')).map(file_name);
        let fits = |name: &&str| match process.name.len() {
            0 => !name.is_empty(),
            KERNEL_NAME.. => name.starts_with(&process.name),
            _ => false,
        };
        if let Some(full) = words().find(fits) {
            process.name = full.to_owned();
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Fact;

    fn named(name: &str, command: &str, program: Option<&str>) -> String {
        let mut model = Model::default();
        let (name, command) = (name.to_owned(), command.to_owned());
        model.session.processes.push(Process { pid: 7, name, command, engine_version: String::new() });
        if let Some(program) = program {
            let value = FactValue::Text(model.texts.intern(program));
            let (scope, name) = (FactScope::Process(7), model.texts.intern("program"));
            model.facts.rows.push(Fact { at_ns: 1, scope, name, value });
        }
        full_names(&mut model);
        model.session.processes.remove(0).name
    }

    #[test]
    fn names_that_the_kernel_cut_are_completed() {
        let of = named;
        let full = "llama-completion";
        assert_eq!(of("llama-completio", "/usr/bin/llama-completion -m m.gguf", None), full);
        assert_eq!(of("llama-completio", "", Some("/usr/bin/llama-completion")), full);
        // Started by the dynamic linker, or by a link of another name.
        assert_eq!(
            of("llama-completio", "/lib/ld.so --argv0 x /b/llama-completion", Some("/lib/ld.so")),
            full
        );
        // Nothing continues the cut name.
        assert_eq!(of("llama-completio", "python3 serve.py", Some("/usr/bin/python3")), "llama-completio");
        // Already complete, and chosen by the process itself.
        assert_eq!(of("worker", "worker-pool -m m.gguf", Some("/usr/bin/worker-pool")), "worker");
        // The process had ended before its name was read.
        assert_eq!(of("", "/usr/bin/llama-cli -m m", None), "llama-cli");
        assert_eq!(of("", "", Some("/usr/bin/llama-cli")), "llama-cli");
        assert_eq!(of("", "", None), "");
    }
}
