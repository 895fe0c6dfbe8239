//! The exact words that a user reads: help, tables, errors. Other tests assert numbers and codes, so a change of words
//! alone changes only the files in `snapshots/`. After one, run
//! `INSTA_UPDATE=always cargo test -p profinfer-agent --test wording` and read the difference.
#![cfg(all(feature = "bench", feature = "direct"))]
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use clap::CommandFactory;
use profinfer_agent::cli::Cli;
use profinfer_agent::confine::capabilities;
use profinfer_agent::doctor::{self, Examined, Row, Section, Verdict};
use profinfer_agent::link::Output;
use profinfer_agent::link::output::Kind;
use profinfer_agent::probes::tracer::Late;
use profinfer_agent::request::limits::{self, place};
use profinfer_agent::request::plan::{CounterRequest, MAX_REQUESTS, Plan};
use profinfer_agent::session::Summary;
use profinfer_agent::session::ending::{Cause, Untraced};
use profinfer_agent::sys::privilege::Sets;
use profinfer_agent::sys::thread::Exit;
use profinfer_secure::Refusal;
use profinfer_wire::record::control;
use profinfer_wire::record::loss::{End, EndReason, Loss};

/// No process has this id: it is above the kernel's largest.
const NO_PID: &str = "4194305";

/// A folder with a few files under short names, so that no path of this machine is in the text.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let key = format!("profinfer-key 1\nboard\n{}\n", "0".repeat(64));
        write("text.so", "no library", 0o644);
        write("good.key", &key, 0o600);
        write("open.key", &key, 0o644);
        write("format.key", "no key", 0o600);
        write("board.key", &key.replace("board", "a b"), 0o600);
        write("digits.key", &key.replace('0', "x"), 0o600);
        write("long.key", &(key + "more\n"), 0o600);
        fs::create_dir(folder.path().join("empty")).unwrap();
        Self(folder)
    }

    /// Exit status, standard output and standard error of the agent.
    fn agent(&self, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_profinfer-agent"))
            .current_dir(self.0.path())
            .env("NO_COLOR", "1")
            .args(arguments)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        format!(
            "$ profinfer-agent {}\n[{}]\n{}--- stderr\n{}\n",
            arguments.join(" "),
            output.status.code().unwrap(),
            text(&output.stdout),
            text(&output.stderr),
        )
    }
}

/// Each command's help in its short and its long form.
#[test]
fn help() {
    fn all(command: &mut clap::Command, path: &str) {
        for part in command.get_subcommands_mut() {
            let path = format!("{path}-{}", part.get_name());
            if part.get_name() != "help" {
                all(part, &path);
            }
        }
        for argument in command.get_arguments() {
            let short = argument.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(short.lines().count() == 1 && short.len() <= 90, "{path}: one line for `-h`: {short}");
        }
        let (short, long) = (command.render_help(), command.render_long_help());
        insta::assert_snapshot!(path, format!("{short}\n=====\n\n{long}"));
    }
    let mut command = Cli::command();
    command.build();
    all(&mut command, "help-agent");
}

#[test]
fn errors() {
    let folder = Folder::new();
    let mut all = String::new();
    for arguments in [
        &["engine", "nowhere.so"][..],
        &["engine", "text.so"],
        &["engine", "empty"],
        &["engine", NO_PID],
        &["record"],
        &["record", "--format", "json", "--out", "-", "--", "true"],
        &["record", "--out", "nowhere/t.pfi", "--pid", "1"],
        &["record", "--board", "rk3599", "--pid", NO_PID],
        &["record", "--levels", "nothing", "--pid", "1"],
        &["record", "--levels", ",", "--pid", "1"],
        &["record", "--probes", "kprobe", "--pid", "1"],
        &["record", "--ring", "3", "--pid", "1"],
        &["record", "--sample-hz", "1000", "--pid", "1"],
        &["record", "--duty", "0%", "--pid", "1"],
        &["record", "--keep-above", "fast", "--pid", "1"],
        &["record", "--max-slowdown", "101%", "--pid", "1"],
        &["record", "--only-layers", "3-1", "--pid", "1"],
        &["record", "--only-threads", "0", "--pid", "1"],
        &["record", "--tokens", "0", "--pid", "1"],
        &["record", "--user", "no-such-user", "--", "true"],
        &["record", "--restarts", "--pid", "1"],
        &["serve", "--listen", "udp:127.0.0.1:1"],
        &["serve", "--listen", "tcp:127.0.0.1:99999"],
        &["serve", "--listen", "tcp:0.0.0.0:0"],
        &["serve", "--listen", "unix:"],
        &["serve", "--listen", "unix:text.so"],
        &["serve", "--listen", "unix:nowhere/agent.sock"],
        &["serve", "--listen", "serial:nowhere"],
        &["serve", "--listen", "serial:nowhere@fast"],
        &["serve", "--listen", "serial:nowhere@9600"],
        &["serve", "--listen", "serial:/dev/null@9600"],
        &["serve", "--key", "nowhere.key"],
        &["serve", "--key", "empty"],
        &["serve", "--key", "open.key"],
        &["serve", "--key", "format.key"],
        &["serve", "--key", "board.key"],
        &["serve", "--key", "digits.key"],
        &["serve", "--key", "long.key"],
        &["keygen", "good.key", "--board", "board"],
        &["keygen", "new.key", "--board", "a b"],
        &["keygen", "nowhere/new.key", "--board", "board"],
        &["bench", "--budget=-1"],
        &["bench", "--out", "nowhere/ceilings.pfi"],
        &["bench", "--threads", "many"],
        &["bench", "--cpus", "all"],
        &["repair", "--pid", NO_PID],
        &["doctor", "--pid", "1", "--name", "x"],
    ] {
        all += &folder.agent(arguments);
        all.push('\n');
    }
    all += &folder.agent(&["keygen", "new.key", "--board", "board"]);
    insta::assert_snapshot!("errors", all);
}

