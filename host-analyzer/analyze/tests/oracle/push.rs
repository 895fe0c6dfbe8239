//! `analyze push` with `ci/push/hdc`, a stand-in that answers as the real hdc does; the board is a
//! folder of this machine, the agent and the engine are real. `ci/push/test.sh` does the same by
//! ssh and adb on an emulated board.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Parts, engine, model, parts};

/// More rounds than a test waits for. The model is so slow that the agent keeps all events of a
/// connection that is broken for half a minute.
const ENDLESS: &str = "1000000";
const KEY: &str = "7001005458323933328a";

/// A host with hdc, and boards.
struct Place {
    dir: TempDir,
    agent: PathBuf,
    port: u16,
    board_port: u16,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Place {
    fn new(parts: &Parts, targets: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["bin", "hdc", "state", "board"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let stand_in =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci/push/hdc").canonicalize().unwrap();
        std::os::unix::fs::symlink(stand_in, dir.path().join("bin/hdc")).unwrap();
        let place = Self { dir, agent: parts.agent.clone(), port: free_port(), board_port: free_port() };
        place.set("targets", targets);
        place
    }

    /// A file of the stand-in.
    fn set(&self, name: &str, text: &str) {
        fs::write(self.dir.path().join("hdc").join(name), text).unwrap();
    }

    fn board(&self) -> PathBuf {
        self.dir.path().join("board")
    }

    fn analyze(&self, arguments: &[&str]) -> Command {
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_analyze"));
        command
            .current_dir(self.dir.path())
            .args(arguments)
            .env("PATH", format!("{}:{path}", self.dir.path().join("bin").display()))
            .env("XDG_STATE_HOME", self.dir.path().join("state"))
            .env("XDG_CONFIG_HOME", self.dir.path())
            .env("HDC_STATE", self.dir.path().join("hdc"))
            .env("HDC_SSH", "sh -c")
            .stdin(Stdio::null());
        command
    }

    /// `analyze push hdc …` with ports and folder of this test.
    fn command(&self, arguments: &[&str], what: &[&str]) -> Command {
        let mut command = self.analyze(&["push", "hdc"]);
        command.args(arguments).arg("--agent").arg(&self.agent);
        if !arguments.contains(&"--dir") {
            command.arg("--dir").arg(self.board());
        }
        let has = |option: &str| arguments.iter().any(|a| a.starts_with(option) || *a == "--stop");
        for (option, port) in [("--port", self.port), ("--board-port", self.board_port)] {
            if !has(option) {
                command.args([option, &port.to_string()]);
            }
        }
        if !what.is_empty() {
            command.arg("--").args(what);
        }
        command
    }

    fn push(&self, arguments: &[&str], what: &[&str]) -> Output {
        self.command(arguments, what).output().unwrap()
    }

    /// Runs it without an error, and returns standard output and standard error.
    fn pushed(&self, arguments: &[&str], what: &[&str]) -> (String, String) {
        let output = self.push(arguments, what);
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{arguments:?}: {err}");
        (out, err)
    }

    /// Runs it to an error with these parts.
    fn refused(&self, arguments: &[&str], words: &[&str]) -> String {
        let output = self.push(arguments, &[]);
        let (_, err) = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {err}");
        for word in words {
            assert!(err.contains(word), "`{word}` in: {err}");
        }
        err
    }

    /// Ports of this machine that the stand-in forwards.
    fn rules(&self) -> Vec<u16> {
        let entries = fs::read_dir(self.dir.path().join("hdc")).unwrap().map(|e| e.unwrap().file_name());
        let names = entries.map(|n| n.into_string().unwrap());
        let mut ports: Vec<u16> = names.filter_map(|n| n.strip_prefix("rule.")?.parse().ok()).collect();
        ports.sort_unstable();
        ports
    }

    /// What push left on the board.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.board()).unwrap().map(|e| e.unwrap().file_name());
        entries.map(|n| n.into_string().unwrap()).filter(|n| n.starts_with("profinfer")).collect()
    }

    fn agent_pid(&self) -> Option<u32> {
        fs::read_to_string(self.board().join("profinfer-agent.pid")).ok()?.trim().parse().ok()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A test that failed leaves neither agents nor forwarding.
        for board in fs::read_dir(self.dir.path()).into_iter().flatten().flatten() {
            let pid = fs::read_to_string(board.path().join("profinfer-agent.pid"));
            if let Ok(pid) = pid {
                let _ = Command::new("pkill").args(["-KILL", "-P", pid.trim()]).status();
                let _ = Command::new("kill").args(["-KILL", pid.trim()]).stderr(Stdio::null()).status();
            }
        }
        for port in self.rules() {
            let rule =
                fs::read_to_string(self.dir.path().join(format!("hdc/rule.{port}"))).unwrap_or_default();
            let pid = rule.split_whitespace().last().unwrap_or_default();
            let _ = Command::new("kill").arg(pid).stderr(Stdio::null()).status();
        }
    }
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn is_alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The engine's driver: a prompt of 8 tokens and 4 calls with one token, in so many rounds.
fn nodes(parts: &Parts, name: &str, rounds: &str) -> Option<Vec<String>> {
    let program = engine("PROFINFER_ENGINE_DIR")?.join("nodes");
    let model = model(parts, name);
    let words = ["-m", &model, "-t", "1", "-p", "8", "-n", "4", "--fresh", "-r", rounds].map(str::to_owned);
    Some([program.display().to_string()].into_iter().chain(words).collect())
}

fn words(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

/// All of one round was captured.
fn one_round(summary: &Path) {
    let summary: Value = serde_json::from_slice(&fs::read(summary).unwrap()).unwrap();
    assert_eq!(summary["health"]["perfect"], true, "{:#}", summary["health"]);
    let tokens = ["prefill", "decode"].map(|phase| summary["tokens"][phase]["tokens"].as_u64().unwrap());
    assert_eq!(tokens, [8, 4]);
}

/// An engine that a test started, and must not leave behind.
struct Started(u32);

impl Started {
    /// The program that the agent started.
    fn by(agent: u32) -> Self {
        let children = Command::new("pgrep").args(["-P", &agent.to_string()]).output().unwrap().stdout;
        Self(String::from_utf8_lossy(&children).trim().parse().unwrap())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-KILL", &self.0.to_string()]).stderr(Stdio::null()).status();
    }
}

#[test]
fn pushed_captured_recorded_stopped() {
    let Some(parts) = parts() else { return };
    let Some(run) = nodes(&parts, "dense-q8", "1") else { return };
    let place =
        Place::new(&parts, &format!("{KEY} Connected\n127.0.0.1:10178 Offline\n/dev/ttyS9,921600 Ready\n"));
    let (out, err) = place.pushed(&[], &words(&run));
    let profile = if cfg!(target_arch = "aarch64") { "generic-aarch64" } else { "host" };
    assert_eq!(out, format!("analyze --board {profile} tcp:127.0.0.1:{}\n", place.port));
    assert!(err.contains("  $ hdc list targets -v") && err.contains("profinfer-agent --version'"), "{err}");
    let next: Vec<&str> = out.split_whitespace().skip(1).collect();
    let captured = place.analyze(&next).output().unwrap();
    assert!(captured.status.success(), "{}", texts(&captured).1);
    one_round(&place.dir.path().join("profile/summary.json"));
    // Again: nothing is copied or forwarded twice.
    let (_, err) = place.pushed(&[], &words(&run));
    assert!(err.contains("the board has this file already"), "{err}");
    assert!(err.contains(&format!("port {} is forwarded already", place.port)), "{err}");
    // N7: each agent has its log.
    assert_eq!(place.left().iter().filter(|n| n.ends_with(".log")).count(), 2, "{:?}", place.left());
    let quoted = [
        "sh",
        "-c",
        &format!("printf %s 'two  \"words\"' >{}/quoted; exec {}", place.board().display(), run.join(" ")),
    ];
    let (out, err) = place.pushed(&["--file"], &quoted);
    assert_eq!(out, "analyze recording.pfi\n", "{err}");
    assert_eq!(fs::read_to_string(place.board().join("quoted")).unwrap(), "two  \"words\"");
    let read = place.analyze(&["recording.pfi", "--out", "fetched"]).output().unwrap();
    assert!(read.status.success(), "{}", texts(&read).1);
    one_round(&place.dir.path().join("fetched/summary.json"));
    assert_eq!(place.rules(), [place.port]);
    // N6: the port of the push needs no repetition.
    place.pushed(&["--stop"], &[]);
    assert_eq!((place.rules(), place.left()), (vec![], vec![]));
    // Where nothing is left, nothing happens.
    place.pushed(&["--stop"], &[]);
    assert_eq!(fs::read_dir(place.dir.path().join("state/profinfer/push")).unwrap().count(), 0);
}

/// N1, N2: another board's forwarding stays, whether hdc names the boards of its rules or not.
#[test]
fn stop_touches_one_board_only() {
    let Some(parts) = parts() else { return };
    for sdk in ["4.0", "5.0"] {
        let place = Place::new(&parts, "B1 Connected\nB2 Connected\n");
        place.set("sdk", sdk);
        let (port, other) = (place.port.to_string(), free_port().to_string());
        let second = place.dir.path().join("board2").display().to_string();
        place.pushed(&["B1"], &[]);
        let again = place.pushed(&["B1"], &[]).1;
        assert!(again.contains("is forwarded already"), "{sdk}: {again}");
        let b2 = ["B2", "--dir", &second];
        place
            .refused(&[&b2[..], &["--port", &port]].concat(), &["port", "hdc forwards it", "B1", "--port N"]);
        let board_port = free_port().to_string();
        place.pushed(&[&b2[..], &["--port", &other, "--board-port", &board_port]].concat(), &[]);
        let mut both = vec![place.port, other.parse().unwrap()];
        both.sort_unstable();
        assert_eq!(place.rules(), both);
        place.refused(&["--stop"], &["B1, B2", "name one"]);
        place.refused(&["B3", "--stop"], &["connect key `B3`"]);
        assert_eq!(place.rules(), both, "{sdk}");
        place.pushed(&["B1", "--stop"], &[]);
        assert_eq!(place.rules(), [other.parse::<u16>().unwrap()], "{sdk}");
        assert!(Path::new(&second).join("profinfer-agent.pid").exists());
        // The only board with a push needs no name, although two are connected.
        place.pushed(&["--stop", "--dir", &second], &[]);
        assert_eq!(place.rules(), [0u16; 0], "{sdk}");
    }
}

/// An agent that another computer pushed is neither ended nor removed, unless that is asked for.
#[test]
fn stop_leaves_what_another_computer_pushed() {
    let Some(parts) = parts() else { return };
    let place = Place::new(&parts, &format!("{KEY} Connected\n"));
    place.pushed(&[], &[]);
    let (agent, there) = (place.agent_pid().unwrap(), place.left());
    let elsewhere = |arguments: &[&str]| {
        let mut command = place.command(arguments, &[]);
        command.env("XDG_STATE_HOME", place.dir.path().join("elsewhere")).output().unwrap()
    };
    let refused = elsewhere(&["--stop"]);
    let (_, err) = texts(&refused);
    assert!(!refused.status.success() && err.contains("no push of this user and computer"), "{err}");
    assert!(err.contains("--stop --replace"), "{err}");
    assert!(is_alive(agent));
    assert_eq!(place.left(), there);
    let asked = elsewhere(&["--stop", "--replace"]);
    assert!(asked.status.success(), "{}", texts(&asked).1);
    assert!(!is_alive(agent));
    assert_eq!(place.left(), [""; 0]);
}

/// N3: hdc waits as long as the engine has its pipe.
#[test]
fn ctrl_c_ends_the_engine_and_fetches_the_recording() {
    let Some(parts) = parts() else { return };
    let Some(run) = nodes(&parts, "smollm2", ENDLESS) else { return };
    let place = Place::new(&parts, &format!("{KEY} Connected\n"));
    let mut push = place.command(&["--file"], &words(&run)).stderr(Stdio::piped()).spawn().unwrap();
    let recording = place.board().join("profinfer-agent.pfi");
    wait_until("nothing is recorded", || fs::metadata(&recording).is_ok_and(|m| m.len() > 200_000));
    let agent = place.agent_pid().unwrap();
    let engine = Started::by(agent);
    assert!(is_alive(engine.0));
    let begun = Instant::now();
    assert!(Command::new("kill").args(["-INT", &push.id().to_string()]).status().unwrap().success());
    let status = ended(&mut push, 60);
    assert!(status.success(), "{status}");
    assert!(!is_alive(engine.0) && !is_alive(agent), "after {:?}", begun.elapsed());
    let read = place.analyze(&["recording.pfi"]).output().unwrap();
    assert!(read.status.success(), "{}", texts(&read).1);
    place.pushed(&["--stop"], &[]);
    assert_eq!(place.left(), [""; 0]);
}

fn ended(child: &mut Child, seconds: u64) -> std::process::ExitStatus {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begun.elapsed() > Duration::from_secs(seconds) {
            child.kill().unwrap();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// N4: a board that is gone without a word stays Connected in hdc's list, and no call ends.
#[test]
fn a_board_that_is_gone_is_waited_for_with_a_limit() {
    let Some(parts) = parts() else { return };
    let place = Place::new(&parts, &format!("{KEY} Connected\n"));
    place.set("gone", KEY);
    let begun = Instant::now();
    let err = place.refused(&["--timeout", "5"], &["no answer within 5 s", "id -u", "--timeout"]);
    assert!(err.contains("waiting for hdc (3 s; at most 5 s)"), "{err}");
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// N5: a capture in progress is not ended unasked, and one whose connection broke goes on.
#[test]
fn a_capture_outlives_a_second_push_and_a_broken_connection() {
    let Some(parts) = parts() else { return };
    let Some(run) = nodes(&parts, "smollm2", ENDLESS) else { return };
    let key = "127.0.0.1:10178";
    let place = Place::new(&parts, "");
    place.set("reachable", key);
    // N8: hdc lists this name by its address.
    let out = place.pushed(&["localhost:10178"], &words(&run)).0;
    let next: Vec<&str> = out.split_whitespace().skip(1).collect();
    let mut capture =
        place.analyze(&[&next[..], &["--reconnect", "50", "--levels", "token", "--format", "json"]].concat());
    let printed = place.dir.path().join("printed.json");
    let mut capture =
        capture.stderr(Stdio::null()).stdout(fs::File::create(&printed).unwrap()).spawn().unwrap();
    let recording = place.dir.path().join("profile/recording.pfi");
    wait_until("nothing is captured", || fs::metadata(&recording).is_ok_and(|m| m.len() > 4_000));
    let engine = Started::by(place.agent_pid().unwrap());
    place.refused(&[key], &["a capture is in progress", "--resume", "--replace"]);
    assert!(is_alive(place.agent_pid().unwrap()) && is_alive(engine.0));
    // The network is gone: the forwarding ends, hdc's list does not change, calls hang.
    place.set("gone", key);
    let rule = fs::read_to_string(place.dir.path().join(format!("hdc/rule.{}", place.port))).unwrap();
    assert!(Command::new("kill").arg(rule.split_whitespace().last().unwrap()).status().unwrap().success());
    let (_, err) = place.pushed(&[key, "--resume"], &[]);
    assert!(err.contains("hdc tconn 127.0.0.1:10178"), "{err}");
    let bytes = fs::metadata(&recording).unwrap().len();
    wait_until("the capture does not go on", || fs::metadata(&recording).unwrap().len() > bytes + 4_000);
    assert!(Command::new("kill").args(["-INT", &capture.id().to_string()]).status().unwrap().success());
    let status = ended(&mut capture, 60);
    assert!(status.success(), "{status}");
    let printed: Value = serde_json::from_slice(&fs::read(&printed).unwrap()).unwrap();
    assert!(printed["link"]["reconnects"].as_u64().unwrap() >= 1, "{:#}", printed["link"]);
    let summary = place.dir.path().join("profile/summary.json");
    let summary: Value = serde_json::from_slice(&fs::read(summary).unwrap()).unwrap();
    assert_eq!(summary["health"]["perfect"], true, "{:#}", summary["health"]);
    drop(engine);
    place.pushed(&[key, "--stop"], &[]);
    assert_eq!((place.rules(), place.left()), (vec![], vec![]));
}

/// With --replace a capture is ended, and the engine that the agent started.
#[test]
fn a_capture_is_replaced_when_asked() {
    let Some(parts) = parts() else { return };
    let Some(run) = nodes(&parts, "smollm2", ENDLESS) else { return };
    let place = Place::new(&parts, &format!("{KEY} Connected\n"));
    let out = place.pushed(&[], &words(&run)).0;
    let next: Vec<&str> = out.split_whitespace().skip(1).collect();
    let mut capture = place.analyze(&[&next[..], &["--reconnect", "1", "--levels", "token"]].concat());
    let mut capture = capture.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let recording = place.dir.path().join("profile/recording.pfi");
    wait_until("nothing is captured", || fs::metadata(&recording).is_ok_and(|m| m.len() > 4_000));
    let first = place.agent_pid().unwrap();
    place.pushed(&["--replace"], &[]);
    assert!(!is_alive(first) && is_alive(place.agent_pid().unwrap()));
    ended(&mut capture, 60);
    let (_, err) = place.pushed(&["--stop"], &[]);
    assert!(err.contains("hdc fport rm"), "{err}");
}

/// N8: before anything runs.
#[test]
fn numbers_that_are_no_ports() {
    let Some(parts) = parts() else { return };
    let place = Place::new(&parts, &format!("{KEY} Connected\n"));
    for port in ["70000", "0", "-1", "x"] {
        for option in ["--port", "--board-port"] {
            let output = place.push(&[&format!("{option}={port}")], &[]);
            assert_eq!(output.status.code(), Some(2), "{}", texts(&output).1);
        }
    }
    for dir in ["tmp", "/tmp/a b", "/tmp/$x"] {
        assert_eq!(place.push(&["--dir", dir], &[]).status.code(), Some(2), "{dir}");
    }
    assert_eq!((place.rules(), place.left()), (vec![], vec![]));
}

#[test]
fn a_dry_run_runs_nothing() {
    let Some(parts) = parts() else { return };
    let place = Place::new(&parts, "");
    for way in [&["ssh", "pi@board"][..], &["adb"], &["hdc"]] {
        let output = place
            .analyze(&[&["push"], way, &["--dry-run"]].concat())
            .env("PATH", "/nowhere")
            .output()
            .unwrap();
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{err}");
        assert!(out.starts_with("analyze --board "), "{out}");
        for part in ["./profinfer-agent serve --listen tcp:127.0.0.1:7817", way[0]] {
            assert!(err.contains(part), "`{part}` in: {err}");
        }
    }
}
