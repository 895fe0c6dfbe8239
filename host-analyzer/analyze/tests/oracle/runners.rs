//! A program without an engine that starts one for each model, ends it and starts the next, as Ollama
//! does. The oracle is the log of each of these processes.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use profinfer_analysis::Analysis;
use serde_json::json;

use crate::support::{model, parts, read, tool, whole};

/// Reads a model, a number of tokens and a file for the log; prints the number and the exit status of that model's
/// engine. `llama-simple` writes its log itself; `llama-completion` leaves that to a thread and, while other programs
/// use the CPUs, ends before the last lines are written.
const OWNER: &str = r#"while read -r model n log; do "$0" -m "$model" -n "$n" "Once upon a time" >/dev/null 2>"$log"; echo "$n $?"; done"#;

/// The agent records this fact when it waits for an engine.
const WAITS: &[u8] = b"agent.no_new_privileges";

/// Number of tokens or runs of a line of the engine's timings.
fn counted(log: &str, line: impl Fn(&str) -> bool) -> u64 {
    let line = log.lines().find(|l| line(l)).unwrap_or_else(|| panic!("{log}"));
    let count = line.split_once('/').unwrap().1.split_whitespace().next().unwrap();
    count.parse().unwrap()
}

#[test]
fn each_engine_of_a_program_without_one_is_traced() {
    const MODELS: [(&str, u32); 3] = [("smollm2", 9), ("qwen2-q8", 7), ("smollm2", 5)];
    let Some(parts) = parts() else { return };
    let Some(engine) = tool("llama-simple") else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut owner = Command::new("bash")
        .args(["-c", OWNER, engine.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let out = dir.path().join("trace.pfi");
    let agent = Command::new(&parts.agent)
        .args(["record", "--full", "--format", "json", "--out", out.to_str().unwrap()])
        .args(["--follow", "--pid", &owner.id().to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let waits = || fs::read(&out).is_ok_and(|bytes| bytes.windows(WAITS.len()).any(|w| w == WAITS));
    while !waits() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let (mut orders, mut ended) = (owner.stdin.take().unwrap(), BufReader::new(owner.stdout.take().unwrap()));
    let logs: Vec<_> = (0..MODELS.len()).map(|i| dir.path().join(format!("{i}.log"))).collect();
    for ((name, n), log) in MODELS.iter().zip(&logs) {
        writeln!(orders, "{} {n} {}", model(&parts, name), log.display()).unwrap();
        let mut line = String::new();
        ended.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), format!("{n} 0"), "{}", fs::read_to_string(log).unwrap());
    }
    drop(orders);
    owner.wait().unwrap();
    let output = agent.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["reason"], output.status.code()), (&json!("engine_ended"), Some(0)), "{said}");
    let trace = read(&out);
    whole(&trace);
    // In the order of their starts.
    let engines: Vec<_> =
        trace.session.processes.iter().filter(|p| trace.engines().contains(&p.pid)).collect();
    assert_eq!(engines.len(), MODELS.len(), "{said}");
    for ((process, (name, n)), log) in engines.into_iter().zip(MODELS).zip(logs) {
        let log = fs::read_to_string(log).unwrap();
        assert!(process.command.contains(&format!("{name}.gguf")), "{process:?}");
        let requests = Analysis::compute(&trace.only(process.pid)).token.requests;
        let ours: Vec<_> = requests.iter().map(|r| (r.prompt_tokens, r.generated)).collect();
        let prompt = counted(&log, |l| l.contains("prompt eval time"));
        let runs = counted(&log, |l| l.contains(" eval time") && !l.contains("prompt"));
        assert_eq!((ours, runs), (vec![(prompt, runs)], u64::from(n) - 1), "{name}");
    }
}