/// The table of `doctor`: its layout with fixed rows, and the rows about a process that is not there.
#[test]
fn doctor_table() {
    let row = |name: &str, verdict, text: &str| Row { name: name.to_owned(), verdict, text: text.to_owned() };
    let examined = Examined {
        probes: true,
        operators: None,
        probe_pair_ns: Some(1500),
        sections: vec![
            Section {
                name: "kernel",
                rows: vec![
                    row("release", Verdict::Info, "Linux 6.6.0, aarch64"),
                    row("BPF programs", Verdict::Yes, "loaded"),
                    row("  indented", Verdict::No, "refused"),
                ],
            },
            Section { name: "engine", rows: vec![row("none", Verdict::Info, "no process")] },
        ],
    };
    let mut table = Vec::new();
    doctor::write(&examined, &mut table).unwrap();
    insta::assert_snapshot!("doctor-table", String::from_utf8(table).unwrap());
    let folder = Folder::new();
    for (name, arguments) in
        [("pid", ["doctor", "--pid", NO_PID]), ("name", ["doctor", "--name", "no-such-engine"])]
    {
        let run = folder.agent(&arguments);
        let engine = run.split_inclusive('\n').skip_while(|l| *l != "engine\n");
        let engine: String = engine.take_while(|l| *l != "\n").collect();
        insta::assert_snapshot!(format!("doctor-{name}"), engine);
    }
}

fn summary(loss: Loss, nothing: Option<Cause>) -> String {
    let end = End {
        reason: EndReason::EngineEnded,
        frames: 100,
        loss,
        bpf_run_ns: 1,
        bpf_runs: 1,
        agent_cpu_ns: 1_500_000_000,
        agent_rss_bytes: 7_900_000,
    };
    Summary { reason: EndReason::EngineEnded, end, status: None, nothing, error: None }.line()
}

/// How a session ended.
#[test]
fn endings() {
    let (pid, output) = (7, String::new());
    let mut all = String::new();
    for cause in [
        Cause::NoProcess("llama*".to_owned()),
        Cause::NoProbe(pid),
        Cause::Ended { pid, exit: Exit::Status(1), output: output.clone() },
        Cause::Ended { pid, exit: Exit::Signal(9), output },
        Cause::CallOpen(pid, 1),
        Cause::Namespace(pid, 1),
        Cause::Children(
            pid,
            [(8, "a.gguf"), (9, "b.gguf")]
                .map(|(pid, model)| Untraced {
                    pid,
                    name: "llama-server".to_owned(),
                    command: format!("llama-server --model /models/{model} -c 512"),
                })
                .to_vec(),
        ),
        Cause::Late(Late { pid, begun_ns: 1, met_ns: 2 }),
        Cause::Idle,
    ] {
        writeln!(all, "{}: {}", cause.code(), cause.words()).unwrap();
    }
    let loss = Loss { spans_sent: 1000, ..Loss::default() };
    writeln!(all, "\n{}", summary(loss, None)).unwrap();
    writeln!(all, "{}", summary(Loss::default(), Some(Cause::Idle))).unwrap();
    let loss = Loss { spans_ring_full: 1, spans_queue_full: 2, spans_no_graph: 3, ..loss };
    writeln!(all, "{}", summary(loss, None)).unwrap();
    insta::assert_snapshot!("endings", all);
}

/// What the agent answers to hosts, and why a link ends.
#[test]
fn answers_to_hosts() {
    let mut all = String::new();
    let plan =
        |board: &str, target: &str| Plan::from(control::Plan { wire_version: 1, board, levels: 1, target });
    let counter = CounterRequest { name: "CPU_CYCLES".to_owned(), event: 17, midr: 0 };
    let counters = vec![counter; MAX_REQUESTS + 1];
    for plan in [
        plan(&"x".repeat(101), ""),
        plan("a\x1b[2J", ""),
        plan("", "*"),
        plan("", "a/b"),
        Plan { counters, ..plan("", "") },
    ] {
        writeln!(all, "{}", limits::checked(plan).unwrap_err()).unwrap();
    }
    for path in ["x".repeat(257).as_str(), "/sys/*/*/*/*/*", "/etc/shadow"] {
        writeln!(all, "{}", place::check(path).unwrap_err()).unwrap();
    }
    for refusal in
        [Refusal::KeyWanted, Refusal::NoKeyHere, Refusal::Unknown, Refusal::WrongKey, Refusal::TooSlow]
    {
        writeln!(all, "{refusal}\n  help: {}", refusal.help()).unwrap();
    }
    let mut output = Output::to(std::io::empty(), Kind::File, "recording.pfi");
    output.give_up("No space left on device");
    writeln!(all, "{}", output.error().unwrap()).unwrap();
    let sets = Sets { effective: 1 << 5, permitted: 1 << 5 | 1 << 21 };
    writeln!(all, "capabilities: {}", capabilities::words(sets)).unwrap();
    insta::assert_snapshot!("answers-to-hosts", all);
}
