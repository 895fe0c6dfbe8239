//! Privileges of a recording agent, and the user of its engine, from the kernel: /proc/PID/status.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use nix::sys::signal::Signal;
use profinfer_trace::model::Model;

use crate::engine_list::parse;
use crate::nodes::check_trace;
use crate::support::{engine, model, parts, read, signal, started, try_signal, whole};

/// dac_override, dac_read_search, kill, sys_ptrace, perfmon, bpf, checkpoint_restore.
const ATTACHED: u64 = 1 << 1 | 1 << 2 | 1 << 5 | 1 << 19 | 1 << 38 | 1 << 39 | 1 << 40;
const SYS_ADMIN: u64 = 1 << 21;

struct Status(String);

impl Status {
    fn new(pid: u32) -> Self {
        Self(fs::read_to_string(format!("/proc/{pid}/status")).unwrap())
    }

    fn field(&self, key: &str) -> &str {
        self.0.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(':')).unwrap().trim()
    }

    fn bits(&self, key: &str) -> u64 {
        u64::from_str_radix(self.field(key), 16).unwrap()
    }
}

fn fact(trace: &Model, name: &str) -> String {
    let row = trace.facts.rows.iter().find(|f| trace.texts.get(f.name) == name);
    format!("{:?}", row.unwrap_or_else(|| panic!("{name}")).value)
}

/// An agent that only records, and its engine, while they run.
#[test]
fn what_is_not_needed_is_given_up() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let mut command = Command::new(&parts.agent);
    command.args([
        "record",
        "--full",
        "--out",
        out.to_str().unwrap(),
        "--",
        nodes.to_str().unwrap(),
        "-m",
        &gguf,
    ]);
    command.args(["-t", "1", "-p", "5", "-n", "100", "-r", "100000", "--fresh"]);
    let (mut agent, engine) = started(&mut command, &out, 200_000);
    let (own, of_agent, of_engine) =
        (Status::new(std::process::id()), Status::new(agent.id()), Status::new(engine.pid()));
    signal(agent.id(), Signal::SIGINT);
    assert!(agent.wait().unwrap().success());
    let _ = try_signal(engine.pid(), Signal::SIGTERM);
    let trace = read(&out);
    whole(&trace);

    let admin = if own.bits("CapBnd") >> 40 == 0 { SYS_ADMIN } else { 0 };
    for (set, allowed) in [("CapEff", admin), ("CapBnd", admin), ("CapPrm", SYS_ADMIN)] {
        assert_eq!(of_agent.bits(set) & !(ATTACHED | allowed), 0, "{set}: {}", of_agent.0);
    }
    // Kept for the cost of the BPF programs, which the kernel reports only with it.
    assert!(trace.health.end.is_some_and(|end| end.bpf_runs > 0));
    assert_eq!((of_agent.bits("CapInh"), of_agent.bits("CapAmb")), (0, 0));
    assert_eq!((of_agent.field("NoNewPrivs"), of_agent.field("Seccomp")), ("1", "2"));
    // The engine has the privileges of the agent's start, and cannot get more.
    for set in ["CapEff", "CapPrm", "CapBnd", "Seccomp", "Uid"] {
        assert_eq!(of_engine.field(set), own.field(set), "{set}");
    }
    assert_eq!(of_engine.field("NoNewPrivs"), "1");
    assert!(trace.facts.rows.len() > 10);
    for (name, value) in [("agent.no_new_privileges", "Number(1)"), ("agent.seccomp", "Number(1)")] {
        assert_eq!(fact(&trace, name), value);
    }
}

/// The engine runs as another user: every node is seen as in its own list.
#[test]
fn the_engine_runs_as_who_was_asked_for() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_MID_ENGINE_DIR") else { return };
    if !nix::unistd::geteuid().is_root() {
        return profinfer_skip::skip("only root starts programs as somebody else");
    }
    // A folder that everyone may read.
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for file in fs::read_dir(bin.join("../exe")).unwrap().map(|f| f.unwrap().path()) {
        fs::copy(&file, dir.path().join(file.file_name().unwrap())).unwrap();
    }
    let gguf = dir.path().join("model.gguf");
    fs::copy(model(&parts, "dense-q8"), &gguf).unwrap();
    let (nodes, out) = (dir.path().join("nodes"), dir.path().join("trace.pfi"));
    let ids =
        r#"grep -E '^(Uid|Gid|Groups|CapEff|NoNewPrivs):' /proc/self/status; echo "HOME $HOME"; exec "$@""#;
    let record = |user: &str| {
        let output = Command::new(&parts.agent)
            .args([
                "record",
                "--full",
                "--out",
                out.to_str().unwrap(),
                "--user",
                user,
                "--",
                "sh",
                "-c",
                ids,
                "sh",
            ])
            .arg(&nodes)
            .args(["-m", gguf.to_str().unwrap(), "-t", "2", "-p", "5", "-n", "3", "--list"])
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap(), output.stderr)
    };
    let (success, said, errors) = record("65534:65533");
    assert!(success, "{said}{}", String::from_utf8_lossy(&errors));
    let words: Vec<Vec<&str>> = said.lines().take(6).map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["Uid:", "65534", "65534", "65534", "65534"]);
    assert_eq!(words[1], ["Gid:", "65533", "65533", "65533", "65533"]);
    assert_eq!(words[2][..2], ["Groups:", "65533"]);
    assert_eq!((words[3][1], words[4][1]), ("0000000000000000", "1"), "{words:?}");
    assert_ne!(words[5][1], "/root");
    let trace = read(&out);
    whole(&trace);
    let calls = parse(&said);
    assert_eq!(calls.len(), 4, "prefill and three decodes");
    check_trace(&trace, &calls, "dense-q8");
    let (success, _, errors) = record("no-such-user");
    assert!(!success && String::from_utf8_lossy(&errors).contains("/etc/passwd has no such user"));
}
