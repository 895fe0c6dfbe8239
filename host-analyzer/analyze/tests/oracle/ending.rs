//! Endings of sessions without a traced call: each has its code in the analysis, a state that is
//! not good, and a non-zero exit status of the agent and of `analyze`. The tests check codes,
//! numbers and names, not sentences.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use profinfer_analysis::Analysis;
use profinfer_analysis::ending::{Ending, EndingCode, EndingState};
use profinfer_skip::skip;

use crate::engine_list;
use crate::group::Group;
use crate::nodes::check_trace;
use crate::support::{Parts, engine, model, parts, read, signal};

/// Exit status of agent and `analyze` if nothing was traced.
const NOTHING_TRACED: i32 = 3;

/// A recording in a separate folder.
struct Session {
    dir: tempfile::TempDir,
}

impl Session {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("trace.pfi")
    }

    fn agent(&self, parts: &Parts, target: &[&str]) -> Command {
        let mut agent = Command::new(&parts.agent);
        agent.args(["record", "--full", "--out", self.out().to_str().unwrap()]).args(target);
        agent.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        agent
    }

    /// The ending in the recording. `analyze` has the same in summary.json, and exits with
    /// `status`.
    fn ending(&self, status: i32) -> Ending {
        let model = profinfer_trace::read(&fs::read(self.out()).unwrap()).unwrap();
        let ending = Analysis::compute(&model).ending;
        let folder = self.dir.path().join("profile");
        let analyzed = Command::new(env!("CARGO_BIN_EXE_analyze"))
            .args([self.out().as_path(), Path::new("--out"), &folder])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&analyzed.stdout).into_owned();
        assert_eq!(
            analyzed.status.code(),
            Some(status),
            "{said}{}",
            String::from_utf8_lossy(&analyzed.stderr)
        );
        let summary = fs::read(folder.join("summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
        let written = &summary["ending"];
        let mut expected = Vec::new();
        profinfer_views::summary::summary(&model, &Analysis::compute(&model), &mut expected).unwrap();
        let expected: serde_json::Value = serde_json::from_slice(&expected).unwrap();
        assert_eq!(*written, expected["ending"]);
        assert!(written["sentence"].is_string());
        // To look at them: PROFINFER_KEEP=folder.
        if let Some(kept) = std::env::var_os("PROFINFER_KEEP") {
            let code = written["code"].as_str().unwrap();
            let kept = PathBuf::from(kept).join(code);
            fs::create_dir_all(&kept).unwrap();
            fs::write(kept.join("terminal.txt"), said).unwrap();
            fs::copy(folder.join("report.html"), kept.join("report.html")).unwrap();
        }
        ending
    }
}

/// The agent exits with this status. Returns its output.
fn exits(output: &Output, status: i32) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{said}");
    said
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The process of the engine that an agent started.
fn child_of(agent: &Child) -> u32 {
    let found = Command::new("pgrep").args(["-P", &agent.id().to_string()]).output().unwrap().stdout;
    String::from_utf8_lossy(&found).trim().parse().unwrap()
}

/// A process maps a library with this name.
fn maps(pid: u32, name: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains(name))
}

fn words<'a>(program: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    [&["--", program.to_str().unwrap()], more].concat()
}

#[test]
fn an_engine_that_cannot_load_its_model() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_ENGINE_DIR")) else { return };
    let session = Session::new();
    let whole = fs::read(model(&parts, "dense-q8")).unwrap();
    let gguf = session.dir.path().join("cut.gguf");
    fs::write(&gguf, &whole[..whole.len() / 2]).unwrap();
    let nodes = bin.join("nodes");
    let command = words(&nodes, &["-m", gguf.to_str().unwrap(), "-t", "1", "-p", "4", "-n", "2"]);
    let output = session.agent(&parts, &command).output().unwrap();
    let said = exits(&output, 1);
    // The output of the engine passes through unchanged.
    assert!(said.contains("data is not within the file bounds, model is corrupted or incomplete"), "{said}");
    let ending = session.ending(NOTHING_TRACED);
    assert_eq!(
        (ending.code, ending.state, ending.traced),
        (EndingCode::EngineFailed, EndingState::Bad, false)
    );
    assert_eq!((ending.status, ending.signal), (Some(1), None));
    let last = ending.output.last().unwrap();
    assert!(
        last.contains(gguf.to_str().unwrap()) && last.starts_with("nodes: cannot load the model"),
        "{ending:?}"
    );
    assert!((2..=5).contains(&ending.output.len()), "{ending:?}");
}

