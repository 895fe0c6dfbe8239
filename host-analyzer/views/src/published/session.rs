//! `session`: what was recorded, and where.

use super::Publish;
use profinfer_schema as schema;
use profinfer_trace::model::{self, Level};

fields! {
    model::Process => Process { pid, name, command, engine_version }
    model::Library => Library { pid, path, build_id, roles }
    model::Probe => Probe { pid, level, what, symbol, library, offset, attached, note }
    model::Counter => Counter { name, event, pmu, cpus, attached, note } - { slot }
}

names! {
    model::LibraryRole => LibraryRole { Token, Graph, CpuGraph, CpuOperators, BackendFunctions, NamesAndLayout }
}

impl Publish for Level {
    type Form = String;

    fn publish(&self) -> String {
        self.name().to_owned()
    }
}

/// `session`.
pub(crate) fn session(session: &model::Session, duration_ns: u64) -> schema::Session {
    schema::Session {
        agent: session.agent.publish(),
        kernel: session.kernel.publish(),
        machine: session.machine.publish(),
        cpu_model: session.cpu_model.publish(),
        board: session.board.publish(),
        cpus: session.cpus,
        levels: session.levels.publish(),
        start_unix_ns: session.start_unix_ns,
        duration_ns,
        processes: session.processes.publish(),
        libraries: session.libraries.publish(),
        probes: session.probes.publish(),
        counters: session.counters.publish(),
    }
}
