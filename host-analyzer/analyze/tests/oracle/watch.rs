//! `analyze watch` on a terminal of 80 columns and 24 lines in tmux: the test presses keys, and
//! reads the screen.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use profinfer_skip::skip;
use profinfer_trace::model::Model;

use crate::engine_list::parse;
use crate::links::{Line, Served};
use crate::nodes::check_trace;
use crate::support::{parts, read, whole};

/// A terminal that runs `analyze watch`, then prints a word when it has ended.
struct Terminal {
    socket: PathBuf,
    dir: PathBuf,
}

impl Terminal {
    /// `None` without tmux: the test is skipped.
    fn start(dir: &Path, source: &str, options: &str) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            skip("there is no tmux");
            return None;
        }
        let terminal = Self { socket: dir.join("tmux"), dir: dir.to_owned() };
        let analyze = env!("CARGO_BIN_EXE_analyze");
        let out = dir.join("profile");
        let watch = format!("{analyze} watch {source} --full --out {} {options}", out.display());
        let command =
            format!("{watch}; echo \"status $?\" $(stty -a | grep -ow -e '-*icanon' -e '-*echo'); cat");
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", &command]);
        Some(terminal)
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let output = Command::new("tmux").arg("-S").arg(&self.socket).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// The screen, when it shows the text.
    fn until(&self, wanted: &str) -> String {
        self.until_one_of(&[wanted])
    }

    fn until_one_of(&self, wanted: &[&str]) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            if wanted.iter().any(|w| screen.contains(w)) {
                return screen;
            }
            assert!(begun.elapsed() < Duration::from_secs(180), "{wanted:?} does not come: {screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// The program has ended, and the terminal is restored.
    fn ended(&self, status: u8) -> String {
        let screen = self.until(&format!("status {status} icanon echo"));
        assert_eq!(self.tmux(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]), "0 1\n");
        screen
    }

    fn recording(&self) -> Model {
        read(&self.dir.join("profile/recording-0001.pfi"))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

/// An engine that decodes for longer than a test takes.
const LONG: [&str; 6] = ["-n", "30000", "-c", "32768", "-t", "2"];

/// Thread IDs in the rows of the thread pane.
fn tids(screen: &str) -> Vec<u32> {
    let rows = screen.lines().skip_while(|l| !l.starts_with("thread ")).skip(1);
    rows.map_while(|l| l.split(' ').next()?.parse().ok()).collect()
}

/// Every pane by its key, the sizes of the terminal, and quitting by a key.
#[test]
fn over_tcp_with_keys() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let Some(served) = Served::start(&parts, dir.path(), "tcp:127.0.0.1:0", &LONG) else { return };
    let source = format!("tcp:127.0.0.1:{}", served.port());
    let Some(terminal) = Terminal::start(dir.path(), &source, "--window 2") else { return };
    let first = terminal.until("t/s on 2 threads");
    assert!(first.lines().next().unwrap().contains(&source), "{first}");
    assert!(first.contains("1 ladder") && first.contains("q stop and write the report"), "{first}");
    let ladder = terminal.until("decode: ");
    assert!(ladder.contains(" ms per token ("), "{ladder}");
    terminal.press("PageDown");
    terminal.until("tokens seen since the session began");
    terminal.press("2");
    let shown = tids(&terminal.until("thread "));
    terminal.press("3");
    let operators = terminal.until("MUL_MAT");
    assert!(operators.contains("share") && operators.contains("GB/s"), "{operators}");
    terminal.press("4");
    terminal.until("No router selected experts");
    terminal.press("5");
    // A virtual machine has no sensors.
    terminal.until_one_of(&["in decode", "No sensor was read"]);
    terminal.press("6");
    terminal.until("nothing lost so far");
    terminal.press("?");
    terminal.until("any key closes this");
    terminal.press("Escape");
    terminal.press("Tab");
    terminal.until("ms per token (");
    terminal.press("p");
    terminal.until("paused");
    terminal.press("p");
    terminal.tmux(&["resize-window", "-x", "60", "-y", "20"]);
    terminal.until("needs 80 columns");
    terminal.tmux(&["resize-window", "-x", "120", "-y", "40"]);
    let wide = terminal.until("t/s on 2 threads");
    assert_eq!(wide.lines().filter(|l| l.contains("q stop and write")).count(), 1, "{wide}");
    terminal.press("q");
    let ended = terminal.ended(0);
    assert!(ended.contains("the recording is in"), "{ended}");

    let trace = terminal.recording();
    whole(&trace);
    assert!(trace.llama_calls.len() > 2 && trace.spans.len() > 100);
    let mut known: Vec<u32> = trace.threads.iter().map(|(_, t)| t.tid).collect();
    known.retain(|tid| shown.contains(tid));
    assert_eq!((shown.len(), known.len()), (2, 2), "{shown:?}");
    let summary = std::fs::read(dir.path().join("profile/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!(summary["tokens"]["calls"].as_array().unwrap().len(), trace.llama_calls.len());
}

/// The engine ends by itself, and so does the display. The recording is complete, node by node.
#[test]
fn until_the_engine_ends() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let run = ["-n", "60", "--list", "-t", "2"];
    let Some(served) = Served::start(&parts, dir.path(), "tcp:127.0.0.1:0", &run) else { return };
    let source = format!("tcp:127.0.0.1:{}", served.port());
    let Some(terminal) = Terminal::start(dir.path(), &source, "") else { return };
    terminal.ended(0);
    check_trace(&terminal.recording(), &parse(&served.list()), "while it was watched");
}

#[test]
fn over_a_serial_line() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let line = Line::new(|bytes, host_port| std::io::Write::write_all(host_port, bytes).unwrap());
    let listen = format!("serial:{}@1500000", line.agent);
    let Some(served) = Served::start(&parts, dir.path(), &listen, &LONG) else { return };
    let source = format!("serial:{}@1500000", line.host);
    let Some(terminal) = Terminal::start(dir.path(), &source, "--window 2 --wait 30") else { return };
    terminal.until("t/s on 2 threads");
    terminal.press("2");
    assert_eq!(tids(&terminal.until("thread ")).len(), 2);
    terminal.press("q");
    terminal.ended(0);
    let trace = terminal.recording();
    assert!(!trace.health.cut_short() && trace.spans.len() > 100, "{:#?}", trace.health);
    drop(served);
}

