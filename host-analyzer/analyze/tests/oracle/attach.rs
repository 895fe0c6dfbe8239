//! All ways to name the engine. Nothing is left behind, whichever process is killed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use profinfer_skip::skip;

use crate::support::{Parts, engine, model, parts, read, whole};

fn paused_engine(parts: &Parts) -> Option<Child> {
    let bin = engine("PROFINFER_ENGINE_DIR")?;
    let gguf = model(parts, "dense-q8");
    let mut child = Command::new(bin.join("nodes"))
        .args(["-m", &gguf, "-t", "2", "-p", "4", "-n", "20", "--pause"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("ready"), "{line}");
    Some(child)
}

pub(crate) fn wait(child: &mut Child) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.success();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    panic!("it hangs");
}

#[test]
fn by_pid() {
    let Some(parts) = parts() else { return };
    let Some(mut engine) = paused_engine(&parts) else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("t.pfi");
    let pid = engine.id().to_string();
    let mut agent = Command::new(&parts.agent)
        .args(["record", "--full", "--out", out.to_str().unwrap(), "--pid", &pid])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_probes(&out);
    engine.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(wait(&mut engine) && wait(&mut agent));
    let trace = read(&out);
    whole(&trace);
    assert_eq!(trace.llama_calls.len(), 21);
    assert!(trace.spans.len() > 21 * 64 * 2);
}

/// The agent in a PID namespace, and an engine that runs in one below, by the id that it has in the agent's.
#[test]
fn by_pid_in_a_namespace_below() {
    const SCRIPT: &str = r#"
        mkfifo "$DIR/go"
        unshare -p -f --mount-proc "$@" <"$DIR/go" >"$DIR/said" 2>/dev/null &
        outer=$!
        exec 9>"$DIR/go"
        until grep -qs ready "$DIR/said"; do sleep 0.1; done
        "$AGENT" record --full --out "$DIR/t.pfi" --pid "$(pgrep -P $outer)" &
        until [ -e "$DIR/attached" ]; do sleep 0.1; done
        echo >&9
        wait
    "#;
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let unshare = ["-p", "-f", "--mount-proc"];
    if !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
        return skip("this kernel has no BTF");
    }
    if !Command::new("unshare").args(unshare).arg("true").status().is_ok_and(|s| s.success()) {
        return skip("no PID namespace can be made here");
    }
    let dir = tempfile::tempdir().unwrap();
    let mut both = Command::new("unshare")
        .args(unshare)
        .args(["timeout", "-s", "KILL", "120", "sh", "-c", SCRIPT, "sh"])
        .arg(bin.join("nodes"))
        .args(["-m", &model(&parts, "dense-q8"), "-t", "2", "-p", "4", "-n", "20", "--pause"])
        .env("DIR", dir.path())
        .env("AGENT", &parts.agent)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = dir.path().join("t.pfi");
    wait_for_probes(&out);
    std::fs::write(dir.path().join("attached"), []).unwrap();
    assert!(wait(&mut both));
    let trace = read(&out);
    whole(&trace);
    assert_eq!(trace.llama_calls.len(), 21);
}