#[test]
fn an_engine_that_is_killed_before_its_first_token() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_ENGINE_DIR")) else { return };
    let session = Session::new();
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let command = words(&nodes, &["-m", &gguf, "-t", "1", "-p", "4", "-n", "2", "--pause"]);
    let agent = session.agent(&parts, &command).spawn().unwrap();
    let mut pid = 0;
    until("the engine", || {
        pid = Command::new("pgrep")
            .args(["-P", &agent.id().to_string()])
            .output()
            .map_or(0, |found| String::from_utf8_lossy(&found.stdout).trim().parse().unwrap_or(0));
        pid != 0 && maps(pid, "libggml-cpu")
    });
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(child_of(&agent), pid);
    signal(pid, Signal::SIGSEGV);
    exits(&agent.wait_with_output().unwrap(), 128 + 11);
    let ending = session.ending(NOTHING_TRACED);
    assert_eq!((ending.code, ending.state), (EndingCode::EngineFailed, EndingState::Bad));
    assert_eq!((ending.status, ending.signal, ending.pid), (None, Some(11), Some(pid)));
}

/// Another process of its control group takes memory, and the kernel kills the engine for it.
#[test]
fn an_engine_that_the_kernel_kills_for_memory() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_ENGINE_DIR")) else { return };
    let limit = (256_u64 << 20).to_string();
    let Some(group) = Group::new("memory", &[("memory.limit_in_bytes", limit)]) else { return };
    let session = Session::new();
    let (file, nodes, gguf) = (group.file(), bin.join("nodes"), model(&parts, "dense-q8"));
    let enter = ["sh", "-c", "echo $$ >\"$1\"; shift; exec \"$@\"", "sh", &file];
    let run = ["-m", &gguf, "-t", "1", "-p", "4", "-n", "100", "-r", "100000", "--fresh"];
    let command = [&["--"], &enter[..], &[nodes.to_str().unwrap()], &run].concat();
    let agent = session.agent(&parts, &command).spawn().unwrap();
    until("a recording", || fs::metadata(session.out()).is_ok_and(|m| m.len() > 20_000));
    let pid = child_of(&agent);
    fs::write(format!("/proc/{pid}/oom_score_adj"), "1000").unwrap();
    // It keeps all that it reads.
    let hog = ["sh", "-c", "echo $$ >\"$1\"; head -c 400M /dev/zero | tail", "sh", &file];
    let hog = Command::new(hog[0]).args(&hog[1..]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    exits(&agent.wait_with_output().unwrap(), 128 + 9);
    hog.unwrap();
    let ending = session.ending(0);
    assert_eq!((ending.signal, ending.pid, ending.traced), (Some(9), Some(pid), true));
    let memory = ending.memory.unwrap();
    assert!(memory.oom_kills > Some(0) && memory.is_reason, "{ending:?}");
    assert_eq!(memory.limit_bytes, Some(256 << 20));
}

#[test]
fn a_name_that_nobody_has() {
    let Some(parts) = parts() else { return };
    let session = Session::new();
    let agent = session.agent(&parts, &["--name", "no-such-engine"]).spawn().unwrap();
    until("the session", || fs::metadata(session.out()).is_ok_and(|m| m.len() > 1_000));
    std::thread::sleep(Duration::from_millis(700));
    signal(agent.id(), Signal::SIGINT);
    exits(&agent.wait_with_output().unwrap(), NOTHING_TRACED);
    let ending = session.ending(NOTHING_TRACED);
    assert_eq!((ending.code, ending.state), (EndingCode::NoProcess, EndingState::Nothing));
    assert_eq!((ending.waited_for.as_deref(), ending.pid), (Some("no-such-engine"), None));
}

#[test]
fn a_program_without_an_engine() {
    let Some(parts) = parts() else { return };
    let session = Session::new();
    let output = session.agent(&parts, &["--", "sleep", "0.3"]).output().unwrap();
    let said = exits(&output, NOTHING_TRACED);
    assert!(said.contains("help: "), "{said}");
    let ending = session.ending(NOTHING_TRACED);
    assert_eq!((ending.code, ending.state), (EndingCode::NoProbe, EndingState::Bad));
    assert!(ending.pid.is_some());
    assert_eq!(ending.tried, Some(0), "there was nothing to probe");
}