/// A signal from outside ends it as a key does.
#[test]
fn a_signal_gives_the_terminal_back() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let Some(served) = Served::start(&parts, dir.path(), "tcp:127.0.0.1:0", &LONG) else { return };
    let source = format!("tcp:127.0.0.1:{}", served.port());
    let Some(terminal) = Terminal::start(dir.path(), &source, "--window 2") else { return };
    terminal.until("t/s on 2 threads");
    let shell = terminal.tmux(&["display-message", "-p", "#{pane_pid}"]);
    let killed = Command::new("pkill").args(["-TERM", "-P", shell.trim(), "analyze"]).status().unwrap();
    assert!(killed.success());
    terminal.ended(0);
    whole(&terminal.recording());
}

/// The terminal is closed during the capture: the capture ends, and the report is written.
#[test]
fn a_terminal_that_is_gone() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let Some(served) = Served::start(&parts, dir.path(), "tcp:127.0.0.1:0", &LONG) else { return };
    let source = format!("tcp:127.0.0.1:{}", served.port());
    let Some(terminal) = Terminal::start(dir.path(), &source, "--window 2") else { return };
    terminal.until("t/s on 2 threads");
    let shell = terminal.tmux(&["display-message", "-p", "#{pane_pid}"]);
    let found = Command::new("pgrep").args(["-P", shell.trim(), "analyze"]).output().unwrap().stdout;
    let process = PathBuf::from(format!("/proc/{}/stat", String::from_utf8(found).unwrap().trim()));
    terminal.tmux(&["kill-server"]);
    let begun = Instant::now();
    // A zombie that nobody asks for has ended too.
    while std::fs::read_to_string(&process).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(begun.elapsed() < Duration::from_secs(60), "it goes on without a terminal");
        std::thread::sleep(Duration::from_millis(50));
    }
    whole(&terminal.recording());
    assert!(dir.path().join("profile/summary.json").exists());
}

/// Nobody answers: the attempt is shown while it lasts and afterwards, on a restored terminal.
#[test]
fn an_error_gives_the_terminal_back() {
    let dir = tempfile::tempdir().unwrap();
    let Some(terminal) = Terminal::start(dir.path(), "tcp:127.0.0.1:1", "--wait 2") else { return };
    terminal.until("connecting: tcp:127.0.0.1:1: Connection refused");
    let screen = terminal.ended(1);
    assert!(screen.contains("error: connecting to the agent") && screen.contains("help:"), "{screen}");
    assert!(!dir.path().join("profile/recording-0001.pfi").exists());
}