#[test]
fn by_name_before_it_starts() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let dir = tempfile::tempdir().unwrap();
    // A unique name, because other tests run engines too.
    let out = dir.path().join("t.pfi");
    let name = "waited-for-engine";
    let mut agent = Command::new(&parts.agent)
        .args(["record", "--full", "--out", out.to_str().unwrap(), "--name", name])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(agent.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(said.any(|line| line.contains(name)), "it does not wait");
    // What it writes later must be read, too.
    let rest = std::thread::spawn(move || said.count());
    let status = Command::new("bash")
        .args(["-c", "exec -a \"$0\" \"$@\"", name])
        .arg(bin.join("../exe/nodes"))
        .args(loader_arguments(&bin))
        .args(["-m", &model(&parts, "dense-q8"), "-t", "1", "-p", "4", "-n", "5"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !status.is_ok_and(|s| s.success()) {
        let _ = agent.kill();
        panic!("the engine did not start");
    }
    assert!(wait(&mut agent));
    rest.join().unwrap();
    let trace = read(&out);
    whole(&trace);
    assert_eq!(trace.llama_calls.len(), 6, "the first token too");
}

/// The arguments that the launcher script passes to the bundled dynamic linker.
fn loader_arguments(bin: &std::path::Path) -> Vec<String> {
    let script = std::fs::read_to_string(bin.join("nodes")).unwrap();
    let line = script.lines().find(|l| l.contains("--library-path")).unwrap_or_default();
    let words = line.split_whitespace().skip_while(|w| *w != "--library-path").take_while(|w| *w != "\"$@\"");
    words.map(|w| w.trim_matches(['"', '\'']).to_owned()).collect()
}

#[test]
fn agent_killed_leaves_the_engine_alone() {
    let Some(parts) = parts() else { return };
    let Some(mut engine) = paused_engine(&parts) else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("t.pfi");
    let pid = engine.id().to_string();
    let mut agent = Command::new(&parts.agent)
        .args(["record", "--full", "--out", out.to_str().unwrap(), "--pid", &pid])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_probes(&out);
    agent.kill().unwrap();
    agent.wait().unwrap();
    engine.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(wait(&mut engine), "the engine ends well");
    let trace = read(&out);
    assert!(trace.health.cut_short(), "a recording without an end says so");
}

/// The agent is stopped while the engine computes: nothing is damaged, and what was cut is counted.
#[test]
fn interrupted_in_the_middle() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("t.pfi");
    let mut engine = Command::new(bin.join("nodes"))
        .args(["-m", &model(&parts, "dense-q8"), "-t", "2", "-p", "4", "-n", "20000", "-c", "32768"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(1));
    let pid = engine.id().to_string();
    let mut agent = Command::new(&parts.agent)
        .args(["record", "--full", "--out", out.to_str().unwrap(), "--pid", &pid])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // On a busy machine the engine may need a long time for its tokens.
    wait_for(&out, "1000 spans", |m| m.spans.len() > 1000);
    let interrupt = Command::new("kill").args(["-INT", &agent.id().to_string()]).status().unwrap();
    assert!(interrupt.success() && wait(&mut agent));
    let still_runs = engine.try_wait().unwrap().is_none();
    engine.kill().unwrap();
    engine.wait().unwrap();
    assert!(still_runs, "the engine runs on");
    let trace = read(&out);
    whole(&trace);
    assert!(trace.spans.len() > 1000, "{:#?}", trace.health);
}

/// The recording grows beyond its head when the probes are in place.
pub(crate) fn wait_for_probes(out: &std::path::Path) {
    wait_for(out, "probes", |m| m.session.probes.len() > 5);
}

/// Waits until the growing recording contains something.
pub(crate) fn wait_for(
    out: &std::path::Path,
    what: &str,
    holds: impl Fn(&profinfer_trace::model::Model) -> bool,
) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if std::fs::read(out).is_ok_and(|b| profinfer_trace::read(&b).is_ok_and(|m| holds(&m))) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("no {what} within 60 s");
}

/// `analyze agent` and `analyze demo -- ENGINE` run the agent that comes with `analyze`.
#[test]
fn by_the_agent_of_the_package() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let dir = tempfile::tempdir().unwrap();
    let agents = dir.path().join("agents");
    std::fs::create_dir(&agents).unwrap();
    let name = format!("profinfer-agent-{}", std::env::consts::ARCH);
    std::os::unix::fs::symlink(std::fs::canonicalize(&parts.agent).unwrap(), agents.join(name)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_analyze"));
        command.env("PROFINFER_AGENTS", &agents).current_dir(dir.path()).args(arguments).output().unwrap()
    };
    let version = run(&["agent", "--version"]);
    assert!(String::from_utf8_lossy(&version.stdout).starts_with("profinfer-agent "), "{version:?}");
    // The status is the agent's.
    assert_eq!(run(&["agent", "no-such-command"]).status.code(), Some(2));
    let (nodes, model) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let output = run(&["demo", "--", nodes.to_str().unwrap(), "-m", &model, "-t", "1", "-n", "20"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("dense-q8 · q8_0") && said.contains("t/s on 1 thread"), "{said}");
    assert!(!said.contains("kept recording"), "{said}");
    whole(&read(&dir.path().join("demo/recording.pfi")));
    assert!(dir.path().join("demo/report.html").is_file());
}