#[test]
fn an_engine_that_computes_nothing() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_ENGINE_DIR")) else { return };
    let session = Session::new();
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let mut engine = Command::new(&nodes)
        .args(["-m", &gguf, "-t", "1", "-p", "4", "-n", "2", "--pause"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the engine", || maps(engine.id(), "libggml-cpu"));
    let agent = session.agent(&parts, &["--pid", &engine.id().to_string()]).spawn().unwrap();
    until("the session", || fs::metadata(session.out()).is_ok_and(|m| m.len() > 3_000));
    std::thread::sleep(Duration::from_millis(700));
    signal(agent.id(), Signal::SIGINT);
    exits(&agent.wait_with_output().unwrap(), NOTHING_TRACED);
    engine.kill().unwrap();
    engine.wait().unwrap();
    let ending = session.ending(NOTHING_TRACED);
    assert_eq!((ending.code, ending.state), (EndingCode::NothingComputed, EndingState::Nothing));
}

#[test]
fn a_call_that_does_not_return() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_ENGINE_DIR")) else { return };
    let session = Session::new();
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "moe-qwen60"));
    let mut engine = Command::new(&nodes)
        .args(["-m", &gguf, "-t", "1", "-p", "500", "-n", "1", "-c", "512", "--pause"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the engine", || maps(engine.id(), "libggml-cpu"));
    let agent = session.agent(&parts, &["--pid", &engine.id().to_string()]).spawn().unwrap();
    until("the session", || fs::metadata(session.out()).is_ok_and(|m| m.len() > 3_000));
    std::thread::sleep(Duration::from_millis(700));
    let size = || fs::metadata(session.out()).map_or(0, |m| m.len());
    let before = size();
    engine.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    until("the first call", || size() > before + 2_000);
    signal(engine.id(), Signal::SIGSTOP);
    std::thread::sleep(Duration::from_millis(500));
    signal(agent.id(), Signal::SIGINT);
    let output = agent.wait_with_output().unwrap();
    engine.kill().unwrap();
    engine.wait().unwrap();
    exits(&output, NOTHING_TRACED);
    let ending = session.ending(NOTHING_TRACED);
    assert_eq!((ending.code, ending.state), (EndingCode::CallUnreturned, EndingState::Bad));
    assert!(ending.open_ns.is_some_and(|ns| ns > 400_000_000), "{ending:?}");
    assert!(ending.memory.is_none_or(|m| !m.is_reason), "{ending:?}");
}

/// The agent in a PID namespace, and an engine that it starts in one below. `prepare` is a shell
/// command in the agent's mount namespace. `None` where no namespace can be made.
fn in_a_namespace_below(parts: &Parts, session: &Session, prepare: &str) -> Option<Output> {
    let bin = engine("PROFINFER_ENGINE_DIR")?;
    let unshare = ["-p", "-f", "--mount-proc"];
    if !Command::new("unshare").args(unshare).arg("true").status().is_ok_and(|s| s.success()) {
        skip("no PID namespace can be made here");
        return None;
    }
    let output = Command::new("unshare")
        .args(unshare)
        .args(["sh", "-c", &format!("{prepare} && exec \"$0\" \"$@\"")])
        .arg(&parts.agent)
        .args(["record", "--full", "--out", session.out().to_str().unwrap(), "--", "unshare"])
        .args(unshare)
        .arg(bin.join("nodes"))
        .args(["-m", &model(parts, "dense-q8"), "-t", "2", "-p", "5", "-n", "3", "--list"])
        .stdin(Stdio::null())
        .output();
    Some(output.unwrap())
}

/// The programs read its ids from the kernel's structs, whose layout the kernel's BTF describes.
#[test]
fn an_engine_in_a_namespace_below() {
    let Some(parts) = parts() else { return };
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return skip("this kernel has no BTF");
    }
    let session = Session::new();
    let Some(output) = in_a_namespace_below(&parts, &session, "true") else { return };
    exits(&output, 0);
    let trace = read(&session.out());
    check_trace(&trace, &engine_list::parse(&String::from_utf8(output.stdout).unwrap()), "dense-q8");
    // Its process has the id 1 in its own namespace, where the agent has it in its own.
    let [process] = &trace.session.processes[..] else { panic!("{:?}", trace.session.processes) };
    assert_eq!(trace.engines(), [process.pid]);
    assert!(process.pid > 1, "{process:?}");
}

/// Without BTF, the kernel gives no id for it.
#[test]
fn an_engine_in_a_namespace_below_on_a_kernel_without_btf() {
    let Some(parts) = parts() else { return };
    let session = Session::new();
    let hide = "{ [ ! -d /sys/kernel/btf ] || mount -t tmpfs none /sys/kernel/btf; }";
    let Some(output) = in_a_namespace_below(&parts, &session, hide) else { return };
    exits(&output, NOTHING_TRACED);
    let ending = session.ending(NOTHING_TRACED);
    assert_eq!((ending.code, ending.state), (EndingCode::PidNamespace, EndingState::Bad));
    assert_eq!(ending.inside_pid, Some(1));
}

/// Killing an agent does not harm its engine: the next lines pass through, and the engine ends by
/// itself.
#[test]
fn an_engine_outlives_its_agent_and_keeps_its_standard_error() {
    let Some(parts) = parts() else { return };
    let session = Session::new();
    let log = session.dir.path().join("log");
    let script = "for i in 1 2 3 4 5 6 7 8; do echo line $i >&2; sleep 0.3; done; echo last >&2";
    let mut agent = session
        .agent(&parts, &["--", "sh", "-c", script])
        .stderr(File::create(&log).unwrap())
        .spawn()
        .unwrap();
    until("the program", || fs::read_to_string(&log).is_ok_and(|l| l.contains("line 2")));
    agent.kill().unwrap();
    agent.wait().unwrap();
    until("the last line", || fs::read_to_string(&log).is_ok_and(|l| l.ends_with("last\n")));
    let lines = fs::read_to_string(&log).unwrap();
    assert_eq!(lines.lines().filter(|l| l.starts_with("line ")).count(), 8, "{lines}");
}
