//! The examples of the session, its processes and its probes.

use profinfer_wire::record::Record;
use profinfer_wire::record::cost::ProbeCost;
use profinfer_wire::record::direct::{self, Probes, ProbesUsed};
use profinfer_wire::record::session::{
    Agent, Library, Library2, Probe, Process, Session, Text, Thread, role,
};

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let session = Session {
        wire_version: 1,
        agent: "0.1.0",
        kernel: "6.1.0",
        machine: "aarch64",
        cpu_model: "board",
        board: "generic",
        cpus: 8,
        levels: 7,
        start_ns: 1_000_000_000,
        start_unix_ns: 1_790_000_000_000_000_000,
    };
    check("session", &Record::Session(session));
    check("text", &Record::Text(Text { id: 3, text: "MUL_MAT" }));
    let process =
        Process { pid: 42, name: "llama-cli", command: "llama-cli -m m.gguf", engine_version: "0.7.0" };
    check("process", &Record::Process(process));
    let library = Library { pid: 42, path: "/usr/lib/libllama.so", build_id: &[0xab, 0xcd], role: "token" };
    check("library", &Record::Library(library));
    let (pid, path, build_id) = (42, "/usr/lib/libggml-cpu.so", &[0xab, 0xcd][..]);
    let roles = role::CPU_GRAPH | role::CPU_OPERATORS;
    check("library 2", &Record::Library2(Library2 { pid, path, build_id, roles }));
    check("agent", &Record::Agent(Agent { pid: 300 }));
    check("thread", &Record::Thread(Thread { tid: 43, pid: 42, name: "worker" }));
    let probe = Probe {
        pid: 42,
        level: 4,
        what: "operator start",
        symbol: "ggml_cpu_extra_compute_forward",
        library: "/usr/lib/libggml-cpu.so",
        offset: 0x192ec,
        attached: true,
        note: "call",
    };
    check("probe", &Record::Probe(probe));
    check("probe cost", &Record::ProbeCost(ProbeCost { pairs: 2048, pair_ns: 1310, inside_ns: 640 }));
    let used = ProbesUsed {
        pid: 42,
        used: Probes::Uprobe,
        why: direct::why::MAPPING,
        detail: "mmap: EACCES",
        places: 3,
        repaired: 2,
        stopped_ns: 812_000,
    };
    check("probes used", &Record::ProbesUsed(used));
}
